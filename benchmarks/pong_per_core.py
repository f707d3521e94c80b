"""Pong in JAX on the CPU beside PufferLib's C, on one core: steps per second under random actions and in training.

This process, and so each that it starts, is held on one processor: there the C code, which is stepped by one thread, and XLA
have the same to work with. What the C code leaves out (keeping the outputs of every step) it leaves out; actions are drawn
before its clock runs, and inside the clock of the JAX candidate.

Training is that of `harness.training.ppo` with the task's hyper-parameters: fused with the JAX environment, or around the C
environment, all of whose games are stepped in one call of its own binding and one message of the protocol.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, report
from harness.measure.profile.result import Measurement
from harness.measure.profile.run import Settings, profile
from harness.task.load import load_task
from harness.verdict import Outcome

SECONDS_PER = 2.0
PEER = "PufferLib, C"
TRAIN_AT = (32, 128)


def main() -> None:
    """Measure and report."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        found = measure()
    finally:
        os.sched_setaffinity(0, allowed)
    report(
        "pong_per_core", "Pong on one core: JAX beside PufferLib's C (random-action steps per second)", stepping(found)
    )
    report(
        "pong_training", "Pong on one core: the same trainer in JAX and around C (steps per second)", training(found)
    )


def measure() -> dict[tuple[str, str, int], Measurement]:
    """All measurements by contender, kind and batch size."""
    task = load_task(ENVIRONMENTS / "pong")
    batches = tuple(sorted({*task.batch_sizes, *TRAIN_AT}))
    settings = Settings(batches=batches, train_at=TRAIN_AT, seconds_per=SECONDS_PER, trace=False)
    with tempfile.TemporaryDirectory() as scratch:
        tree = candidate_tree(task.directory, Path(scratch))
        measured = profile(task, tree, sandboxes.choose(None), settings)
    assert measured.outcome is Outcome.PASS, measured.error or measured.to_json()["checks"]
    return {(each.contender, each.kind, each.batch): each for each in measured.measurements}


def stepping(found: dict[tuple[str, str, int], Measurement]) -> list[dict[str, object]]:
    """A row for each batch size."""
    rows: list[dict[str, object]] = []
    for batch in sorted(batch for contender, kind, batch in found if (contender, kind) == (PEER, "step")):
        peer, step, scan = (
            found[who, kind, batch] for who, kind in ((PEER, "step"), ("candidate", "step"), ("candidate", "scan"))
        )
        rows.append(
            {
                "batch": batch,
                "C": peer.speed.median,
                "JAX, step by step": step.speed.median,
                "JAX, scanned": scan.speed.median,
                "step / C": step.speed.median / peer.speed.median,
                "scan / C": scan.speed.median / peer.speed.median,
            }
        )
    return rows


def training(found: dict[tuple[str, str, int], Measurement]) -> list[dict[str, object]]:
    """A row for each number of environments."""
    rows: list[dict[str, object]] = []
    for batch in TRAIN_AT:
        peer, fused, reference = (found[who, "train", batch] for who in (PEER, "candidate", "reference"))
        rows.append(
            {
                "environments": batch,
                "C": peer.speed.median,
                "C with its tape, through the reference's adapter": reference.speed.median,
                "JAX, fused": fused.speed.median,
                "JAX / C": fused.speed.median / peer.speed.median,
                "share of the environment in JAX": fused.share,
            }
        )
    return rows
