"""Tolerances that are a share of a scale: forgiven, found and told at every level, and nothing that a candidate can widen."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.model import Case
from harness.verdict import Outcome, Verdict
from tests.verify.levels.conftest import MOVE, Walk
from tests.verify.levels.test_floats import GUST

SHARE = [("[tolerance]\n", '[tolerance]\n"state/place" = { scale = 1e-8 }\nobservation = { scale = 1e-7 }\n')]
"""The walker comes to about 5, so that it may be off by some 5e-8 in a step."""
HUGE = MOVE.replace('state["place"] + move', 'jnp.where(state["place"] < -4.9, 1e12, state["place"] + move)')


def off_by(distance: float) -> tuple[str, str]:
    return GUST, f'jnp.where(windy, draws["gust"] + {distance},'


@pytest.mark.slow
def test_a_step_may_be_off_by_the_share_of_the_scale_and_the_verdict_tells_both(walk: Walk) -> None:
    walk.edit("candidate/env.py", [off_by(2e-8)])
    walk.edit("task.toml", SHARE)
    verdict = walk.verify()
    assert verdict.outcome is Outcome.PASS, verdict.reports[-1].divergences
    assert 4.0 < verdict.scales["state/place"] < 12.0 and set(verdict.scales) == {"state/place", "observation"}
    for report in verdict.reports:
        off = report.deviations["state/place"]
        assert off.absolute is not None and off.share is not None and report.resynchronised
        assert off.absolute.largest == pytest.approx(2e-8, rel=1e-6)
        assert off.share == pytest.approx(2e-8 / (1e-8 * verdict.scales["state/place"]), rel=1e-6)
    told = dict(verdict.reports[0].floats_told)
    assert told["episodes"].startswith("resynchronised") and verdict.reports[2].open_loop is not None
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))).scales == verdict.scales


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2, 3])
def test_what_is_off_by_more_is_found_at_every_level(walk: Walk, level: int) -> None:
    walk.edit("candidate/env.py", [off_by(2e-7)])
    walk.edit("task.toml", SHARE)
    [divergence] = walk.verify((level,)).divergences
    assert (divergence.level, divergence.path, divergence.rule) == (level, "state/place", "value")


@pytest.mark.slow
def test_a_candidate_that_answers_huge_numbers_widens_no_tolerance(walk: Walk) -> None:
    walk.edit("task.toml", SHARE)
    honest = walk.verify((1,))
    walk.edit("candidate/env.py", [(MOVE, HUGE)])
    cheating = walk.verify((1,))
    assert (honest.outcome, cheating.outcome) == (Outcome.PASS, Outcome.FAIL)
    assert honest.scales == cheating.scales


@pytest.mark.slow
@pytest.mark.parametrize("directory", ["cases", "proposed/cases"])
def test_a_case_that_begins_far_out_widens_no_tolerance(walk: Walk, directory: str) -> None:
    """An agent may propose where a case begins."""
    walk.edit("task.toml", SHARE)
    walk.edit("candidate/env.py", [off_by(2e-7)])
    start = {"state/place": np.array(-1e9), "state/steps": np.array(3, np.int32)}
    case = Case(3, {"action": np.ones(4, np.int32)}, start, name="far out", origin="proposed")
    (walk.directory / directory).mkdir(parents=True, exist_ok=True)
    (walk.directory / directory / "far.json").write_text(json.dumps(case.to_json()))
    verdict = walk.verify((2,))
    assert verdict.outcome is Outcome.FAIL and verdict.scales["state/place"] < 12.0
