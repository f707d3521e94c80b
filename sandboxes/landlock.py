"""What the kernel's Landlock holds of a command that no namespace parts from this machine.

A domain lists what a command may reach of the files; all else is refused, by whatever name it is asked for: links and
`/proc/PID/root` lead to the same refusal. Inside one, no process outside can be traced and its memory, descriptors and
environment cannot be read; newer kernels also refuse signals to it, abstract sockets and TCP. Rules only allow, so a tree of
which a part is hidden is allowed piece by piece.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

Domain = tuple[int, int, int, list[tuple[str, int]]]
"""What `_supervisor.confine.enclose` takes: what must be allowed of files, what is refused of the network, the scopes that
are kept, and the rules: each a path with the rights below it."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/proc")
"""What every command may read: programs and their settings, and /proc, in which the kernel asks who reads of whom."""
MACHINE = ("/sys/bus", "/sys/class", "/sys/devices", "/sys/fs/cgroup", "/sys/kernel/mm", "/sys/module")
"""What programs look up of processors, memory and accelerators."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "shm", "ptmx", "pts")
_ACCELERATORS = ("nvidia*", "dri", "kfd")

_CREATE_RULESET = 444
_ASK_VERSION = 1

# The rights over files, in the order in which versions of Landlock brought them.
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_DEVICES = 1 << 6 | 1 << 11
_FIRST = (1 << 13) - 1
_ADDED = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TRUNCATE, _DEVICE_REQUESTS = _ADDED[3], _ADDED[5]
_SEEN = _EXECUTE | _READ | _LIST
_USED = _READ | _WRITE | _TRUNCATE | _DEVICE_REQUESTS
_NETWORK_SINCE, _TCP = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11


@functools.cache
def version() -> int:
    """The version of Landlock that this kernel has; 0 where it has none, or was started without it."""
    size, flags = ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)
    return max(0, ctypes.CDLL(None).syscall(ctypes.c_long(_CREATE_RULESET), None, size, flags))


def domain(
    shown: Iterable[tuple[Path, bool]], hidden: Sequence[Path], *, network: bool, abi: int | None = None
) -> Domain:
    """What a command may reach.

    Args:
        shown: what is mounted, free of links, and whether it may be written.
        hidden: what is left out of the system's directories and of the mounts that hold it; what is mounted from below it
            is shown all the same.
        network: whether it may connect.
        abi: the version of Landlock; by default this kernel's.
    """
    abi = version() if abi is None else abi
    handled = _FIRST | sum(right for since, right in _ADDED.items() if since <= abi)
    places = [(Path(path), _SEEN) for path in (*SYSTEM, *MACHINE)]
    places += [(path, _USED | _SEEN | handled & ~_MAKE_DEVICES if path.is_dir() else _USED) for path in _devices()]
    if network:
        places.append((Path("/etc/resolv.conf"), _READ))  # often a link to somewhere else
    places += [(path, handled & ~_MAKE_DEVICES if writable else _SEEN) for path, writable in shown]
    rules: dict[str, int] = {}
    for place, rights in places:
        for path in _without(Path(os.path.realpath(place)), hidden):
            rules[str(path)] = rules.get(str(path), 0) | rights & handled
    refused = _TCP if abi >= _NETWORK_SINCE and not network else 0
    return handled, refused, _SCOPES if abi >= _SCOPES_SINCE else 0, list(rules.items())


def _devices() -> Iterator[Path]:
    for name in _DEVICES:
        yield Path("/dev", name)
    for pattern in _ACCELERATORS:
        yield from Path("/dev").glob(pattern)


def _without(place: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """A file or directory; where it holds something hidden, all that lies beside that, which so cannot be listed."""
    if not any(each != place and each.is_relative_to(place) for each in hidden):
        if place.exists():
            yield place
        return
    for child in sorted(place.iterdir()):
        if not child.is_symlink() and child not in hidden:
            yield from _without(child, hidden)
