"""Faults in four in a row that show late are found from any seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.board import MUTANTS
from tests.mutants.plant import Mutant, plant
from tests.paths import FOUR
from tests.sampling import one_of_each

TASK = load_task(FOUR)
SEED = 11


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(TASK, sandboxes.choose(None), prepare=True) as started:
        yield started


def about(mutant: Mutant) -> str:
    """What it is about: how a game ends, what it pays, which lines count."""
    said = {"a draw": "draw", "full": "end", "pays": "reward", "not count": "line", "illegal": "legal"}
    return next((kind for words, kind in said.items() if words in mutant.name), mutant.name)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", one_of_each(MUTANTS, about))
def test_a_fault_on_a_full_board_is_found(mutant: Mutant, verifier: Verifier, tmp_path: Path) -> None:
    plant(TASK, mutant, tmp_path)
    verdict = verifier.verify(tmp_path, LevelsRequest((1, 2, 3), SEED, stop_at_failure=True))
    assert verdict.outcome is Outcome.FAIL, verdict.error
