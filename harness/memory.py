"""Memory that is free goes back to the system.

The rows of a large environment are dropped as soon as they were compared, but glibc keeps freed pieces below some 32 MB in
the arenas of the threads that read them: over a gigabyte after one level of such a task. What lies in a cycle would wait for
the collector besides.
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
