"""The attack: leave a message where another sandbox finds it, or reach past the namespaces by a rare call of the kernel.

Each call that a sandbox refuses is tried from inside, by number, as no library of the sandbox can be trusted to.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from sandboxes import BubblewrapDriver, DockerDriver, Driver, ProcessDriver, SandboxSpec
from sandboxes.seccomp import calls, program

MACHINE = os.uname().machine
pytestmark = pytest.mark.skipif(MACHINE not in calls.MACHINES, reason="the calls of this machine are not listed")

DRIVERS: Mapping[str, type[Any]] = {
    "bubblewrap": BubblewrapDriver,
    "process": ProcessDriver,
    "docker": DockerDriver,
}
each_driver = pytest.mark.parametrize(
    "driver", ["bubblewrap", "process", pytest.param("docker", marks=pytest.mark.docker)]
)

CALL = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments))
    return ctypes.get_errno() if result == -1 else 0
"""

TRY_EACH = CALL + "print(json.dumps([call(*request) for request in json.loads(sys.argv[1])]))"

OTHER_ARCHITECTURE = """
import ctypes, mmap, os
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000" "cd80" "c3"))  # getpid() as 32-bit programs ask for it
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
pid = os.fork()
if pid == 0:
    os._exit(1 if ctypes.CFUNCTYPE(ctypes.c_int)(address)() < 0 else 0)
print("refused" if os.waitpid(pid, 0)[1] != 0 else "allowed")  # Or a signal, where the kernel has no such calls.
"""

KEYS = """
SESSION, USER, SEARCH, JOIN = -3, -4, 10, 1
def plant(ring):
    return libc.syscall(ADD_KEY, b"user", b"lockstep-test-message", b"hello", ctypes.c_long(5), ctypes.c_long(ring))
def find(ring):
    found = libc.syscall(KEYCTL, ctypes.c_long(SEARCH), ctypes.c_long(ring), b"user", b"lockstep-test-message", 0)
    return found != -1
"""


def keys() -> str:
    """`KEYS` with the numbers of this machine."""
    numbers = calls.refused(MACHINE)
    return CALL + f"ADD_KEY, KEYCTL = {numbers['add_key']}, {numbers['keyctl']}\n" + KEYS


def opened(driver: str) -> Driver:
    made: Driver = DRIVERS[driver]()
    reason = made.unavailable()
    assert reason is None, reason
    return made


def said(driver: str, code: str, *arguments: str, locks: bool = True) -> str:
    with opened(driver).open(SandboxSpec(mounts=(), workdir="/tmp", locks=locks)) as sandbox:
        finished = sandbox.run(["python3", "-c", code, *arguments])
    assert finished.exit_code == 0, finished
    return finished.stdout.decode()


def errors(driver: str, requests: list[tuple[int, ...]]) -> list[int]:
    answered: list[int] = json.loads(said(driver, TRY_EACH, json.dumps(requests)))
    return answered


@functools.cache
def refusals(driver: str) -> dict[str, int]:
    """The error of each refused call, all tried in one sandbox, with arguments that do nothing where it is not refused."""
    numbers = calls.refused(MACHINE)
    found = errors(driver, [(number, *[-1] * 6) for number in numbers.values()])
    return dict(zip(numbers, found, strict=True))


@each_driver
@pytest.mark.parametrize("name", calls.refused(MACHINE) if MACHINE in calls.MACHINES else [])
def test_a_refused_call_is_refused(driver: str, name: str) -> None:
    assert refusals(driver)[name] == (errno.ENOSYS if name == "clone3" else errno.EPERM)


@each_driver
def test_sockets_that_know_no_namespaces_cannot_be_made(driver: str) -> None:
    numbers = calls.allowed(MACHINE)
    families = [family for family in range(64) if family not in program.FAMILIES.values()]
    for name in ("socket", "socketpair"):
        found = errors(driver, [(numbers[name], family, 1, 0, 0) for family in families])
        assert dict(zip(families, found, strict=True)) == dict.fromkeys(families, errno.EPERM)
    # The upper half of an argument is not read by the kernel, and must not hide the lower one from the filter.
    vsock = 40
    assert errors(driver, [(numbers["socket"], vsock | 1 << 32, 1, 0)]) == [errno.EPERM]


@each_driver
def test_no_thread_or_child_comes_with_a_namespace(driver: str) -> None:
    numbers = calls.allowed(MACHINE)
    flags = [1 << bit for bit in range(32) if program.NAMESPACES & 1 << bit]
    assert len(flags) == 7
    # A thread that shares no memory is refused by the kernel too, with another error: nothing is started here.
    thread = 0x0001_0000
    found = errors(driver, [(numbers["clone"], flag | thread, 0, 0, 0, 0) for flag in flags])
    assert found == [errno.EPERM] * len(flags)


@each_driver
def test_nothing_is_typed_into_a_terminal(driver: str) -> None:
    found = errors(driver, [(calls.allowed(MACHINE)["ioctl"], 0, what, 0) for what in program.TERMINAL.values()])
    assert found == [errno.EPERM] * len(program.TERMINAL)


@each_driver
def test_a_call_that_is_newer_than_the_list_does_not_exist(driver: str) -> None:
    x32_getpid = 0x4000_0000 | 39
    assert errors(driver, [(calls.NEWEST + 1,), (x32_getpid,)]) == [errno.ENOSYS] * 2


@each_driver
@pytest.mark.skipif(MACHINE != "x86_64", reason="another way to count calls is x86's")
def test_calls_counted_as_another_architecture_does_are_refused(driver: str) -> None:
    assert said(driver, OTHER_ARCHITECTURE) == "refused\n"


LOCK = """
import fcntl, os, sys
shown = os.open(sys.executable, os.O_RDONLY)
sys.stdout.write("ready\\n")
sys.stdout.flush()
def told(ask):
    try:
        ask()
    except OSError as error:
        return error.errno
    return 0
asks = {
    "flock": lambda: fcntl.flock(shown, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "fcntl": lambda: fcntl.lockf(shown, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "OFD": lambda: fcntl.fcntl(shown, 37, bytes(32)),
    "look": lambda: fcntl.fcntl(shown, fcntl.F_GETLK, bytes(32)),
    "look for an OFD": lambda: fcntl.fcntl(shown, 36, bytes(32)),
    "lease": lambda: fcntl.fcntl(shown, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "notice": lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), fcntl.F_NOTIFY, 1),
}
print([name for name, ask in asks.items() if told(ask) != 1])
sys.stdin.read()
"""
"""Which ways to leave a lock on a file, or to be told of another's opening it, are not refused with EPERM."""


@each_driver
def test_a_judged_program_locks_no_file_that_others_are_shown(driver: str) -> None:
    assert said(driver, LOCK, locks=False) == "ready\n[]\n"


@each_driver
def test_nobody_is_told_when_others_open_a_file(driver: str) -> None:
    found = said(driver, LOCK).splitlines()[1]
    assert "lease" not in found
    assert "notice" not in found
    assert "flock" in found  # the check can fail: where locks are needed they are allowed


IN_A_LOGIN = """
libc.syscall(KEYCTL, ctypes.c_long(JOIN), None)  # As a login does, so that all that it starts shares a keyring.
if plant(SESSION) == -1:
    print("no keys here")
    sys.exit()
import sandboxes
if sys.argv[2] == "unfiltered":
    sandboxes.local.program.here = lambda **_: None
for code in sys.argv[3:]:
    with getattr(sandboxes, sys.argv[1])().open(sandboxes.SandboxSpec(mounts=(), workdir="/tmp")) as sandbox:
        print(sandbox.run(["python3", "-c", code]).stdout.decode(), end="")
"""


def in_a_login(driver: str, filtered: str, *codes: str) -> str:
    """What each program says, run in a sandbox of its own, by a harness in whose keyring a key lies."""
    command = [sys.executable, "-c", keys() + IN_A_LOGIN, DRIVERS[driver].__name__, filtered, *codes]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if done.stdout == "no keys here\n":
        pytest.skip("this kernel has no keys")
    return done.stdout


@each_driver
@pytest.mark.parametrize("ring", ["SESSION", "USER"])
def test_a_key_of_one_sandbox_is_not_found_in_the_next(driver: str, ring: str) -> None:
    plant = keys().replace("lockstep-test-message", "left-behind") + f"plant({ring})"
    find = keys().replace("lockstep-test-message", "left-behind") + f"print(find({ring}))"
    assert in_a_login(driver, "filtered", plant, find) == "False\n"


def test_a_command_starts_with_a_keyring_of_its_own() -> None:
    """Also where no filter refuses the call: the keyring of who started it is not the command's."""
    find = keys() + "print(find(SESSION))"
    assert in_a_login("process", "unfiltered", find) == "False\n"


@pytest.mark.parametrize("machine", calls.MACHINES)
def test_every_call_is_listed_once(machine: str) -> None:
    allowed, refused = calls.allowed(machine), calls.refused(machine)
    assert not set(allowed) & set(refused)
    numbers = [*allowed.values(), *refused.values()]
    assert len(numbers) == len(set(numbers))
    assert max(numbers) == calls.NEWEST
    if machine == "x86_64":  # The others have holes. This one has the range that x32 takes.
        assert sorted(numbers) == [*range(335), *range(424, calls.NEWEST + 1)]
    assert len(program.build(machine)) // 8 <= 4096
