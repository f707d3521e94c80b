"""The nouns: cases and trajectories as data, digests, verdicts."""

from __future__ import annotations

import json
from dataclasses import replace

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from harness.model import Case, Draw, Trajectory, array_from_json, array_to_json
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict

DTYPES = ["bool", "int8", "uint64", "float16", "float32", "float64"]
ARRAYS = st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_side=3)))
LEAVES = st.dictionaries(st.sampled_from(["state/a", "state/b"]), ARRAYS, min_size=1)
DRAWS = st.lists(st.lists(st.builds(Draw, st.sampled_from(["coin", "die"]), ARRAYS), max_size=2).map(tuple)).map(tuple)
CASES = st.builds(
    Case,
    seed=st.integers(0, (1 << 63) - 1),
    actions=st.builds(lambda length: {"action": np.arange(length)}, st.integers(0, 4)),
    start=st.none() | LEAVES,
    draws=st.none() | DRAWS,
    name=st.text(max_size=5),
    origin=st.text(max_size=5),
)
CASE = Case(7, {"action": np.array([0, 1, 1])}, draws=((Draw("coin", np.array(1)),), (), (), ()))


def bits(array: np.ndarray) -> tuple:
    """What an array is, where every NaN is the same: JSON keeps no payloads."""
    array = np.where(np.isnan(array), np.nan, array).astype(array.dtype) if array.dtype.kind == "f" else array
    return array.dtype.str, array.shape, array.tobytes()


@given(ARRAYS)
def test_an_array_comes_back_from_strict_json(array: np.ndarray) -> None:
    described = json.loads(json.dumps(array_to_json(array), allow_nan=False))
    assert bits(array_from_json(described)) == bits(array)


@given(CASES)
def test_a_case_comes_back_from_json_with_the_same_digest(case: Case) -> None:
    back = Case.from_json(json.loads(json.dumps(case.to_json(), allow_nan=False)))
    assert back.digest == case.digest
    assert (back.seed, back.name, back.origin) == (case.seed, case.name, case.origin)


@pytest.mark.parametrize("described", [{}, {"seed": 1}, {"seed": "x", "actions": {}}, {"seed": 1, "actions": {"a": 1}}])
def test_what_is_no_case_is_refused(described: dict) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Case.from_json(described)


def test_a_digest_depends_on_what_a_case_does_and_not_on_its_name() -> None:
    assert replace(CASE, name="edge", origin="user").digest == CASE.digest
    others = [
        replace(CASE, seed=8),
        replace(CASE, actions={"action": np.array([0, 1, 0])}),
        replace(CASE, actions={"action": np.array([0, 1, 1], np.int32)}),
        replace(CASE, actions={"action/x": np.array([0, 1, 1])}),
        replace(CASE, draws=None),
        replace(CASE, draws=((Draw("coin", np.array(0)),), (), (), ())),
        replace(CASE, draws=((Draw("die", np.array(1)),), (), (), ())),
        replace(CASE, draws=((), (Draw("coin", np.array(1)),), (), ())),
        replace(CASE, start={"state/x": np.array(0.0)}),
        replace(CASE, start={"state/x": np.array(-0.0)}),
    ]
    assert len({case.digest for case in [CASE, *others]}) == 1 + len(others)


def test_a_cut_case_keeps_its_draws_up_to_its_last_timestep() -> None:
    cut = CASE.cut(1)
    assert cut.length == 1 and cut.draws is not None and len(cut.draws) == 2 and cut.seed == CASE.seed
    assert CASE.cut(9).length == CASE.length


def test_the_timesteps_of_a_trajectory_are_the_reset_and_each_step() -> None:
    played = Trajectory(
        CASE, {"reward": np.arange(3.0), "state/x": np.arange(3)}, ((), (), (Draw("coin", np.array(1)),))
    )
    assert (played.timesteps, played.steps) == (3, 2)
    assert played.state(1) == {"state/x": 1}
    last = played.transition(2)
    assert last.outputs == {"reward": 2.0} and last.state == {"state/x": 2} and last.draws[0].name == "coin"


def test_a_trajectorys_digest_depends_on_every_bit_and_no_order() -> None:
    leaves = {"reward": np.zeros(2), "observation": np.zeros((2, 3), np.float32)}
    played = Trajectory(CASE, leaves, ((), ()))
    assert Trajectory(CASE, dict(reversed(leaves.items())), ((), ())).digest == played.digest
    others = [
        {**leaves, "reward": np.array([0.0, -0.0])},
        {**leaves, "reward": np.zeros(2, np.int64)},
        {**leaves, "observation": np.zeros((2, 1, 3), np.float32)},
        {"reward": leaves["reward"], "observations": leaves["observation"]},
    ]
    digests = {Trajectory(CASE, other, ((), ())).digest for other in others}
    digests.add(Trajectory(CASE, leaves, ((), (Draw("coin", np.array(0)),))).digest)
    digests.add(Trajectory(CASE, leaves, ((Draw("coin", np.array(0)),), ())).digest)
    assert len(digests | {played.digest}) == 7


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [
        ([], Outcome.SKIPPED),
        ([Outcome.SKIPPED], Outcome.SKIPPED),
        ([Outcome.SKIPPED, Outcome.PASS], Outcome.PASS),
        ([Outcome.PASS, Outcome.ERROR], Outcome.ERROR),
        ([Outcome.ERROR, Outcome.FAIL, Outcome.PASS], Outcome.FAIL),
    ],
)
def test_the_whole_is_as_good_as_its_worst_part(outcomes: list[Outcome], whole: Outcome) -> None:
    assert Outcome.worst(outcomes) is whole
    report = LevelReport(3, None, tuple(CheckResult("check", outcome) for outcome in outcomes), seed=1)
    assert report.outcome is whole
    assert Verdict((report,), 1, "digest", "process", False).outcome is whole
    assert Verdict((report,), 1, "digest", "process", False, error="lost").outcome is Outcome.ERROR


def test_the_bound_on_the_rate_of_divergence_is_that_of_an_exact_binomial_test() -> None:
    passed = (CheckResult("rollout", Outcome.PASS),)
    report = LevelReport(3, None, passed, seed=1, episodes=256)
    assert report.divergence_bound == pytest.approx(1 - 0.05 ** (1 / 256))
    assert replace(report, episodes=0).divergence_bound is None
    assert replace(report, checks=(CheckResult("rollout", Outcome.FAIL),)).divergence_bound is None


def test_a_verdict_is_ready_for_json() -> None:
    difference = Divergence(CASE, 2, "observation/board", "1", "2", "value", 3, "rollout", index=(3, 4))
    assert difference.address == "observation/board[3,4]"
    check = CheckResult("rollout", Outcome.FAIL, examples=9, divergences=(difference,))
    verdict = Verdict((LevelReport(3, None, (check,), seed=5),), 5, "digest", "process", False)
    described = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert described["outcome"] == "FAIL" and verdict.divergences == (difference,)
    shown = described["levels"][0]["checks"][0]["divergences"][0]
    assert shown["address"] == "observation/board[3,4]"
    assert Case.from_json(shown["case"]).digest == CASE.digest
