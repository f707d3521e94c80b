"""Steps in which a reference goes one way or another by the last digit of the state before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from harness.compare import Difference, compare_many
from harness.errors import Raised, Side
from harness.model import Case, Leaf, Trajectory
from harness.task.contract import Tolerance
from harness.verify import forks
from harness.verify.resynchronised import step_by_step, step_of

LEAVES = {path: Leaf(path, dtype) for path, dtype in {"state/n": "float64", "state/k": "int32"}.items()}
LEAVES |= {path: Leaf(path, "bool") for path in ("terminated", "truncated")}
TOLERANCES = {"state/n": Tolerance(atol=1e-9)}
JUMP = 3e-9

Rule = Callable[[float], float]
"""What a step adds to half of a number."""


def by_last_digit(number: float, jump: float = JUMP) -> float:
    """Adds or does not by the bits of the number: a unit up or down is the other way from one number in three at least."""
    return jump if int(np.float64(number).view(np.int64)) % 3 == 0 else 0.0


def other_way(number: float, jump: float = JUMP) -> float:
    """Adds where `by_last_digit` does not."""
    return jump - by_last_digit(number, jump)


def nothing(number: float) -> float:
    return 0.0


def far(number: float) -> float:
    return JUMP


class Halving:
    """Halves its number and adds what a rule says; refuses numbers above a limit."""

    def __init__(self, rule: Rule, *, limit: float = np.inf, flag: bool = False) -> None:
        self.rule, self.limit, self.flag = rule, limit, flag
        self.asked = 0

    def __call__(self, cases: Sequence[Case]) -> list[Trajectory]:
        self.asked += len(cases)
        return [self.played(case) for case in cases]

    def played(self, case: Case) -> Trajectory:
        numbers = [0.7 if case.start is None else float(case.start["state/n"])]
        if numbers[0] > self.limit:
            raise Raised("this state is none", side=Side.REFERENCE)
        for _ in range(case.length):
            numbers.append(numbers[-1] / 2 + self.rule(numbers[-1]))
        ends = np.zeros(len(numbers), bool)
        jumped = np.array([False, *(self.flag and self.rule(number) > 0 for number in numbers[:-1])])
        leaves = {
            "state/n": np.array(numbers),
            "state/k": jumped.astype(np.int32),
            "terminated": ends,
            "truncated": ends,
        }
        return Trajectory(case, leaves)


def compare(one: Sequence[Trajectory], other: Sequence[Trajectory], room: int) -> list[Difference | None]:
    return compare_many(one, other, LEAVES, {path: forks.times(each, room) for path, each in TOLERANCES.items()})


def judged(reference: Halving, candidate: Halving, numbers: Sequence[float], steps: int = 1) -> tuple[list[bool], int]:
    """Of an episode from each number whether it differs, and how many forks there were."""
    cases = [Case(1, {"action": np.zeros(steps)}, start={"state/n": np.float64(number)}) for number in numbers]
    expected = reference(cases)
    actual = step_by_step(candidate, expected, forced=False)

    def ask(trajectory: Trajectory, step: int) -> list[Trajectory]:
        return forks.from_beside(reference, step_of(trajectory, step, forced=False), "float64")

    found = compare(expected, actual, 1)
    left, count = forks.without_forks(expected, actual, found, expected, compare, ask)
    return [each is not None for each in left], count


NUMBERS = np.random.default_rng(0).uniform(0.1, 0.9, 12).tolist()


def test_where_the_reference_goes_both_ways_either_is_right() -> None:
    """Half of all steps differ, and none is a fault."""
    differ, count = judged(Halving(by_last_digit), Halving(other_way), NUMBERS, steps=5)
    assert (any(differ), count) == (False, 12 * 5)


def test_equal_steps_are_no_forks_and_ask_nothing() -> None:
    reference = Halving(by_last_digit)
    assert judged(reference, Halving(by_last_digit), NUMBERS) == ([False] * 12, 0)
    assert reference.asked == 12


def test_a_way_that_the_reference_does_not_go_is_a_difference() -> None:
    """Neither where it goes one way alone, nor between its two ways."""
    for reference, candidate in ((nothing, far), (by_last_digit, lambda number: JUMP / 2)):
        assert judged(Halving(reference), Halving(candidate), NUMBERS) == ([True] * 12, 0)


def test_a_jump_of_more_than_ten_tolerances_is_a_difference() -> None:
    """A limit of the rules is at the same number in a right translation."""
    wide, wider = (partial(by_last_digit, jump=jump) for jump in (9.9e-9, 10.1e-9))
    assert not any(judged(Halving(wide), Halving(partial(other_way, jump=9.9e-9)), NUMBERS)[0])
    assert all(judged(Halving(wider), Halving(partial(other_way, jump=10.1e-9)), NUMBERS)[0])


def test_whole_numbers_are_the_same_at_forks_too() -> None:
    assert all(judged(Halving(by_last_digit, flag=True), Halving(other_way, flag=True), NUMBERS)[0])


def test_what_differs_after_a_fork_is_found() -> None:
    def wrong(number: float) -> float:
        return other_way(number) if number > 0.2 else -5e-9

    differ, count = judged(Halving(by_last_digit), Halving(wrong), [0.7], steps=4)
    assert (differ, count) == ([True], 2)


def test_many_differences_are_no_forks() -> None:
    """Nothing is asked then: a candidate that is wrong everywhere costs no more than it did."""
    numbers = np.random.default_rng(1).uniform(0.1, 0.9, 40).tolist()
    reference = Halving(by_last_digit)
    differ, count = judged(reference, Halving(other_way), numbers)
    assert (all(differ), count, reference.asked) == (True, 0, 40)


def test_states_that_the_reference_refuses_are_passed_over() -> None:
    number = next(each for each in NUMBERS if by_last_digit(each))
    assert judged(Halving(by_last_digit, limit=number), Halving(other_way), [number]) == ([False], 1)


def test_a_step_is_judged_alike_wherever_it_is_met() -> None:
    case = Case(1, {"action": np.zeros(1)}, start={"state/n": np.float64(0.3)})
    first, second = (forks.from_beside(Halving(by_last_digit), case, "float64") for _ in range(2))
    assert [one.digest for one in first] == [one.digest for one in second]
    starts = {float(one.leaves["state/n"][0]) for one in first}
    far = max(forks.UNITS) * 0.3 * np.finfo(np.float64).eps
    assert len(starts) > 16 and far / 2 < max(abs(start - 0.3) for start in starts) < 1.01 * far


def test_the_last_place_is_that_of_the_floats_in_which_a_candidate_computes() -> None:
    case = Case(1, {"action": np.zeros(1)}, start={"state/n": np.float64(0.3), "state/k": np.int32(4)})
    starts = {float(one.leaves["state/n"][0]) for one in forks.from_beside(Halving(nothing), case, "float32")}
    assert max(starts) - 0.3 == pytest.approx(max(forks.UNITS) * 0.3 * np.finfo(np.float32).eps, rel=0.2)
