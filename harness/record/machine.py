"""The machine that a verdict was reached on, as far as it can matter for numbers and speed."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

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


def _cpu() -> str:
    if CPU_FACTS.is_file():
        for line in CPU_FACTS.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or "unknown"


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
