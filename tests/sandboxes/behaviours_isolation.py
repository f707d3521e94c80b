"""What only an isolated driver gives, and what every driver keeps from commands where the machine has what it takes. Every
attempt is harmless where it succeeds: a leaky driver is tested too."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import PYTHON_MOUNTS, Bench, guarding, isolating, python, said

CONNECT = """
import _socket, sys
family, address = {
    "4": (_socket.AF_INET, lambda: (sys.argv[2], int(sys.argv[3]))),
    "6": (_socket.AF_INET6, lambda: (sys.argv[2], int(sys.argv[3]))),
    "abstract": (_socket.AF_UNIX, lambda: "\\0" + sys.argv[2]),
}[sys.argv[1]]
connection = _socket.socket(family, _socket.SOCK_STREAM)
connection.settimeout(5)
try:
    connection.connect(address())
    print("connected")
except OSError:
    print("refused")
"""
OPEN = """
import sys
for path in sys.argv[1:]:
    try:
        open(path, "r+b").close()
        print(path)
    except OSError:
        pass
"""
# An empty file or directory in the place tells nothing: an engine needs some to mount over the host's.
EXISTS = """
import os, sys
def empty(path):
    return not os.path.islink(path) and not (os.listdir(path) if os.path.isdir(path) else os.path.getsize(path))
print([path for path in sys.argv[1:] if os.path.lexists(path) and not empty(path)])
"""
ATTACH = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
SEIZE = 0x4206
print("attached" if libc.ptrace(SEIZE, pid, None, None) == 0 else "refused")
try:
    os.kill(pid, 0)
    print("signalled")
except OSError:
    print("refused")
"""
MOUNT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
BIND, NEW_USER, NEW_NS = 4096, 0x10000000, 0x20000
os.mkdir("over")
print(libc.mount(b"/usr", b"over", None, BIND, None), libc.unshare(NEW_NS), libc.unshare(NEW_USER))
"""
MAKE_DEVICE = """
import os, stat
for kind, number in ((stat.S_IFBLK, os.makedev(7, 0)), (stat.S_IFCHR, os.makedev(1, 1))):
    try:
        os.mknod("device", kind | 0o666, number)
        print("made")
    except OSError:
        print("refused")
"""
WRITABLE_KERNEL = """
import os, stat
found = []
for top, directories, names in os.walk("/proc"):
    if top == "/proc":
        directories[:] = [name for name in directories if not name.isdecimal() and name != "self"]
    paths = (os.path.join(top, name) for name in names)
    files = (path for path in paths if stat.S_ISREG(os.lstat(path).st_mode))
    found += [path for path in files if os.access(path, os.W_OK)]
print(found[:5])
"""
STATUS = """
wanted = ("NoNewPrivs", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
fields = dict(line.rstrip().partition(":")[::2] for line in open("/proc/self/status"))
print([int(fields[name], 16) for name in wanted])
"""
SEEN = """
import os, sys
wanted = (sys.argv[1] + sys.argv[2]).encode()
found = []
for pid in os.listdir("/proc"):
    for name in ("cmdline", "environ"):
        try:
            if wanted in open(f"/proc/{pid}/{name}", "rb").read():
                found.append(name)
        except OSError:
            pass
print(found)
"""
DEVICES = """
import os, stat
for top, _, names in os.walk("/dev"):
    for name in names:
        path = os.path.join(top, name)
        if stat.S_ISBLK(os.lstat(path).st_mode):
            print(path)
for name in ("mem", "kmem", "port", "kmsg", "kvm", "fuse", "loop-control", "mapper"):
    if os.path.exists("/dev/" + name):
        print(name)
"""


@contextlib.contextmanager
def _neighbour(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the host beside the sandbox; it ends when its input does."""
    code = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.communicate()


def _reaches(bench: Bench, listener: socket.socket, *address: str) -> str:
    listener.listen()
    with bench.open() as sandbox:
        return said(python(sandbox, CONNECT, *address))


@isolating
def the_host_is_not_reached_over_ipv4(bench: Bench) -> None:
    with socket.socket(socket.AF_INET) as listener:
        listener.bind(("127.0.0.1", 0))
        assert _reaches(bench, listener, "4", "127.0.0.1", str(listener.getsockname()[1])) == "refused"


@isolating
def the_host_is_not_reached_over_ipv6(bench: Bench) -> None:
    with socket.socket(socket.AF_INET6) as listener:
        try:
            listener.bind(("::1", 0))
            port = listener.getsockname()[1]
        except OSError:
            port = 9  # A host without IPv6: there is nothing to reach, and it must still be refused.
        assert _reaches(bench, listener, "6", "::1", str(port)) == "refused"


@isolating
def there_is_no_network_interface_but_the_loopback(bench: Bench) -> None:
    with bench.open() as sandbox:
        lines = said(sandbox.run(["cat", "/proc/net/dev"])).splitlines()[2:]
        routes = said(sandbox.run(["cat", "/proc/net/route"])).splitlines()[1:]
    assert [line.split(":")[0].strip() for line in lines] == ["lo"]
    assert routes == []


@isolating
def an_abstract_socket_of_the_host_is_not_reached(bench: Bench) -> None:
    name = f"lockstep-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        assert _reaches(bench, listener, "abstract", name) == "refused"


@guarding
def files_of_the_host_that_are_not_mounted_are_not_read(bench: Bench) -> None:
    secret = bench.directory / "outside" / "secret"
    secret.parent.mkdir()
    secret.write_text("it is out")
    with _neighbour() as process, bench.open() as sandbox:
        said(sandbox.run(["ln", "-s", str(secret), "link"]))
        script = 'ln "$1" hard; cat "$1" link hard "/proc/$2/root$1" "/proc/$2/cwd$1"; ls "${1%/*}"; true'
        finished = sandbox.run(["sh", "-c", script, "sh", str(secret), str(process.pid)])
    assert finished.stdout == b""


@guarding
def the_memory_of_a_process_of_the_host_is_not_read(bench: Bench) -> None:
    with _neighbour(environment={"SECRET": "hunter2"}) as process, bench.open() as sandbox:
        script = (
            'exec 2>/dev/null; for name in mem environ maps exe; do head -c 1 "/proc/$1/$name" && echo "$name"; done; '
        )
        script += 'readlink "/proc/$1/fd/0"; true'  # it is a pipe: no end, if read
        assert said(sandbox.run(["sh", "-c", script, "sh", str(process.pid)])) == ""


@guarding
def a_server_of_the_host_is_not_reached(bench: Bench) -> None:
    path = bench.work / "server"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        with bench.open() as sandbox:
            code = CONNECT.replace("{", '{"path": (_socket.AF_UNIX, lambda: sys.argv[2]),', 1)
            place = str(path) if sandbox.inside("/workspace") == str(bench.work) else "/run/docker.sock"
            assert said(python(sandbox, code, "path", place)) == "refused"


@guarding
def nothing_is_written_outside_the_mounts(bench: Bench) -> None:
    outside = bench.directory / "outside"
    outside.mkdir()
    victim = outside / "victim"
    victim.write_text("as it was")
    with bench.open() as sandbox:
        script = 'echo x > "$1/victim"; mkdir -p "$1/new"; echo x > ../escaped; rm -rf "$1"; true'
        assert sandbox.run(["sh", "-c", script, "sh", str(outside)]).exit_code == 0
    assert sorted(path.name for path in bench.directory.iterdir()) == ["outside", "work"]
    assert victim.read_text() == "as it was"


@guarding
def nothing_of_the_kernel_or_of_another_process_is_written(bench: Bench) -> None:
    """A command may write what the kernel tells of itself, as threads' names, and by no other name of that more."""
    with _neighbour() as process, bench.open() as sandbox:
        others = [f"/proc/{process.pid}/{name}" for name in ("comm", "oom_score_adj", f"task/{process.pid}/comm")]
        kernel = [
            "/proc/sys/kernel/domainname",
            "/proc/sys/vm/swappiness",
            "/proc/self/root/proc/sys/kernel/domainname",
        ]
        assert said(python(sandbox, OPEN, *others, *kernel)) == ""


@isolating
def the_system_is_read_only(bench: Bench) -> None:
    with bench.open() as sandbox:
        paths = ("/usr/bin/env", "/bin/sh", "/etc/passwd", "/etc/ld.so.cache", "/proc/sys/kernel/hostname")
        assert said(python(sandbox, OPEN, *paths)) == ""
        assert said(python(sandbox, WRITABLE_KERNEL)) == "[]"
        writable = "for d in / /usr /usr/bin /etc /dev /proc /run; do if [ -w $d ]; then echo $d; fi; done"
        assert said(sandbox.run(["sh", "-c", writable])) == ""


@isolating
def files_of_the_host_that_are_not_mounted_do_not_exist(bench: Bench) -> None:
    key = bench.directory / "home" / ".ssh" / "id_ed25519"
    key.parent.mkdir(parents=True)
    key.write_text("secret")
    given = [mount.source for mount in PYTHON_MOUNTS]
    paths = [path for path in Path.home().iterdir() if not any(one.is_relative_to(path) for one in given)]
    paths += [Path("/etc", name) for name in ("shadow", "gshadow", "sudoers", "ssh", "machine-id", "resolv.conf")]
    with bench.open() as sandbox:
        assert said(python(sandbox, EXISTS, "/sys", "/boot", str(key), *map(str, paths))) == "[]"


@isolating
def processes_of_the_host_are_not_seen_in_proc(bench: Bench) -> None:
    first, second = uuid.uuid4().hex, uuid.uuid4().hex
    with _neighbour(first + second, environment={"SECRET": first + second}), bench.open() as sandbox:
        assert said(python(sandbox, SEEN, first, second)) == "[]"


@isolating
def the_way_to_the_mounts_is_not_seen_in_any_command_line(bench: Bench) -> None:
    place = str(bench.work)
    with bench.open() as sandbox:
        assert said(python(sandbox, SEEN, place[:-3], place[-3:])) == "[]"


@isolating
def processes_of_the_host_can_neither_be_traced_nor_signalled(bench: Bench) -> None:
    with _neighbour() as process, bench.open() as sandbox:
        assert said(python(sandbox, ATTACH, str(process.pid))).split() == ["refused", "refused"]


@isolating
def sandboxes_do_not_see_each_other(bench: Bench) -> None:
    token = uuid.uuid4().hex
    with bench.open() as first, bench.open() as second:
        worker = first.spawn(["sh", "-c", "read line; exit 0", token])
        assert said(python(second, SEEN, token[:16], token[16:])) == "[]"
        assert first.run(["sh", "-c", "echo x > /tmp/mine"]).exit_code == 0
        assert second.run(["cat", "/tmp/mine"]).exit_code != 0
        worker.kill()


@isolating
def there_are_no_privileges_and_no_way_to_new_ones(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert said(python(sandbox, STATUS)) == "[1, 0, 0, 0, 0, 0]"
        assert said(sandbox.run(["id", "-u"])) != "0"


@isolating
def a_setuid_program_has_no_effect(bench: Bench) -> None:
    program = bench.work / "whoami"
    shutil.copy(str(shutil.which("id")), program)
    program.chmod(0o6755)
    with bench.open() as sandbox:
        assert said(sandbox.run(["./whoami", "-u"])) == said(sandbox.run(["./whoami", "-ru"])) != "0"
        assert said(sandbox.run(["./whoami", "-g"])) == said(sandbox.run(["./whoami", "-rg"])) != "0"


@isolating
def nothing_can_be_mounted_and_no_namespace_made(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert said(python(sandbox, MOUNT)) == "-1 -1 -1"


@isolating
def no_device_can_be_made(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert said(python(sandbox, MAKE_DEVICE)).split() == ["refused", "refused"]


@isolating
def there_are_no_devices_but_the_harmless_ones(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert said(python(sandbox, DEVICES)) == ""
        assert sandbox.run(["sh", "-c", "head -c 3 /dev/urandom > /dev/null"]).exit_code == 0


@isolating
def the_name_of_the_machine_is_not_reported(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert said(sandbox.run(["uname", "-n"])) == "sandbox"


@isolating
def a_preloaded_library_of_the_command_runs_nothing_outside(bench: Bench) -> None:
    library = bench.work / "absent.so"
    with bench.open(environment={"LD_PRELOAD": str(library)}) as sandbox:
        finished = sandbox.run(["true"])
    # Only what runs inside may look for it: `nice` and the command, not a program of the driver.
    assert finished.exit_code == 0
    assert finished.stderr.count(b"absent.so") <= 2


@isolating
def shared_memory_is_private_and_bounded(bench: Bench) -> None:
    token = uuid.uuid4().hex
    with bench.open() as first, bench.open() as second:
        worker = first.spawn(["sh", "-c", f"echo x > /dev/shm/{token} && echo up && read line"])
        assert worker.stdout.read(10) == b"up\n"
        assert second.run(["cat", f"/dev/shm/{token}"]).exit_code != 0
        assert not Path("/dev/shm", token).exists()


@isolating
def the_driver_declares_itself_isolated_without_a_warning(bench: Bench) -> None:
    assert bench.driver.warning is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.environ["PATH"])
        assert bench.driver.unavailable() is None
