"""Memory that is free goes back to the system.

The rows of a large environment are dropped as soon as they were compared. But what an exception's frames hold waits for
the collector, and glibc keeps freed pieces below some 32 MB in the arenas of the threads that read them: gigabytes after a
level, and more with every verification of a long process.
"""

from __future__ import annotations

import ctypes
import gc
import resource

MUCH = 512 << 10
"""KB. A process that was never larger has little to give back, and collecting takes a twentieth of a second."""


def give_back() -> None:
    """Collect, and return what is free to the system; a C library without `malloc_trim` does that as it likes."""
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MUCH:
        return
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
