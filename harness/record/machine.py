"""The conditions of a verdict: the machine and the software, as far as they can matter for numbers and speed."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from harness import __version__
from harness.record.judge import judge_digest

CPU_FACTS = Path("/proc/cpuinfo")


def fingerprint() -> dict[str, str | int | None]:
    """Processor, cores, system, and versions of Python, numpy and JAX (None where one is not installed)."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "jax": _version("jax"),
    }


def conditions() -> dict[str, Any]:
    """Everything that a verdict is repeated under besides its tree, its task and its seed.

    The fingerprint of the machine, `hypothesis` (its version), `lockstep` (ours), and `judge`: SHA-256 over the
    files that decide (`harness.record.judge`).
    """
    return fingerprint() | {"hypothesis": _version("hypothesis"), "lockstep": __version__, "judge": judge_digest()}


def _cpu() -> str:
    if CPU_FACTS.is_file():
        for line in CPU_FACTS.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or "unknown"


@cache
def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
