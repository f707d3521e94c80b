"""What decides level 4 in Rust: trainings of a pair are the same bits as long as a seed is the same episode in both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import sandboxes
from harness.candidate.start import CandidateWorker
from harness.compare import compare_many
from harness.model import Case, Trajectory
from harness.protocol.environment import Environment
from harness.task.contract import Task


def _draws(played: Trajectory) -> list[list[tuple[str, list[int]]]]:
    """What was drawn in each timestep, in order."""
    assert played.draws is not None
    return [
        [(draw.name, np.asarray(draw.value).reshape(-1).tolist()) for draw in timestep] for timestep in played.draws
    ]


def differing_without_a_tape(
    task: Task, reference: Environment, policy: str, seeds: Sequence[int], off: int
) -> list[int]:
    """Episodes of the reference under a policy are played by the candidate from their seeds alone, moved by `off`.

    Returns:
        how many differ in a leaf, and how many in what was drawn, in its order.
    """
    worker = CandidateWorker(task, sandboxes.choose(None))
    try:
        candidate = worker.open(task.directory)
        played = reference.drive(policy, seeds, task.budgets.horizon)
        alone = candidate.rollout([Case(one.case.seed + off, one.case.cut(one.steps).actions) for one in played])
        found = compare_many(played, alone, task.outputs, task.tolerances)
        drawn = [_draws(one) != _draws(other) for one, other in zip(played, alone, strict=True)]
        return [sum(each is not None for each in found), sum(drawn)]
    finally:
        worker.close()
