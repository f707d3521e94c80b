"""A candidate as the Python package that users get: its files unchanged, the very face modules that the verifier ran, and
the contract. `candidate/export.py` adds what makes it installable; `candidate/as_user.py` has it run as a user would run it.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import harness.candidate.faces
from harness.candidate.start import candidate_options, demand_no_links
from harness.task.contract import CANDIDATE_DIRECTORY, Task, caches

SHARED = ("leaves.py", "leaf_spaces.py", "vector_env.py", "seats.py", "zoo_env.py")
FACES = {
    "jax": (
        *SHARED,
        "jax_env.py",
        "jax_gymnax.py",
        "jax_vector.py",
        "jax_pgx.py",
        "jax_marl.py",
        "over_devices.py",
        "restarts.py",
    ),
    "rust": (*SHARED, "rust_batch.py", "rust_pool.py", "rust_vector.py", "lockstep_binding.pyi"),
}
PACKAGE = {"jax": "jax_package.py", "rust": "rust_package.py"}
MODULE = "lockstep_binding.abi3.so"
ATTESTATION = "attestation.json"
ATTESTED = "attested-files.sha256"
"""Lies beside an attestation: what it attests, file by file (`harness.record.snapshot.listing`)."""


def write_package(task: Task, source: Path, package: Path, module: bytes | None = None) -> None:
    """Write the candidate in the tree `source` as an importable package at `package`, whose parent is made.

    Args:
        module: of a candidate in Rust. Without it the package has none, which whoever builds a wheel of it adds.

    Raises:
        SetupError: there is a link among its files.
    """
    kind = task.candidate.kind
    demand_no_links(source / CANDIDATE_DIRECTORY)
    package.mkdir(parents=True)
    if kind == "rust":
        if module is not None:
            (package / MODULE).write_bytes(module)
    else:
        shutil.copytree(source / CANDIDATE_DIRECTORY, package / CANDIDATE_DIRECTORY, ignore=caches)
    faces = Path(harness.candidate.faces.__path__[0])
    for face in FACES[kind]:
        shutil.copyfile(faces / face, package / face)
    shutil.copyfile(faces / PACKAGE[kind], package / "__init__.py")
    (package / "py.typed").touch()
    contract = candidate_options(task, task.candidate.entry) | {
        "name": task.name,
        "summary": task.summary,
        "xla_flags": list(task.candidate.xla_flags),
    }
    (package / "contract.json").write_text(json.dumps(_plain(contract), indent=1) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """JSON without what strict readers refuse: the infinities as text."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
