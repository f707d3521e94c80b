"""How much memory a worker takes, read from outside: /proc of the process and of all that it started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_RESET_PEAK = "5"  # written to clear_refs, it makes the kernel forget the largest resident size so far


@dataclass
class Peak:
    """The largest resident memory of a worker during something, and what it held before.

    Both in bytes, and None where the system does not tell: the worker runs where this process cannot see it.
    """

    before: int | None = None
    peak: int | None = None

    @property
    def added(self) -> int | None:
        """What came on top of what was there before."""
        return None if self.peak is None or self.before is None else max(0, self.peak - self.before)


@contextmanager
def watched(pid: int) -> Iterator[Peak]:
    """Watch the process tree below `pid`; what is yielded is filled in at the end.

    Where the kernel does not let its record be reset, the peak is that since the worker began.
    """
    seen = Peak(before=_total(pid, "VmRSS"))
    for process in _tree(pid):
        with suppress(OSError):
            (_PROC / str(process) / "clear_refs").write_text(_RESET_PEAK)
    yield seen
    seen.peak = _total(pid, "VmHWM")


def _total(pid: int, field: str) -> int | None:
    sizes = [size for process in _tree(pid) if (size := _kilobytes(process, field)) is not None]
    return 1024 * sum(sizes) if sizes else None


def _kilobytes(pid: int, field: str) -> int | None:
    with suppress(OSError):
        for line in (_PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
    return None


def _tree(pid: int) -> list[int]:
    """The process and its descendants, as far as they can be seen."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                # The name, in brackets, may hold anything; the parent is the second field behind it.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found
