"""Faults in CartPole that show in rare states only: level 3's exploration finds them, and mostly nothing else there does.

Each adds to the reward where a predicate holds that the level's episodes meet in fewer than one of a thousand steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verdict import Outcome, Verdict
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.plant import plant
from tests.mutants.rare import CARTPOLE_RARE, of_cartpole
from tests.paths import ENVIRONMENTS
from tests.sampling import by_day

CARTPOLE = load_task(ENVIRONMENTS / "cartpole")
SEED = 4
SEEDS = (1, 2, 3, 4, 5)
BY_THE_BATCH = {"fast to the left"}
"""From SEED, the auto-reset batch meets these before the exploration can."""


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(CARTPOLE, sandboxes.choose(None), prepare=True) as started:
        yield started


def judged(verifier: Verifier, name: str, seed: int, tree: Path) -> Verdict:
    """The verdict of level 3 on a candidate that pays one too much where a predicate holds."""
    plant(CARTPOLE, of_cartpole(name, CARTPOLE_RARE[name]), tree)
    return verifier.verify(tree, LevelsRequest((3,), seed, stop_at_failure=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", by_day(CARTPOLE_RARE, {"fast to the right", "fast to the left", "a late fall"}))
def test_a_fault_in_a_rare_state_is_found(verifier: Verifier, name: str, tmp_path: Path) -> None:
    verdict = judged(verifier, name, SEED, tmp_path)
    assert verdict.outcome is Outcome.FAIL, verdict.error
    [found] = verdict.reports[-1].divergences
    assert (found.check, found.path) == ("auto-reset batch" if name in BY_THE_BATCH else "exploration", "reward")


@pytest.mark.nightly
@pytest.mark.parametrize("name", CARTPOLE_RARE)
def test_it_is_found_from_every_seed_and_mostly_not_without(
    verifier: Verifier, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [judged(verifier, name, seed, tmp_path / f"with-{seed}").outcome for seed in SEEDS]
    assert set(outcomes) == {Outcome.FAIL}
    monkeypatch.setattr(verifier, "task", replace(CARTPOLE, budgets=replace(CARTPOLE.budgets, exploration=0)))
    missed = [judged(verifier, name, seed, tmp_path / f"without-{seed}").outcome is Outcome.PASS for seed in SEEDS]
    assert sum(missed) > len(SEEDS) / 2
