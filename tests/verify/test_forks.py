"""Steps in which a reference goes one way or another by the last digit of the state before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from harness.compare import compare_many
from harness.errors import Raised, Side
from harness.model import Case, Leaf, Trajectory
from harness.task.contract import Tolerance
from harness.verify.forks import FEW, TRIES, UNITS, WRONG, Forks
from harness.verify.resynchronised import step_by_step, step_of

LEAVES = {path: Leaf(path, dtype) for path, dtype in {"state/n": "float64", "state/k": "int32"}.items()}
LEAVES |= {path: Leaf(path, "bool") for path in ("terminated", "truncated")}
TOLERANCE = Tolerance(atol=1e-9)
JUMP = 3e-9

Rule = Callable[[float], float]
"""What a step adds to half of a number."""


def by_last_digit(number: float, jump: float = JUMP, one_in: int = 3) -> float:
    """Adds or does not by the bits of the number."""
    return jump if int(np.float64(number).view(np.int64)) % one_in == 0 else 0.0


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


def judged(
    reference: Halving,
    candidate: Halving,
    numbers: Sequence[float],
    steps: int = 1,
    *,
    tolerance: Tolerance = TOLERANCE,
    precision: str = "float64",
    **bounds: float,
) -> tuple[list[bool], int]:
    """Of an episode from each number whether it differs, and how many forks there were."""
    leaves = LEAVES | {"state/n": replace(LEAVES["state/n"], **bounds)}
    tolerances = {"state/n": tolerance}
    cases = [Case(1, {"action": np.zeros(steps)}, start={"state/n": np.float64(number)}) for number in numbers]
    expected = reference(cases)
    actual = step_by_step(candidate, expected, forced=False)

    def begin(number: int, step: int) -> Case:
        return step_of(expected[number], step, forced=False)

    found = compare_many(expected, actual, leaves, tolerances)
    forks = Forks(leaves, tolerances, precision)
    left = forks.without(found, expected, actual, begin, reference)
    return [each is not None for each in left], forks.count


NUMBERS = np.random.default_rng(0).uniform(0.1, 0.9, 12).tolist()


def test_where_the_reference_goes_both_ways_either_is_right() -> None:
    differ, count = judged(Halving(by_last_digit), Halving(other_way), NUMBERS)
    assert (any(differ), count) == (False, 12)


def test_equal_steps_are_no_forks_and_ask_nothing() -> None:
    reference = Halving(by_last_digit)
    assert judged(reference, Halving(by_last_digit), NUMBERS) == ([False] * 12, 0)
    assert reference.asked == 12


def test_a_way_that_the_reference_does_not_go_is_a_difference() -> None:
    """Neither where it goes one way alone, nor between its two ways."""
    for reference, candidate in ((nothing, far), (by_last_digit, lambda number: JUMP / 2)):
        assert judged(Halving(reference), Halving(candidate), NUMBERS) == ([True] * 12, 0)


def test_a_way_that_the_reference_hardly_ever_goes_is_a_difference() -> None:
    """From one of 129 numbers beside some of these, and from none that is nearer."""
    rare = partial(by_last_digit, one_in=1009)
    numbers = np.random.default_rng(2).uniform(0.5, 1.0, 120)
    far_from_it = [
        each for each in numbers.tolist() if not any(rare(each + k * np.spacing(each)) for k in range(-16, 17))
    ]
    assert not any(judged(Halving(rare), Halving(far), [number])[1] for number in far_from_it)


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

    assert judged(Halving(by_last_digit), Halving(wrong), [0.7], steps=4) == ([True], 2)


@pytest.mark.parametrize(
    ("tolerance", "precision"),
    [
        (Tolerance(atol=3e-14), "float64"),
        (Tolerance(atol=1e-12), "float64"),
        (Tolerance(ulp=4), "float64"),
        (Tolerance(rtol=1e-6), "float32"),
    ],
)
@pytest.mark.parametrize("enlarged", [1, 30, 1000, 10_000])
def test_a_reference_that_only_enlarges_what_it_starts_from_has_no_forks(
    tolerance: Tolerance, precision: str, enlarged: int
) -> None:
    """However tight its tolerance is, and however near its answers come to those of a candidate that is wrong."""

    def enlarges(number: float) -> float:
        return enlarged * number

    def wrong(number: float, share: float) -> float:
        expected = number / 2 + enlarges(number)
        width = tolerance.atol + tolerance.rtol * expected + tolerance.ulp * np.spacing(expected)
        return enlarges(number) + share * max(width, np.spacing(expected))

    for share in (1.5, 2.7, 6.0):
        differ, count = judged(
            Halving(enlarges),
            Halving(partial(wrong, share=share)),
            NUMBERS,
            tolerance=tolerance,
            precision=precision,
        )
        assert (all(differ), count) == (True, 0)


def test_only_so_many_timesteps_are_forks() -> None:
    """One in a thousand, and few in all; it does not matter how many are compared at once."""
    differ, count = judged(Halving(by_last_digit), Halving(other_way), NUMBERS, steps=5)
    assert any(differ) and FEW <= count <= FEW + 1


def test_where_much_is_wrong_little_is_asked() -> None:
    numbers = np.random.default_rng(1).uniform(0.1, 0.9, 400).tolist()
    reference = Halving(nothing)
    differ, count = judged(reference, Halving(far), numbers)
    assert (all(differ), count) == (True, 0)
    assert reference.asked == 400 + WRONG * len(UNITS) * TRIES


def test_states_that_the_reference_refuses_are_passed_over() -> None:
    number = next(each for each in NUMBERS if by_last_digit(each))
    assert judged(Halving(by_last_digit, limit=number), Halving(other_way), [number]) == ([False], 1)


def test_no_state_is_asked_for_beyond_its_bounds() -> None:
    number = next(each for each in NUMBERS if by_last_digit(each))

    class Strict(Halving):
        def played(self, case: Case) -> Trajectory:
            assert case.start is not None and case.start["state/n"] <= number
            return super().played(case)

    assert judged(Strict(by_last_digit), Halving(other_way), [number], high=number) == ([False], 1)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 0.0, np.finfo(np.float64).max, 5e-324])
def test_numbers_of_all_kinds_are_judged(number: float) -> None:
    """No warning, and no fork: nothing is beside them from which the reference goes another way."""
    wrong = Halving(lambda n: 1.0 if np.isfinite(n) else -n)
    assert judged(Halving(nothing), wrong, [number], tolerance=Tolerance(atol=0.5, ulp=2))[1] == 0


def test_what_has_to_be_exact_is_not_moved() -> None:
    """A clock beside what may be off: it would never come out the same."""

    class Clocked(Halving):
        def played(self, case: Case) -> Trajectory:
            played = super().played(case)
            assert case.start is not None
            clock = case.start["state/clock"] + np.arange(played.timesteps)[:, None] * 0.1
            return replace(played, leaves={**played.leaves, "state/clock": clock})

    leaves = LEAVES | {"state/clock": Leaf("state/clock", "float64", (9,))}
    reference, candidate = Clocked(by_last_digit), Clocked(other_way)
    expected = reference(
        [Case(1, {"action": np.zeros(1)}, start={"state/n": np.float64(0.3), "state/clock": np.linspace(0.1, 0.9, 9)})]
    )
    actual = step_by_step(candidate, expected, forced=False)
    found = compare_many(expected, actual, leaves, {"state/n": TOLERANCE})
    forks = Forks(leaves, {"state/n": TOLERANCE}, "float64")
    left = forks.without(found, expected, actual, lambda _, step: step_of(expected[0], step, forced=False), reference)
    assert (found != [None], left, forks.count) == (True, [None], 1)


def test_a_limit_that_is_off_by_what_a_tolerance_forgives_no_state_is_a_difference() -> None:
    """States are moved by a sixteenth of their tolerance at most: here by four units."""
    unit, limit = np.spacing(0.3), 0.3 + 6 * np.spacing(0.3)

    def late(number: float) -> float:
        return 400 * unit if number > limit else 0.0

    differ = [
        judged(Halving(late), Halving(lambda n: 400 * unit), [0.3], tolerance=Tolerance(atol=t * unit))[0]
        for t in (64, 256)
    ]
    assert differ == [[True], [False]]
