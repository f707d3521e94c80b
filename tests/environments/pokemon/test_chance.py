"""The chance of a seed: battles of the reference and of the candidate in Rust roll the same, without a tape between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sandboxes
from harness.candidate.start import CandidateWorker
from harness.compare import compare_many
from harness.model import Case, Trajectory
from harness.reference.install import setup
from harness.reference.start import start_reference
from tests.environments.pokemon.battles import TASK

pytestmark = [pytest.mark.slow, pytest.mark.rust]
SEEDS = range(40, 64)


def rolls(played: Trajectory) -> list[list[tuple[str, list[int]]]]:
    """What was drawn in each timestep, in order."""
    assert played.draws is not None
    return [
        [(draw.name, np.asarray(draw.value).reshape(-1).tolist()) for draw in timestep] for timestep in played.draws
    ]


def test_a_seed_rolls_the_same_in_both(cargo: None) -> None:
    """What decides level 4 in Rust: trainings of a pair are the same bits as long as both roll alike, in the same order."""
    task = TASK.with_candidate("rust")
    reference, worker = start_reference(TASK, setup(TASK)), CandidateWorker(task, sandboxes.choose(None))
    try:
        candidate = worker.open(Path(TASK.directory))
        played = reference.drive("stay", list(SEEDS), 400)
        assert sum(one.steps for one in played) > 500, "a battle has dozens of turns, each with rolls"
        for off, differing in ((0, 0), (1, len(SEEDS))):
            cases = [Case(one.case.seed + off, one.case.cut(one.steps).actions) for one in played]
            alone = candidate.rollout(cases)
            found = compare_many(played, alone, task.outputs, task.tolerances)
            assert sum(each is not None for each in found) == differing
            assert sum(rolls(one) != rolls(other) for one, other in zip(played, alone, strict=True)) == differing
    finally:
        worker.close()
        reference.close()
