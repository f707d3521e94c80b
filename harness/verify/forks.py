"""Forks: steps in which the reference itself goes one way or another by the last digits of the state before.

A solver ends when a step no longer wins anything, and near its end what it wins is less than sums are rounded by. So a
cheetah at rest is now and then a nanometre a second off, however faithful its translation is. A tolerance that forgave that
would forgive it in all other steps. So the reference is asked: it takes the step again from states that are a few units in
the last place off. Where it comes to what the candidate came to, and by a jump, nobody could tell both environments apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from harness.compare import Difference, compare_many
from harness.model import Array, Case, Leaf, Trajectory, feed_digest
from harness.task.contract import Tolerance
from harness.verify.adjacent import units_off
from harness.verify.refusals import answered
from harness.verify.resynchronised import Play

ROOM = 10
"""By so many tolerances a float may be off at a fork. Further off is a limit in the reference's rules, which a translation
has to have at the same number; and whole numbers and flags are the same in any case."""
UNITS = (8, 64)
"""By up to so many units in the last place the states are off from which the reference is asked, as sums of so many terms
may be that are added up in another order."""
TRIES = 64
"""States for each of them."""
MOVED = 1 / 16
"""No number of a state is moved by more than this share of its own tolerance, and none that has to be exact."""
JUMP = 0.25
"""Of the way from the reference's answer to the candidate's: nothing that is asked may lie in so wide a gap. A reference
whose answers fill the way is no fork, its steps only enlarge what a state is off by."""
BEYOND = 4
"""And so many answers must lie beyond it."""
WIDER = 8
"""And the gap must be so many times as wide as gaps are in the median: where numbers are not fine enough to lie in it, it is
none."""
FEW = 16
RARE = 1 / 1000
"""Forks are rare: of all timesteps of a level at most so few and this share are taken for some."""
WRONG = 8
"""So many differences that are no forks are enough: those after them stay as they are, and nothing more is asked."""

Begin = Callable[[int, int], Case]
"""The case of a step of a pair of trajectories, by the number of the pair and that of the step."""


class Forks:
    """Finds which differences are forks, and counts these.

    Args:
        leaves: the task's outputs, in their order.
        tolerances: of the task, by path, in absolute terms.
        precision: the floats in which the candidate computes: it is their last place that counts, where it is coarser.

    Attributes:
        count: how many timesteps were forks.
    """

    def __init__(self, leaves: Mapping[str, Leaf], tolerances: Mapping[str, Tolerance], precision: str) -> None:
        self._leaves, self._tolerances, self._precision = leaves, tolerances, precision
        self._wide = {path: _times(tolerance, ROOM) for path, tolerance in tolerances.items()}
        self._timesteps = 0
        self.count = 0

    def without(
        self,
        found: Sequence[Difference | None],
        expected: Sequence[Trajectory],
        actual: Sequence[Trajectory],
        begin: Begin,
        reference: Play,
    ) -> list[Difference | None]:
        """The first difference of each pair of trajectories that is no fork.

        Args:
            found: the first difference of each pair.
            expected, actual: what reference and candidate answered, each step from one state; of the leaves to be compared.
            begin: what leads to that step from that state.
            reference: what plays its cases.
        """
        self._timesteps += sum(one.timesteps for one in expected)
        left, wrong = list(found), 0
        for number, difference in enumerate(found):
            if difference is not None and wrong < WRONG:
                left[number] = self._first(
                    expected[number], actual[number], difference, partial(begin, number), reference
                )
                wrong += left[number] is not None
        return left

    def _first(
        self, one: Trajectory, other: Trajectory, difference: Difference, begin: Callable[[int], Case], reference: Play
    ) -> Difference | None:
        left: Difference | None = difference
        while left is not None and self._is_fork(one, other, left, begin, reference):
            self.count += 1
            other = _with_timestep(other, left.step, one)
            [left] = self._compare([one], [other], self._tolerances)
        return left

    def _is_fork(
        self, one: Trajectory, other: Trajectory, difference: Difference, begin: Callable[[int], Case], reference: Play
    ) -> bool:
        """Whether the reference goes both ways in the step of this difference. A reset begins at no state."""
        if difference.rule != "value" or difference.step == 0 or self.count >= FEW + RARE * self._timesteps:
            return False
        here, there = (_timestep(side, difference.step, other) for side in (one, other))
        if self._compare([here], [there], self._wide) != [None]:
            return False
        case = begin(difference.step)
        for units in UNITS:
            asked = [
                _timestep(answer, 1, other) for answer in self._from_beside(reference, case, units) if answer.steps
            ]
            if None in self._compare(asked, [there] * len(asked), self._tolerances) and self._jumps(here, there, asked):
                return True
        return False

    def _from_beside(self, reference: Play, case: Case, units: int) -> list[Trajectory]:
        """What the reference answers to a case of one step from states up to so many units off, but for those that it
        refuses."""
        assert case.start is not None
        sha = hashlib.sha256(str(units).encode())
        for path in sorted(case.start):
            feed_digest(sha, path, np.asarray(case.start[path]))
        rng = np.random.default_rng(list(sha.digest()))  # the same wherever this step is judged
        starts = [
            {path: self._moved(path, np.asarray(value), units, rng) for path, value in case.start.items()}
            for _ in range(TRIES)
        ]
        answers = answered(reference, [replace(case, start=start) for start in starts])
        return [answer for answer in answers if answer is not None]

    def _moved(self, path: str, value: Array, units: int, rng: np.random.Generator) -> Array:
        """A leaf of the state a little off, where it has a tolerance; within its bounds."""
        tolerance, leaf = self._tolerances.get(path, Tolerance()), self._leaves[path]
        if value.dtype.kind != "f":
            return value
        moved = units_off(value, rng.integers(-units, units, value.shape, endpoint=True), self._precision)
        if leaf.low is not None or leaf.high is not None:
            moved = np.clip(moved, leaf.low, leaf.high)
        with np.errstate(invalid="ignore"):  # an infinity stays where it is
            within = np.abs(moved - value) <= MOVED * _width(value, tolerance)
        return np.where(within, moved, value).astype(value.dtype)

    def _jumps(self, here: Trajectory, there: Trajectory, answers: Sequence[Trajectory]) -> bool:
        """Whether answers lie along the line between two timesteps with a gap, and some beyond it."""
        line = self._apart(here, there)
        places = np.sort(np.array([0.0, *(self._apart(here, answer) @ line / (line @ line) for answer in answers)]))
        begins, gaps = places[:-1], np.diff(places)
        beyond = np.arange(len(gaps), 0, -1)
        if not gaps.any():
            return False
        wide = gaps >= max(JUMP, WIDER * float(np.median(gaps[gaps > 0])))
        return bool(np.any((begins >= 0) & (begins <= 1 - JUMP) & wide & (beyond >= BEYOND)))

    def _apart(self, one: Trajectory, other: Trajectory) -> Array:
        """How far the floats of two timesteps are apart, in their tolerances; of leaves that have one."""
        parts = [np.zeros(0)]
        for path, array in one.leaves.items():
            tolerance = self._tolerances.get(path, Tolerance())
            if array.dtype.kind == "f" and not tolerance.exact:
                with np.errstate(invalid="ignore"):  # what is no number lies nowhere on a line
                    width = _width(array, tolerance)
                    apart = other.leaves[path].astype(np.float64) - array
                parts.append(np.divide(apart, width, out=np.zeros_like(width), where=width > 0).ravel())
        return np.concatenate(parts)

    def _compare(
        self, one: Sequence[Trajectory], other: Sequence[Trajectory], tolerances: Mapping[str, Tolerance]
    ) -> list[Difference | None]:
        compared = other[0].leaves if other else ()
        leaves = {path: leaf for path, leaf in self._leaves.items() if path in compared}
        return compare_many(one, other, leaves, tolerances)


def _times(tolerance: Tolerance, room: int) -> Tolerance:
    return Tolerance(tolerance.atol * room, tolerance.rtol * room, tolerance.ulp * room, tolerance.scale * room)


def _width(value: Array, tolerance: Tolerance) -> Array:
    """How far each float may be off by its tolerance."""
    size = np.abs(value.astype(np.float64))
    return np.maximum(
        tolerance.atol + tolerance.rtol * size, tolerance.ulp * np.spacing(np.abs(value)).astype(np.float64)
    )


def _timestep(trajectory: Trajectory, step: int, compared: Trajectory) -> Trajectory:
    """One timestep of the leaves that another trajectory has."""
    leaves = {path: trajectory.leaves[path][step : step + 1] for path in compared.leaves if path in trajectory.leaves}
    return Trajectory(trajectory.case, leaves)


def _with_timestep(trajectory: Trajectory, step: int, other: Trajectory) -> Trajectory:
    """The trajectory with a timestep of another in the place of its own."""
    leaves = {path: array.copy() for path, array in trajectory.leaves.items()}
    for path, array in leaves.items():
        array[step] = other.leaves[path][step]
    return Trajectory(trajectory.case, leaves, trajectory.draws)
