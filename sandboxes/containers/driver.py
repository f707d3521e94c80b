"""The driver that isolates with a Docker engine: one container for each open sandbox, one supervisor for each command.

The container has no network, no capability, no way to new privileges, a read-only root, and a /tmp of its own in
memory. Its first process (`_supervisor/init.py`) is connected to the harness, and the container ends with that
connection. Limits are kept for each command by its supervisor; the container as a whole has kernel limits above them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import _supervisor, checks, gpus, kernel_files
from ..base import MEBIBYTE, SandboxSpec
from ..errors import SandboxUnavailable, SpecRefused
from ..local import PATH, TEMPORARY, LocalSandbox, Shown, State, Wrapped, check_workdir, shown
from ..seccomp import program
from . import access
from .engine import Engine, Image, owner_labels
from .link import Door, Link

IMAGE = "lockstep-sandbox:cpu"
IMAGE_CUDA = "lockstep-sandbox:cuda"
IMAGE_VARIABLE = "LOCKSTEP_DOCKER_IMAGE"
"""Names another image, which must have the layout of ours (docs/sandboxes.md)."""

PACKAGES_LABEL = "lockstep.packages"
"""The image's Python distributions, as `name==version` with spaces between."""

_RUN = "/run/lockstep"
_TOOLS = "/opt/lockstep/bin"
_BOOT = f"import sys; sys.path.append({_RUN!r}); from _supervisor.init import main; main()"
_FIRST_PROCESS = ["python3", "-I", "-S", "-B", "-c", _BOOT]
_ANSWER_SECONDS = 60.0
_TASKS_PER_PROCESS = 16
_TASKS_BESIDE = 1024
_NICE = 19
"""Supervisors share the container's processor time with the commands that they are to end: a fork bomb must not starve
them. Between containers, and against the rest of the machine, it makes no difference: that is up to control groups."""
_SPARE_BYTES = 256 * MEBIBYTE
_MORE_BYTES, _MORE_FILES = MEBIBYTE, 1000
_MADE_UP = {
    "group": "sandbox:x:{gid}:\nnogroup:x:65534:\n",
    "hostname": "sandbox\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "passwd": "sandbox:x:{uid}:{gid}::/tmp:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n",
    # The engine would copy the host's, which tells its network.
    "resolv.conf": "",
}


class DockerDriver:
    """No network, a read-only system that is the image's, nothing of the host but the mounts."""

    name = "docker"
    isolated = True
    warning: str | None = None
    python: str | None = f"{_TOOLS}/python"

    def __init__(self, *, image: str | None = None, url: str | None = None) -> None:
        """Use `image` (default: LOCKSTEP_DOCKER_IMAGE, else the one that `lockstep images build` makes) of the engine
        at `url` (default: DOCKER_HOST, else this machine's)."""
        self._image = image
        self.engine = Engine(url)

    def unavailable(self) -> str | None:
        """See `Driver.unavailable`."""
        reason = self.engine.unavailable() or program.unavailable()
        if reason is not None:
            return reason
        try:
            self._found()
        except SandboxUnavailable as error:
            return str(error)
        return None

    def image_name(self, gpus: int = 0) -> str:
        """The image of sandboxes with so many GPUs."""
        return self._image or os.environ.get(IMAGE_VARIABLE) or (IMAGE_CUDA if gpus else IMAGE)

    def exposes(self) -> str | None:
        """See `Driver.exposes`."""
        return None

    def describe(self) -> Mapping[str, str]:
        """See `Driver.describe`."""
        image = self._found()
        packages = image.labels.get(PACKAGES_LABEL, "")
        return {"image": image.name, "digest": image.digest, "engine": self.engine.version(), "packages": packages}

    def open(self, spec: SandboxSpec) -> DockerSandbox:
        """See `Driver.open`. Raises SandboxFailed too, when the engine fails at it."""
        checks.spec(spec)
        checks.without_network(spec, self.name)
        image = self._found(spec.gpus).digest
        # /tmp is memory, in which the whole container has a share.
        held = min(spec.limits.tmp_bytes, spec.limits.memory_bytes)
        # A container's GPUs count from 0, so the choice among the machine's is made here.
        left = {name: value for name, value in spec.environment.items() if name != gpus.CHOICE}
        wanted = gpu_request(spec)
        spec = replace(spec, environment=left, limits=replace(spec.limits, tmp_bytes=held))
        state = State()
        # The first row is /tmp, which is not a directory of the host.
        temporary, *mounted = shown(spec, state, at_source=False)
        check_workdir(spec, mounted)
        user = access.user_for(mounted)
        for row in mounted:
            if not row.writable and not access.readable(row.source, user):
                raise SpecRefused(
                    f"mounts: {row.source} cannot be read by user {user.uid}, as whom commands run; change its mode"
                )
        access.grant(mounted, user)
        kernel = kernel_files.made_up(spec.limits.memory_bytes)
        door = _prepare(state, user, kernel)
        with contextlib.ExitStack() as undo:
            undo.callback(state.remove)
            undo.callback(door.close)
            container = self.engine.start(
                {
                    "image": image,
                    "name": f"lockstep-{secrets.token_hex(8)}",
                    "command": _FIRST_PROCESS,
                    "entrypoint": [],
                    "working_dir": "/",
                    "hostname": "sandbox",
                    "user": f"{user.uid}:{user.gid}",
                    "stop_signal": "SIGKILL",
                    "labels": owner_labels(spec.purpose),
                },
                _host(spec, mounted, state, user, kernel) | wanted,
                [f"/proc/{name}" for name, _ in kernel_files.hidden(gpus=spec.gpus)],
            )
            undo.callback(self.engine.remove, container)
            link = door.answer(_ANSWER_SECONDS, lambda: self._gone(container))
            undo.callback(link.close)
            if link.pid == 0:
                raise SandboxUnavailable(
                    f"docker: the processes of the engine at {self.engine.where} cannot be seen from here; run"
                    " Lockstep in the engine's own namespace of processes"
                )
            undo.pop_all()
        owner = (user.uid, user.gid) if os.getuid() == 0 else None
        temporary = replace(temporary, source=Path(f"/proc/self/fd/{link.top}{TEMPORARY}"), owner=owner)
        return DockerSandbox(self.engine, container, link, spec, (temporary, *_owned(mounted)), state, user)

    def _found(self, gpus: int = 0) -> Image:
        name = self.image_name(gpus)
        image = self.engine.image(name)
        if image is None:
            step = "`lockstep images build --cuda`" if gpus else "`lockstep images build`"
            raise SandboxUnavailable(f"the engine at {self.engine.where} has no image {name}; build it with {step}")
        return image

    def _gone(self, container: str) -> str | None:
        if self.engine.running(container):
            return None
        return (
            f"it ended before it answered: the engine at {self.engine.where} may run on another machine, or its image"
            " lack python3"
        )


class DockerSandbox(LocalSandbox):
    """An open sandbox; see `Sandbox`."""

    def __init__(
        self,
        engine: Engine,
        container: str,
        link: Link,
        spec: SandboxSpec,
        table: Sequence[Shown],
        state: State,
        user: access.User,
    ) -> None:
        self.container = container
        """The engine's id of the container, for a person who wants to look at it."""
        self._engine = engine
        self._link = link
        self._shown = table
        self._user = user
        standard = {"PATH": f"{_TOOLS}:{PATH}", "HOME": TEMPORARY, "LANG": "C.UTF-8", "PWD": spec.workdir}
        # /tmp is bounded by its size, so it needs no floor of free space.
        watched = [row.seen for row in table[1:] if row.writable]

        def wrap(command: list[str], variables: Mapping[str, str]) -> Wrapped:
            return Wrapped(command, {**standard, **variables}, spec.workdir, nice=_NICE, writable=watched)

        super().__init__(spec, table, state, wrap, cgroups=False, launch=link.launch)

    def close(self) -> None:
        """See `Sandbox.close`. Works without the engine too, which then removes the ended container when it is
        back."""
        super().close()
        self._link.close()
        self._engine.remove(self.container)
        access.give_back(self._shown[1:], self._user)


def _prepare(state: State, user: access.User, kernel: Mapping[str, str]) -> Door:
    """What the container's first process needs, in the sandbox's own directory; and the door that it knocks at."""
    here = state.directory
    # A copy, which the container's user can read however the harness was installed.
    code = here / "_supervisor"
    code.mkdir()
    for file in Path(_supervisor.__path__[0]).glob("*.py"):
        shutil.copyfile(file, code / file.name)
    made_up = here / "etc"
    made_up.mkdir()
    for name, text in _MADE_UP.items():
        (made_up / name).write_text(text.format(uid=user.uid, gid=user.gid))
    proc = here / "proc"
    proc.mkdir()
    for name, text in kernel.items():
        (proc / name).write_text(text)
    (here / "door").mkdir()
    for path in (code, made_up, proc, here / "door"):
        path.chmod(0o755)
        for file in path.iterdir():
            file.chmod(0o644)
    return Door(here / "door")


def _host(
    spec: SandboxSpec, mounted: Sequence[Shown], state: State, user: access.User, kernel: Iterable[str]
) -> dict[str, Any]:
    """What the container gets of the machine, as the SDK wants it described."""
    from docker import types

    def bind(source: Path, target: str, writable: bool = False) -> Any:
        return types.Mount(target, str(source), type="bind", read_only=not writable)

    memory = spec.limits.memory_bytes
    # The supervisor keeps each command to `memory_bytes` and names the limit. The kernel's own limit is for all that
    # the sandbox holds together, /tmp and /dev/shm included, and for bursts too quick for a supervisor.
    total = min(2 * memory + _SPARE_BYTES, sys.maxsize // 2)
    # A little more than a command may have, so that its supervisor sees that it has more.
    temporary = spec.limits.tmp_bytes + _MORE_BYTES
    most_files = spec.limits.disk_files + _MORE_FILES
    host: dict[str, Any] = {
        "auto_remove": True,
        "init": False,
        "network_mode": "none",
        "ipc_mode": "private",
        # Without one of its own, /proc/self/cgroup tells the container's number on the engine.
        "cgroupns": "private",
        "read_only": True,
        "cap_drop": ["ALL"],
        # Labels of SELinux would keep the container from its own mounts; capabilities and seccomp still hold.
        "security_opt": ["no-new-privileges", "label=disable"],
        "mem_limit": total,
        "memswap_limit": total,
        "shm_size": memory,
        "nano_cpus": len(os.sched_getaffinity(0)) * 10**9,
        "pids_limit": _TASKS_BESIDE + _TASKS_PER_PROCESS * spec.limits.processes,
        # Lowered only: an engine may not be allowed to raise any. Each command's supervisor sets the others.
        "ulimits": [types.Ulimit(name="core", soft=0, hard=0)],
        "mounts": [
            bind(state.directory / "door", f"{_RUN}/door"),
            bind(state.directory / "_supervisor", f"{_RUN}/_supervisor"),
            *(bind(state.directory / "etc" / name, f"/etc/{name}") for name in _MADE_UP),
            *(bind(state.directory / "proc" / name, f"/proc/{name}") for name in kernel),
            *(bind(row.source, row.seen, row.writable) for row in mounted),
        ],
        "tmpfs": {
            TEMPORARY: f"exec,nosuid,nodev,mode=0700,uid={user.uid},gid={user.gid},size={temporary},nr_inodes={most_files}",
            # Over the engine's own, which tells much of the machine.
            "/sys": _EMPTY,
            **dict.fromkeys(_masks(spec.masked, mounted), _EMPTY),
        },
    }
    return host


def gpu_request(spec: SandboxSpec) -> dict[str, Any]:
    """The request for GPUs: those that the command's environment names, else as many as are asked for."""
    from docker import types

    if not spec.gpus:
        return {}
    named = [name.strip() for name in spec.environment.get(gpus.CHOICE, "").split(",") if name.strip()]
    which: dict[str, Any] = {"device_ids": named} if named else {"count": spec.gpus}
    return {"device_requests": [types.DeviceRequest(**which, capabilities=[["gpu"]])]}


_EMPTY = "ro,nosuid,nodev,noexec,mode=0555,size=4k"


def _masks(masked: Iterable[Path], mounted: Sequence[Shown]) -> list[str]:
    """Where masked directories would be seen: in the mounts, and in /usr, where the image has a like of them."""
    system = Shown("/usr", Path("/usr"), False, "/usr")
    return [
        "/".join([row.seen, *path.relative_to(row.source).parts])
        for path in (path.resolve() for path in masked)
        for row in (system, *mounted)
        if path.is_relative_to(row.source)
    ]


def _owned(mounted: Sequence[Shown]) -> list[Shown]:
    """Where the harness is root, what it creates in a mount belongs to the mount's owner, as the rest of it does."""
    if os.getuid() != 0:
        return list(mounted)
    return [replace(row, owner=((about := row.source.stat()).st_uid, about.st_gid)) for row in mounted]
