"""What the machine can do at most, and whether a rate is beyond what its own bytes and operations allow on it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.candidate.interpreter import BASE_PACKAGES
from harness.candidate.jax_process import jax_environment
from harness.candidate.start import SandboxedWorker
from harness.measure.profile.contenders import CANDIDATE, Cell
from harness.measure.profile.result import Bound
from harness.policy.device import gpus_asked
from harness.protocol.channel import Channel
from harness.task.contract import Task
from sandboxes import Driver

ADAPTER = "harness.candidate.adapters.jax.machine:Machine"
MEMORY_MB = 8192
TIMEOUT_S = 120.0
READINGS = 5
SLACK = 1.5
"""How far beyond the fastest kernel that was timed a rate may be before it is called suspicious."""

# Rows of the matrices, how often; numbers that are copied, how often. Some fit into a cache: the fastest counts.
_CPU = {"operations": ((1024, 2),), "bytes": ((1 << 16, 400), (1 << 20, 50), (1 << 24, 4))}
_ACCELERATOR = {"operations": ((8192, 8),), "bytes": ((1 << 22, 200), (1 << 28, 8))}


@dataclass(frozen=True)
class Abilities:
    """What JAX runs on, and the fastest that kernels of known work went on it.

    Attributes:
        device: platform, kind and number of its devices, versions of JAX.
        operations_per_s: floating-point operations per second.
        bytes_per_s: bytes read or written per second.
    """

    device: dict[str, Any]
    operations_per_s: float
    bytes_per_s: float


def measure(driver: Driver) -> Abilities:
    """Time kernels of known work in a sandbox of the same kind, in which no candidate is.

    Raises:
        SandboxError, EnvironmentFailure: JAX does not work there.
    """
    packages = {*BASE_PACKAGES, "jax", "jaxlib"}
    worker = SandboxedWorker(driver, ADAPTER, packages, jax_environment(), MEMORY_MB, gpus=gpus_asked())
    try:
        channel = worker.channel("the machine", TIMEOUT_S)
        device = channel.ask("open", options={})
        sizes = _CPU if device["platform"] == "cpu" else _ACCELERATOR
        operations = max(_rate(channel, "operations", rows, times, 2 * rows**3) for rows, times in sizes["operations"])
        moved = max(_rate(channel, "bytes", numbers, times, 8 * numbers) for numbers, times in sizes["bytes"])
    finally:
        worker.close()
    del device["kinds"]
    return Abilities(device, operations, moved)


def _rate(channel: Channel, kind: str, batch: int, length: int, work: int) -> float:
    channel.ask("bench_prepare", kind=kind, batch=batch, length=length)
    shortest = math.inf
    for _ in range(READINGS):
        began = time.perf_counter()
        channel.ask("bench_run", kind=kind, batch=batch, length=length, seed=0, repeats=1)
        shortest = min(shortest, time.perf_counter() - began)
    return length * work / shortest


def bound(task: Task, cell: Cell, abilities: Abilities) -> Bound | None:
    """What bounds a candidate's cell; None for a peer's, of whose work nothing is known.

    Its outputs have to be written, which is known from task.toml; and what XLA counts of operations has to be done. Loops
    are counted once, so that the bound is never lower than it should be.
    """
    if cell.contender.role != CANDIDATE:
        return None
    written = float(output_bytes(task))
    operations = float(cell.facts.get("flops", 0.0)) / cell.batch
    by_bytes = abilities.bytes_per_s / written
    by_operations = abilities.operations_per_s / operations if operations > 0 else math.inf
    by = "bytes" if by_bytes <= by_operations else "operations"
    return Bound(min(by_bytes, by_operations), by, written, operations)


def suspicious(rate: float, limit: Bound | None) -> bool:
    """Whether a rate is beyond what can be explained."""
    return limit is not None and rate > SLACK * limit.steps_per_s


def output_bytes(task: Task) -> int:
    """Bytes of one step's outputs."""
    leaves = [leaf for path, leaf in task.outputs.items() if not path.startswith("state/")]
    sizes = [np.dtype(leaf.dtype).itemsize * math.prod(leaf.shape) for leaf in leaves]
    narrow = 2 if task.candidate.narrow else 1
    return sum(
        size // (narrow if np.dtype(leaf.dtype).itemsize == 8 else 1) for size, leaf in zip(sizes, leaves, strict=True)
    )
