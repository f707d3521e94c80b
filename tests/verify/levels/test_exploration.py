"""Wrong candidates whose faults show in rare states only: the exploration finds them, what came before it does not.

Each adds to the reward where a predicate holds that random, sticky and scripted play meets in fewer than one of a thousand steps.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.task.load import load_task
from harness.verdict import Outcome, Verdict
from tests.verify.levels.conftest import Walk

BUDGET = 20_000
SEEDS = (1, 2, 3, 4, 5)
RETURNED = "    return after, outputs(after, reward)"
RARE = {
    "the last steps, far to the right": "(after['steps'] >= 38) & (after['place'] > 4.0)",
    "the last steps, far to the left": "(after['steps'] >= 38) & (after['place'] < -4.0)",
    "terminated and truncated at once": "(after['steps'] >= 40) & (jnp.abs(after['place']) > 5.0)",
    "a fall in the last steps but two": "(after['steps'] == 38) & (jnp.abs(after['place']) > 5.0)",
    "just inside the right edge, late": "(after['place'] > 4.9) & (after['place'] <= 5.0) & (state['steps'] > 25)",
    "just inside the left edge, late": "(after['place'] < -4.9) & (after['place'] >= -5.0) & (state['steps'] > 25)",
    "far out, and back by a gust": "(state['place'] > 4.5) & (state['place'] <= 5.0) & (after['place'] < 3.0) & (action == 2)",
    "far beyond the edge": "jnp.abs(after['place']) > 6.8",
    "a gust of the largest kind": "(action == 2) & (jnp.abs(after['place'] - state['place']) > 3.4)",
    "late on the right, a step to the left": "(state['steps'] > 33) & (state['place'] > 4.0) & (action == 0)",
    "late on the left, a step to the right": "(state['steps'] > 33) & (state['place'] < -4.0) & (action == 1)",
}
"""Faults by what makes a state rare."""


def faulty(make_walk: Callable[[], Walk], predicate: str | None, exploration: int = BUDGET) -> Walk:
    """A walk whose candidate pays one too much where a predicate holds."""
    walk = make_walk()
    walk.edit("task.toml", [("samples = 4000", f"samples = 4000\nexploration = {exploration}")])
    if predicate is not None:
        walk.edit("candidate/env.py", [(RETURNED, RETURNED[:-1] + f" + jnp.float32({predicate}))")])
    return walk


def first_failing(verdict: Verdict) -> str:
    """The check that fails; empty where none does."""
    assert not verdict.error, verdict.error
    return next((check.name for check in verdict.reports[-1].checks if check.outcome is not Outcome.PASS), "")


@pytest.mark.slow
@pytest.mark.parametrize("predicate", RARE.values(), ids=RARE)
def test_a_fault_in_a_rare_state_is_found(make_walk: Callable[[], Walk], predicate: str) -> None:
    verdict = faulty(make_walk, predicate).verify((3,), seed=SEEDS[0])
    assert verdict.outcome is Outcome.FAIL
    [found] = verdict.reports[-1].divergences
    assert found.path == "reward"
    assert found.case is not None
    assert found.case.length == 1, "one step from the rare state shows it"


@pytest.mark.nightly
@pytest.mark.parametrize("predicate", RARE.values(), ids=RARE)
def test_it_is_found_from_every_seed_and_mostly_not_without(make_walk: Callable[[], Walk], predicate: str) -> None:
    exploring, other = faulty(make_walk, predicate), faulty(make_walk, predicate, 0)
    assert all(first_failing(exploring.verify((3,), seed=seed)) for seed in SEEDS)
    assert sum(first_failing(other.verify((3,), seed=seed)) == "" for seed in SEEDS) > len(SEEDS) / 2


@pytest.mark.slow
def test_the_right_candidate_passes_and_is_told_what_was_explored(make_walk: Callable[[], Walk]) -> None:
    walk = faulty(make_walk, None)
    verdict = walk.verify((3,), seed=8)
    assert verdict.outcome is Outcome.PASS, verdict.error
    [report] = verdict.reports
    last = report.checks[-1]
    assert last.name == "exploration"
    assert "cells were reached; ends: " in last.detail
    assert "terminated and truncated" in last.detail
    assert report.steps > BUDGET / 3, "explored steps count"
    assert report.episodes == load_task(walk.directory).budgets.episodes, "and explored cases are no episodes"
    again = walk.verify((3,), seed=8).reports[0]
    assert (again.evidence, again.checks[-1].detail) == (report.evidence, last.detail)


@pytest.mark.slow
def test_a_reference_that_cannot_restore_is_explored_by_replaying(make_walk: Callable[[], Walk]) -> None:
    walk = faulty(make_walk, RARE["the last steps, far to the right"])
    walk.edit("reference/adapter.py", [("without=()", 'without=("restore",)')])
    verdict = walk.verify((3,), seed=SEEDS[0])
    assert first_failing(verdict) == "exploration"
    [found] = verdict.reports[-1].divergences
    assert found.case is not None
    assert found.case.start is None


@pytest.mark.slow
def test_a_task_can_do_without(make_walk: Callable[[], Walk]) -> None:
    verdict = faulty(make_walk, None, 0).verify((3,))
    assert verdict.outcome is Outcome.PASS, verdict.error
    assert "exploration" not in {check.name for check in verdict.reports[-1].checks}
