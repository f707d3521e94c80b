"""For how long open loops can be compared: measured on the reference, which is started a little off."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.compare import compare_many
from harness.errors import Raised
from harness.model import Case, Leaf, Trajectory
from harness.task.contract import Mode, Tolerance
from harness.verify.open_loop import agreed_steps, comparable_steps, own_steps, parted_steps, together
from harness.verify.pair import Pair

STEPS = 60
LEAVES = {
    path: Leaf(path, "bool" if path.endswith("ted") else "float64")
    for path in ("observation", "terminated", "truncated")
}


class Growing:
    """A number that is multiplied in each step: nothing that it is off grows otherwise."""

    spec: Any = None

    def __init__(self, factor: float, dtype: type = np.float64) -> None:
        self._factor, self._dtype = factor, dtype

    def rollout(self, cases: Sequence[Case]) -> list[Trajectory]:
        return [self._played(case) for case in cases]

    def _played(self, case: Case) -> Trajectory:
        begun = 1.0 if case.start is None else float(case.start["state/n"])
        numbers = (begun * self._factor ** np.arange(case.length + 1)).astype(self._dtype)
        never = np.zeros(case.length + 1, bool)
        leaves: dict[str, Any] = {"state/n": numbers, "observation": numbers, "terminated": never, "truncated": never}
        return Trajectory(case, leaves)


def pair_of(reference: Growing, atol: float, precision: str = "float64") -> Any:
    """A stand-in for a pair whose one side is never asked."""
    tolerances = {"observation": Tolerance(atol=atol)}

    def differences(expected: Any, actual: Any, only: Any) -> Any:
        kept = [
            [Trajectory(one.case, {path: one.leaves[path] for path in only}) for one in side]
            for side in (expected, actual)
        ]
        return compare_many(*kept, LEAVES, tolerances)

    outputs = {"state/n": Leaf("state/n", "float64"), **LEAVES}
    task = SimpleNamespace(outputs=outputs, candidate=SimpleNamespace(precision=precision))
    return SimpleNamespace(reference=reference, differences=differences, task=task)


@pytest.mark.parametrize(
    ("factor", "expected"), [(2.0, 20), (1.0, STEPS), (0.5, STEPS)], ids=["chaotic", "neutral", "forgetful"]
)
def test_the_reference_tells_after_how_many_steps_it_parts_from_itself(factor: float, expected: int) -> None:
    """A start that is off by 2^-40, doubled, is beyond 2^-20 in the twenty-first step."""
    reference = Growing(factor)
    played = reference.rollout([Case(0, {"action": np.zeros(STEPS)})])
    assert comparable_steps(pair_of(reference, 2.0**-20 * 1.001), played) == expected


@pytest.mark.parametrize(
    ("atol", "expected"), [(2.0**-44, 2), (2.0**-50, 2), (0.0, STEPS)], ids=["less", "one", "none"]
)
def test_a_start_is_off_by_no_more_than_the_tolerances_forgive(atol: float, expected: int) -> None:
    """So nothing is excused where they forgive nothing, and the first rows are always compared."""
    reference = Growing(2.0)
    played = reference.rollout([Case(0, {"action": np.zeros(STEPS)})])
    assert comparable_steps(pair_of(reference, atol * 1.001), played) == expected


def test_a_narrow_float_is_moved_by_its_own_units() -> None:
    reference = Growing(2.0, np.float32)
    played = reference.rollout([Case(0, {"action": np.zeros(STEPS)})])
    assert comparable_steps(pair_of(reference, 2.0**-8 * 1.001), played) == 3


def test_beside_a_candidate_in_float32_a_start_is_off_by_units_of_float32() -> None:
    """A start that is off by 2^-23, doubled, is beyond 2^-20 in the fourth step; by thousands it is at once."""
    reference = Growing(2.0)
    played = reference.rollout([Case(0, {"action": np.zeros(STEPS)})])
    pair = pair_of(reference, 2.0**-20 * 1.001, "float32")
    assert own_steps(pair, played) == [3] and comparable_steps(pair, played) == 3


@pytest.mark.parametrize(
    ("ends", "rows"),
    [([], 6), ([3], 9), ([3, 6], 12), ([7], 6), ([3, 10], 9)],
    ids=["no end", "an end in time", "two", "an end too late", "the second too late"],
)
def test_an_episode_that_ended_in_time_is_followed_by_one_that_begins_alike(ends: list[int], rows: int) -> None:
    ended = np.zeros(20, bool)
    ended[ends] = True
    assert together(ended, 5) == rows


def test_no_more_rows_are_compared_than_there_are() -> None:
    assert together(np.zeros(4, bool), 5) == 4


@pytest.mark.parametrize(
    ("bias", "expected"), [(0.0, STEPS), (2.0**-22, 4), (2.0**-19, 0)], ids=["none", "some", "much"]
)
def test_a_bias_that_each_step_is_forgiven_shows_in_the_open_loop(bias: float, expected: int) -> None:
    pair, cases = pair_of(Growing(1.0), 2.0**-20 * 1.001), [Case(0, {"action": np.zeros(STEPS)})] * 2
    played, alone = Growing(1.0).rollout(cases), Growing(1.0 + bias).rollout(cases)
    assert agreed_steps(pair, played, alone) == [expected] * 2


def test_the_reference_agrees_with_itself_a_unit_off_for_longer_than_thousands() -> None:
    """A start that is off by 2^-52, doubled, is beyond 2^-20 in the thirty-third step."""
    reference = Growing(2.0)
    played = reference.rollout([Case(0, {"action": np.zeros(STEPS)})] * 2)
    assert own_steps(pair_of(reference, 2.0**-20 * 1.001), played) == [32, 32]


@pytest.mark.parametrize(
    ("mode", "capabilities", "expected"),
    [(Mode.NONE, (), 2), (Mode.TAPE, (), 0), (Mode.TAPE, ("force_draws",), 2)],
)
def test_nothing_is_told_where_the_reference_takes_no_draws(mode: Mode, capabilities: Any, expected: int) -> None:
    reference = Growing(2.0)
    pair = pair_of(reference, 2.0**-20 * 1.001)
    pair.task.mode, pair.reference.spec = mode, SimpleNamespace(capabilities=capabilities)
    pair.reference_takes_draws = Pair.reference_takes_draws.__get__(pair)
    played = reference.rollout([Case(0, {"action": np.zeros(STEPS)})] * 2)
    assert parted_steps(pair, played, played) == [(STEPS, 32)] * expected


def test_all_is_compared_where_the_reference_refuses_every_start_that_is_off() -> None:
    class Refusing(Growing):
        def rollout(self, cases: Sequence[Case]) -> list[Trajectory]:
            if any(case.start is not None and case.start["state/n"] != 1.0 for case in cases):
                raise Raised("no such state", where="restore")
            return super().rollout(cases)

    played = Growing(2.0).rollout([Case(0, {"action": np.zeros(STEPS)})])
    assert comparable_steps(pair_of(Refusing(2.0), 2.0**-20), played) == STEPS


def test_nothing_is_told_where_the_reference_refuses_to_start_a_little_off() -> None:
    def refuses(cases: Sequence[Case]) -> Any:
        raise Raised("no such state", where="restore")

    reference = Growing(2.0)
    pair = pair_of(reference, 1.0)
    played = reference.rollout([Case(0, {"action": np.zeros(STEPS)})])
    pair.reference_takes_draws, pair.reference = True, SimpleNamespace(rollout=refuses)
    assert parted_steps(pair, played, played) == []
