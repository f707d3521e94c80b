"""Pong in JAX on the CPU beside PufferLib's C: random-action steps per second on one core.

This process, and so each that it starts, is held on one processor: there the C code, which is stepped by one thread, and XLA
have the same to work with. What the C code leaves out (keeping the outputs of every step) it leaves out; actions are drawn
before its clock runs, and inside the clock of the JAX candidate.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, report
from harness.model import Outcome
from harness.profile.run import Settings, profile
from harness.taskfile import load_task

SECONDS_PER = 2.0
PEER = "PufferLib, C"


def main() -> None:
    """Measure and report."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        rows = measure()
    finally:
        os.sched_setaffinity(0, allowed)
    report("pong_per_core", "Pong on one core: JAX beside PufferLib's C (random-action steps per second)", rows)


def measure() -> list[dict[str, object]]:
    """A row for each batch size."""
    task = load_task(ENVIRONMENTS / "pong")
    with tempfile.TemporaryDirectory() as scratch:
        tree = candidate_tree(task.directory, Path(scratch))
        measured = profile(task, tree, sandboxes.choose(None), Settings(seconds_per=SECONDS_PER, trace=False))
    assert measured.outcome is Outcome.PASS, measured.error or measured.to_json()["checks"]
    found = {(each.contender, each.kind, each.batch): each for each in measured.measurements}
    rows: list[dict[str, object]] = []
    for batch in task.batch_sizes:
        peer, step, scan = (
            found[PEER, "step", batch], found["candidate", "step", batch], found["candidate", "scan", batch],
        )  # fmt: skip
        rows.append(
            {
                "batch": batch,
                "C": peer.rate,
                "JAX, step by step": step.rate,
                "JAX, scanned": scan.rate,
                "step / C": step.rate / peer.rate,
                "scan / C": scan.rate / peer.rate,
            }
        )
    return rows
