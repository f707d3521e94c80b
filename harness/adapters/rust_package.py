"""An environment in Rust as Python's users have it: the verified module, compiled, and arrays to step it through."""

from __future__ import annotations

from . import lockstep_binding  # pyright: ignore[reportMissingModuleSource]  # compiled for each package
from .rust_batch import DISABLED, NEXT_STEP, SAME_STEP, RustBatch

__all__ = ["DISABLED", "NEXT_STEP", "SAME_STEP", "RustBatch", "make_batch"]


def make_batch(count: int, mode: str = SAME_STEP, threads: int = 0) -> RustBatch:
    """So many instances that step together; see `RustBatch`."""
    return RustBatch(lockstep_binding, count, mode, threads)
