"""An environment in Rust as Python's users have it: the verified module, compiled, and arrays to step it through."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import lockstep_binding  # pyright: ignore[reportMissingModuleSource]  # compiled for each package
from .rust_batch import DISABLED, NEXT_STEP, SAME_STEP, RustBatch

__all__ = ["DISABLED", "NEXT_STEP", "SAME_STEP", "RustBatch", "attestation", "make_batch"]


def make_batch(count: int, mode: str = SAME_STEP, threads: int = 0) -> RustBatch:
    """So many instances that step together; see `RustBatch`."""
    return RustBatch(lockstep_binding, count, mode, threads)


def attestation() -> dict[str, Any] | None:
    """The signed record of what was verified, a DSSE envelope; None if the package was exported without one."""
    file = Path(__file__).with_name("attestation.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
