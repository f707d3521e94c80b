"""The conditions of a verdict: the machine and the software, as far as they can matter for numbers and speed."""

from __future__ import annotations

import os
import platform
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from harness import __version__

CPU_FACTS = Path("/proc/cpuinfo")
JUDGE = (
    "candidate", "protocol", "reference", "task", "training", "verify", "compare.py", "model.py",
)  # fmt: skip
"""What of the harness decides a verdict."""


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

    The fingerprint of the machine, `hypothesis` (its version), `lockstep` (ours), and `judge`: SHA-256 over the source of
    those parts of the harness that decide.
    """
    return fingerprint() | {"hypothesis": _version("hypothesis"), "lockstep": __version__, "judge": _judge()}


@cache
def _judge() -> str:
    root = Path(__file__).resolve().parent.parent
    digest = sha256()
    for part in JUDGE:
        path = root / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(f"{file.relative_to(root).as_posix()}\0{sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


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
