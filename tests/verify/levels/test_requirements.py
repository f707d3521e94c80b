"""What a task requires of a level is judged by what the level compared: the table of outcomes in a verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from harness.verdict import LevelReport, Outcome, Verdict
from tests.verify.levels.conftest import Walk

MET = """
[[require]]
end = "terminated"

[[require]]
end = "truncated"

[[require]]
feature = "walked off"
times = 2

[[require]]
action = 2
times = 50

[[require]]
leaf = "state/steps"
bound = "low"
level = 2
"""
MISSED = """
[[require]]
end = "both"
times = 1000

[[require]]
action = 0
"""


def requiring(walk: Walk, text: str) -> Walk:
    """A walk that is little explored and requires something."""
    walk.edit("task.toml", [("samples = 4000", f"samples = 4000\nexploration = 2000\n{text}")])
    return walk


def outcomes(report: LevelReport) -> dict[str, Outcome]:
    return {check.name: check.outcome for check in report.checks}


@pytest.mark.slow
def test_what_is_met_passes_and_what_is_missed_is_named(make_walk: Callable[[], Walk]) -> None:
    verdict = requiring(make_walk(), MET).verify((2, 3), seed=5)
    assert verdict.outcome is Outcome.PASS, verdict.to_json()
    second, third = verdict.reports
    assert [check.name for check in third.checks][-1] == "requirements"
    assert third.checks[-1].detail.startswith("end terminated ")
    assert second.checks[-1].detail.startswith("state/steps low ")
    table = third.occurred
    assert table is not None and table.ends["terminated"] > 0 and table.ends["truncated"] > 0
    assert table.steps <= third.steps, "batches are steps that the candidate chose"
    assert table.reward_range is not None and "observation" not in table.unreached, "it has no bounds"
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))).reports[1].occurred == table

    other = requiring(make_walk(), MISSED)
    verdict = other.verify((3,), seed=5)
    [report] = verdict.reports
    assert verdict.outcome is report.outcome is Outcome.INCONCLUSIVE
    assert {name for name, each in outcomes(report).items() if each is not Outcome.PASS} == {"requirements"}
    assert re.match(r"missed: end both \d+ of 1,000 times. No difference was found", report.checks[-1].detail)
    again = other.verify((3,), seed=5)
    assert again.reports[0].occurred == report.occurred == table, "it follows from the seed"


@pytest.mark.slow
def test_a_failure_stays_one_and_a_part_of_a_level_requires_nothing(make_walk: Callable[[], Walk]) -> None:
    text = MISSED.replace("times = 1000", "times = 1000\nlevel = 1").replace("action = 0", "action = 0\nlevel = 1")
    walk = requiring(make_walk(), text)
    assert "requirements" not in outcomes(walk.verify((1,), module="ending").reports[0])
    whole = walk.verify((1,)).reports[0]
    assert whole.outcome is outcomes(whole)["requirements"] is Outcome.INCONCLUSIVE
    wrong = requiring(make_walk(), text)
    wrong.edit("candidate/env.py", [("jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -0.5)")])
    failed = wrong.verify((1,)).reports[0]
    assert failed.outcome is Outcome.FAIL and "requirements" not in outcomes(failed)


@pytest.mark.slow
def test_a_feature_that_the_task_does_not_declare_is_refused_at_its_line(make_walk: Callable[[], Walk]) -> None:
    walk = requiring(make_walk(), '\n[[require]]\nfeature = "walked of"\n')
    verdict = walk.verify((1,))
    assert verdict.outcome is Outcome.ERROR and verdict.reports == ()
    line = (walk.directory / "task.toml").read_text().split("\n").index('feature = "walked of"') + 1
    assert f"task.toml:{line}: require[0].feature: unknown feature `walked of`" in verdict.error
    assert "did you mean `walked off`?" in verdict.error
