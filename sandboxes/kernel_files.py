"""The one list of what a sandbox sees of the kernel's files: of /proc its own processes and little else, of /sys nothing.

A new /proc hides other processes, but most of its entries speak of the whole machine: what they tell changes with what other
sandboxes do, so two of them could talk through it. What is not named here is hidden, the entries of a newer kernel too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

STAYS = frozenset({"cpuinfo", "mounts", "net", "self", "thread-self"})
"""What stays of /proc beside the numbered directories of processes: the processor's features, by which numerical libraries
choose their code, and links into a process's own directory."""

WITH_GPUS = frozenset({"devices", "driver", "modules"})
"""What stays where GPUs are given: their libraries look there for the driver."""

_MEMINFO = "MemTotal MemFree MemAvailable Buffers Cached SwapCached SwapTotal SwapFree"


def made_up(memory_bytes: int) -> dict[str, str]:
    """What of /proc is there with a text of ours, by name: an idle machine without a past, with this much memory.

    Programs end where these are empty (Node), and count processors by them (the C library, where there is no /sys).
    """
    kib = min(memory_bytes, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) >> 10
    sizes = {name: kib if name.startswith("Mem") else 0 for name in _MEMINFO.split()}
    idle = " 0" * 10
    processors = "".join(f"cpu{number}{idle}\n" for number in range(os.cpu_count() or 1))
    counts = "intr 0\nctxt 0\nbtime 0\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0\n"
    return {
        "loadavg": "0.00 0.00 0.00 1/1 1\n",
        "meminfo": "".join(f"{name}:{size:>15} kB\n" for name, size in sizes.items()),
        "stat": f"cpu {idle}\n{processors}{counts}",
        "uptime": "1.00 1.00\n",
    }


def hidden(*, gpus: int = 0, proc: str = "/proc") -> Iterator[tuple[str, bool]]:
    """What of this machine's /proc is to be hidden: each entry's name, and whether it is a directory.

    All that this machine has now and the list above does not name. Links are left: they lead to what is judged itself.
    """
    kept = _kept(gpus) | set(made_up(0))
    for entry in _of_the_machine(proc):
        if entry.name not in kept:
            yield entry.name, entry.is_dir(follow_symlinks=False)


def shared(*, gpus: int = 0, proc: str = "/proc") -> Iterator[str]:
    """What of this machine's /proc stays as it is, and is no process's own."""
    kept = _kept(gpus)
    yield from (entry.name for entry in _of_the_machine(proc) if entry.name in kept)


def _kept(gpus: int) -> frozenset[str]:
    return STAYS | (WITH_GPUS if gpus else frozenset())


def _of_the_machine(proc: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(proc) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.name.isdecimal() and not entry.is_symlink():
                yield entry
