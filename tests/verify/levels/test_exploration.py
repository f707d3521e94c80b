"""The exploration as a check of level 3: what it reports, that it repeats, and that a task can do without."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.task.load import load_task
from harness.verdict import Outcome
from tests.verify.levels.conftest import Walk

BUDGET = 6000


def exploring(make_walk: Callable[[], Walk], steps: int = BUDGET) -> Walk:
    """A walk that is explored for so many steps."""
    walk = make_walk()
    walk.edit("task.toml", [("samples = 4000", f"samples = 4000\nexploration = {steps}")])
    return walk


@pytest.mark.slow
@pytest.mark.parametrize("restores", [True, False])
def test_the_right_candidate_passes_and_is_told_what_was_explored(
    make_walk: Callable[[], Walk], restores: bool
) -> None:
    walk = exploring(make_walk)
    if not restores:
        walk.edit("reference/adapter.py", [("without=()", 'without=("restore",)')])
    verdict = walk.verify((3,), seed=8)
    assert verdict.outcome is Outcome.PASS, verdict.error
    [report] = verdict.reports
    last = report.checks[-1]
    assert last.name == "exploration"
    assert "cells were reached" in last.detail
    assert report.steps > BUDGET / 3, "explored steps count"
    assert report.episodes == load_task(walk.directory).budgets.episodes, "and explored cases are no episodes"
    again = walk.verify((3,), seed=8).reports[0]
    assert (again.evidence, again.checks[-1].detail) == (report.evidence, last.detail)


@pytest.mark.slow
def test_a_task_can_do_without(make_walk: Callable[[], Walk]) -> None:
    verdict = exploring(make_walk, 0).verify((3,))
    assert verdict.outcome is Outcome.PASS, verdict.error
    assert "exploration" not in {check.name for check in verdict.reports[-1].checks}
