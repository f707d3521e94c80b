"""The list of calls as a program for the kernel: classic BPF, which it runs at each call of a sandboxed command.

A refused call fails with EPERM, and a call that is newer than the list with ENOSYS, as on an older kernel. Nothing is
killed: libraries ask for much that they can do without.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from collections.abc import Iterable

from . import calls

FAMILIES = {"AF_UNSPEC": 0, "AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
"""The sockets that may be made. AF_VSOCK, for one, knows no namespaces: it leaves every sandbox."""

NAMESPACES = 0x7E02_0000
"""The flags with which `clone` makes a namespace."""

TERMINAL = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
"""What `ioctl` may not ask of a terminal: to have typed what a command wrote."""

NOTICES = {"F_SETLEASE": 1024, "F_NOTIFY": 1026}
"""What `fcntl` may not ask of a file: to be told when others open it. They may be in another sandbox that shows it."""

LOCKS = {"F_GETLK": 5, "F_SETLK": 6, "F_SETLKW": 7, "F_OFD_GETLK": 36, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38}
"""What `fcntl` may not ask where files cannot be locked; nor is there `flock` then."""

_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_PR_GET_SECCOMP = 21

# Where the kernel puts what it asks about (struct seccomp_data; both machines are little-endian).
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24

_LOAD, _EQUAL, _AT_LEAST, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x25, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000
_REFUSE = _ERRNO | 1
_UNKNOWN = _ERRNO | 38

_Instruction = tuple[int, int, int, int]


def _return(value: int) -> _Instruction:
    return (_RETURN, 0, 0, value)


def _load(offset: int) -> _Instruction:
    return (_LOAD, 0, 0, offset)


def build(machine: str, *, connects: bool = True, locks: bool = True) -> bytes:
    """The filter for one of `calls.MACHINES`; `locks`: whether files may be locked, `connects`: whether sockets connect.

    What no namespace parts from this machine would find the servers of its user, whose sockets are no files to Landlock.
    """
    allowed = calls.allowed(machine)
    if not connects:
        del allowed["connect"]
    if not locks:
        del allowed["flock"]
    asked_of_files = [*NOTICES.values(), *(() if locks else LOCKS.values())]
    clone3 = calls.refused(machine)["clone3"]
    # Another architecture counts its calls differently: 32-bit programs are refused, and x32's numbers are unknown.
    code = [_load(_ARCHITECTURE), (_EQUAL, 1, 0, _ARCHITECTURES[machine]), _return(_REFUSE), _load(_NUMBER)]
    # Its flags lie in memory, where no filter can look. The C library then uses `clone`.
    code += [(_EQUAL, 0, 1, clone3), _return(_UNKNOWN)]
    for name in ("socket", "socketpair"):
        code += _asked(allowed.pop(name), _FIRST, _EQUAL, FAMILIES.values(), then=_ALLOW, otherwise=_REFUSE)
    code += _asked(allowed.pop("clone"), _FIRST, _ANY_BIT, [NAMESPACES], then=_REFUSE, otherwise=_ALLOW)
    code += _asked(allowed.pop("ioctl"), _SECOND, _EQUAL, TERMINAL.values(), then=_REFUSE, otherwise=_ALLOW)
    code += _asked(allowed.pop("fcntl"), _SECOND, _EQUAL, asked_of_files, then=_REFUSE, otherwise=_ALLOW)
    for first, last in _runs(allowed.values()):
        code += [(_AT_LEAST, 0, 2, first), (_ABOVE, 1, 0, last), _return(_ALLOW)]
    code += [(_ABOVE, 0, 1, calls.NEWEST), _return(_UNKNOWN), _return(_REFUSE)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


@functools.cache
def here(*, connects: bool = True, locks: bool = True) -> bytes | None:
    """The filter for this machine (see `build`); None where the kernel has none, or the machine's calls are not listed."""
    machine = os.uname().machine
    if machine not in calls.MACHINES or ctypes.CDLL(None).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) < 0:
        return None
    return build(machine, connects=connects, locks=locks)


def unavailable() -> str | None:
    """Why there is no filter here, or None. A driver that isolates does not go without."""
    if here() is not None:
        return None
    return (
        f"no seccomp filter for this machine ({os.uname().machine}): it takes a kernel with CONFIG_SECCOMP_FILTER, on"
        f" {' or '.join(calls.MACHINES)}"
    )


def _asked(
    number: int, offset: int, test: int, values: Iterable[int], *, then: int, otherwise: int
) -> list[_Instruction]:
    """Decide about one call by an argument, compared with each value. The kernel itself reads only its low half."""
    tests = [step for value in values for step in ((test, 0, 1, value), _return(then))]
    body = [_load(offset), *tests, _return(otherwise)]
    return [(_EQUAL, 0, len(body), number), *body]


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The numbers as ranges: a few dozen comparisons instead of some hundreds."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
