"""Forks: steps in which the reference itself goes one way or another by the last digit of the state before.

A solver ends when a step no longer wins anything, and near its end what it wins is less than sums are rounded by. So a
cheetah at rest is now and then a nanometre a second off, however faithful its translation is. A tolerance that forgave that
would forgive it in all other steps. So the reference is asked: it takes the step again from states that are a few units in
the last place off. Where one of these leads to what the candidate came to, nobody could tell both environments apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from harness.compare import Difference
from harness.model import Case, Trajectory, feed_digest
from harness.task.contract import Tolerance
from harness.verify.adjacent import units_off
from harness.verify.refusals import answered
from harness.verify.resynchronised import Play

ROOM = 10
"""By so many tolerances a float may be off at a fork. Further off is a limit in the reference's rules, which a translation
has to have at the same number; and whole numbers and flags are the same in any case."""
UNITS = (1, 4, 16, 64)
"""By up to so many units in the last place the states are off from which the reference is asked, as sums of so many terms
may be that are added up in another order."""
TRIES = 32
"""States for each of them, so that a way which it goes from one in ten of these is found."""
FEW = 16
SHARE = 0.01
"""Forks are rare: where more than so few trajectories differ, and in more than this share of timesteps, nothing is asked."""

Compare = Callable[[Sequence[Trajectory], Sequence[Trajectory], int], list[Difference | None]]
"""The first difference of each pair of trajectories, where so many tolerances are forgiven."""
Ask = Callable[[Trajectory, int], list[Trajectory]]
"""What the reference answers to a step of a trajectory from states that are a little off (`from_beside`)."""


def without_forks(
    expected: Sequence[Trajectory],
    actual: Sequence[Trajectory],
    found: Sequence[Difference | None],
    along: Sequence[Trajectory],
    compare: Compare,
    ask: Ask,
) -> tuple[list[Difference | None], int]:
    """The first difference of each pair of trajectories that is no fork, and how many timesteps were forks.

    Args:
        expected, actual: trajectories whose steps were resynchronised; both have the same leaves.
        found: the first difference of each pair.
        along: trajectories with whole states, at which each step of both began.
    """
    left, forks = list(found), 0
    suspects = [number for number, difference in enumerate(found) if _may_be_fork(difference)]
    if len(suspects) > max(FEW, SHARE * sum(one.timesteps for one in expected)):
        return left, forks
    for number in suspects:
        one, other = expected[number], actual[number]
        while _may_be_fork(difference := left[number]):
            assert difference is not None
            step = difference.step
            here, there = (_timestep(side, step, other.leaves) for side in (one, other))
            if compare([here], [there], ROOM) != [None]:
                break
            answers = [_timestep(answer, 1, other.leaves) for answer in ask(along[number], step) if answer.steps]
            if None not in compare(answers, [there] * len(answers), 1):
                break
            forks += 1
            other = _with_timestep(other, step, here)
            [left[number]] = compare([one], [other], 1)
    return left, forks


def from_beside(play: Play, case: Case, precision: str) -> list[Trajectory]:
    """What the reference answers to a case of one step from states in which each float is some units in the last place off;
    but for those states that it refuses.

    Args:
        play: what answers cases.
        precision: the unit is that of this dtype where a leaf's own is finer.
    """
    assert case.start is not None
    sha = hashlib.sha256()
    for path in sorted(case.start):
        feed_digest(sha, path, np.asarray(case.start[path]))
    rng = np.random.default_rng(list(sha.digest()))  # the same wherever this step is judged
    cases = [
        replace(
            case,
            start={
                path: units_off(
                    np.asarray(value), rng.integers(-units, units, np.shape(value), endpoint=True), precision
                )
                for path, value in case.start.items()
            },
        )
        for units in UNITS
        for _ in range(TRIES)
    ]
    return [answer for answer in answered(play, cases) if answer is not None]


def times(tolerance: Tolerance, room: int) -> Tolerance:
    """A tolerance so many times as large."""
    return Tolerance(tolerance.atol * room, tolerance.rtol * room, tolerance.ulp * room, tolerance.scale * room)


def _may_be_fork(difference: Difference | None) -> bool:
    """Whether this is a step whose values differ; a reset begins at no state."""
    return difference is not None and difference.rule == "value" and difference.step > 0


def _timestep(trajectory: Trajectory, step: int, paths: Iterable[str]) -> Trajectory:
    leaves = {path: trajectory.leaves[path][step : step + 1] for path in paths if path in trajectory.leaves}
    return Trajectory(trajectory.case, leaves)


def _with_timestep(trajectory: Trajectory, step: int, there: Trajectory) -> Trajectory:
    """The trajectory with the only timestep of another in this place."""
    leaves = {}
    for path, array in trajectory.leaves.items():
        leaves[path] = array.copy()
        leaves[path][step] = there.leaves[path][0]
    return Trajectory(trajectory.case, leaves, trajectory.draws)
