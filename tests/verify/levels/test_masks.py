"""A task with a mask of legal actions whose reference refuses all others: four in a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sandboxes
from harness.errors import BadAnswer
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.levels import as_used, autoreset
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.plant import Mutant, plant
from tests.paths import FOUR

OPEN = "state.board[-1] == 0"
TASK = load_task(FOUR)


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(TASK, sandboxes.choose(None), prepare=True) as started:
        yield started


@pytest.mark.slow
def test_the_right_candidate_passes_and_full_boards_are_met(verifier: Verifier, tmp_path: Path) -> None:
    plant(TASK, Mutant("none", (), 3, ""), tmp_path)
    verdict = verifier.verify(tmp_path, LevelsRequest((1, 2, 3), 5))
    assert verdict.outcome is Outcome.PASS, verdict.error
    batch = {check.name: check for check in verdict.reports[-1].checks}
    assert batch[autoreset.NAME].examples > 100
    assert batch[as_used.USED].outcome is Outcome.PASS
    again = verifier.verify(tmp_path, LevelsRequest((1, 2, 3), 5))
    assert [one.evidence for one in again.reports] == [one.evidence for one in verdict.reports]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [f"({OPEN}) | True", f"({OPEN}) & (jnp.arange(WIDTH) < 6)"])
def test_a_wrong_mask_is_named_and_no_error_of_the_reference(verifier: Verifier, wrong: str, tmp_path: Path) -> None:
    plant(TASK, Mutant("mask", ((OPEN, wrong),), 3, ""), tmp_path)
    verdict = verifier.verify(tmp_path, LevelsRequest((3,), 6, stop_at_failure=True))
    assert verdict.outcome is Outcome.FAIL, verdict.reports[-1].to_json()
    assert verdict.reports[-1].divergences[0].path == "legal_actions"


def answer(taken: list[list[float]], dtype: str = "int32") -> Any:
    """A batch of two steps and two sub-environments, where 0 is legal at first and then 1."""
    mask = np.array([[[True, False], [True, True]], [[False, True], [True, True]], [[True, True], [True, True]]])
    legal = {"legal_actions": mask}
    plan = autoreset.Plan(0, 2, 2, np.arange(2), {"action": np.array([[1, 1], [0, 0]])})
    task = SimpleNamespace(actions={"action": SimpleNamespace(low=0, dtype="int64")})
    pair: Any = SimpleNamespace(task=task)
    return pair, legal, plan, {"action": np.array(taken, dtype)}, "here"


def test_a_batch_takes_what_follows_from_its_plan_and_masks() -> None:
    actions = autoreset.demand_legal(*answer([[0, 1], [1, 0]]))
    assert (actions["action"].tolist(), actions["action"].dtype) == ([[0, 1], [1, 0]], np.int64)


@pytest.mark.parametrize(
    ("taken", "dtype"),
    [
        ([[1, 1], [0, 0]], "int32"),
        ([[0, 0], [1, 0]], "int32"),
        ([[0, 1], [1, 1]], "int32"),
        ([[0, 1], [1, 0.5]], "float64"),
        ([[0, 1], [1, float("nan")]], "float64"),
    ],
)
def test_a_batch_that_takes_others_has_no_answer(taken: list[list[float]], dtype: str) -> None:
    with pytest.raises(BadAnswer, match="action is not what was planned"):
        autoreset.demand_legal(*answer(taken, dtype))
