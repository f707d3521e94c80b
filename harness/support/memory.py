"""Memory that is free goes back to the system.

The rows of a large environment are dropped as soon as they were compared, but glibc keeps freed pieces below some 32 MB in
the arenas of the threads that read them: over a gigabyte after one level of such a task. What lies in a cycle would wait for
the collector besides.
"""

from __future__ import annotations

import ctypes
import gc
import resource
from pathlib import Path

MUCH = 512 << 20
"""Bytes. A process that holds less has little to give back, and collecting takes a twentieth of a second."""


def give_back() -> None:
    """Collect, and return what is free to the system; a C library without `malloc_trim` does that as it likes."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None or _resident() < MUCH:
        return
    gc.collect()
    trim(0)


def _resident() -> int:
    """Bytes that this process holds now; the peak of getrusage is no measure, for it begins with that of the parent."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
