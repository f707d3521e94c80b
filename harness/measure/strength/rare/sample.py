"""What is kept of random play, to draw predicates from."""

from __future__ import annotations

import numpy as np

from harness.measure.strength.rare.numbers import ACTION, Numbers
from harness.measure.strength.rare.predicates import ABOVE, BELOW, Condition
from harness.model import Array

SAMPLED = 1 << 19
"""Steps that are kept by chance."""
EXTREMES = 4000
"""Steps that are kept of each number and side; fewer where there are many numbers."""
FEWEST = 64
EXTREME_BYTES = 1 << 27

Side = tuple[int, str]
"""A number, as its row, and on which side: ABOVE or BELOW."""


class Sample:
    """What is kept of random play: steps by chance, and the extremes of each number, with all numbers of each step.

    Args:
        numbers: what the rows are of.
        expected: how many steps will be added.
        rng: chooses.
    """

    def __init__(self, numbers: Numbers, expected: int, rng: np.random.Generator) -> None:
        self.numbers = numbers
        self.steps = 0
        count = len(numbers.chosen)
        self._expected, self._rng = max(1, expected), rng
        self._most = int(np.clip(EXTREME_BYTES // (2 * 8 * count * count), FEWEST, EXTREMES))
        self._parts: list[Array] = []
        self._sorted: dict[int, Array] = {}
        empty = np.zeros((count, 0))
        self._extremes: dict[Side, Array] = {
            (row, side): empty
            for row, number in enumerate(numbers.chosen)
            if number.kind != ACTION
            for side in (ABOVE, BELOW)
        }

    def add(self, rows: Array) -> None:
        """Take steps `[numbers, steps]` into account."""
        steps = rows.shape[1]
        self.steps += steps
        wanted = min(steps, -(-SAMPLED * steps // self._expected))
        self._parts.append(rows[:, self._rng.choice(steps, wanted, replace=False)])
        for (row, side), kept in self._extremes.items():
            sign = 1.0 if side == ABOVE else -1.0
            full = kept.shape[1] >= self._most
            further = np.flatnonzero(sign * rows[row] > sign * kept[row, -1]) if full else np.arange(steps)
            if not further.size:
                continue
            if further.size > self._most:
                further = further[np.argpartition(-sign * rows[row, further], self._most)[: self._most]]
            together = np.concatenate([kept, rows[:, further]], axis=1)
            order = np.argsort(-sign * together[row], kind="stable")[: self._most]
            self._extremes[row, side] = together[:, order]

    @property
    def sampled(self) -> Array:
        """The steps that were kept by chance, `[numbers, kept]`."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts, axis=1)]
        return self._parts[0]

    def extremes(self, side: Side) -> Array:
        """The steps in which a number is furthest on a side, the furthest first."""
        return self._extremes[side]

    def threshold(self, side: Side, share: float) -> float:
        """The value beyond which a number is in a share of the steps."""
        row, _ = side
        kept, count = self._extremes[side], share * self.steps
        if count <= kept.shape[1]:
            return float(kept[row, max(0, int(np.ceil(count)) - 1)])
        if row not in self._sorted:
            self._sorted[row] = np.sort(self.sampled[row])
        place = max(0, round(share * len(self._sorted[row])) - 1)
        return float(self._sorted[row][-1 - place if side[1] == ABOVE else place])

    def holding(self, side: Side, value: float) -> tuple[Array, float]:
        """Kept steps in which a number is beyond a value, and for how many steps each of them stands."""
        row, relation = side
        extreme = self._extremes[side]
        condition = Condition(self.numbers.chosen[row], relation, value)
        if not condition.holds(extreme[row, -1:]).any():
            return extreme[:, condition.holds(extreme[row])], 1.0
        sampled = self.sampled
        return sampled[:, condition.holds(sampled[row])], self.steps / sampled.shape[1]

    def shares(self, row: int) -> list[tuple[float, float]]:
        """Values that a number was, each with the share of the steps in which it was."""
        values, counts = np.unique(self.sampled[row], return_counts=True)
        known = dict(zip(values.tolist(), (counts / self.sampled.shape[1]).tolist(), strict=True))
        for side in (ABOVE, BELOW):
            extreme = self._extremes.get((row, side), np.zeros((row + 1, 0)))[row]
            values, counts = np.unique(extreme, return_counts=True)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                if value != extreme[-1]:  # of which not all may have been kept
                    known[value] = count / self.steps
        return sorted(known.items())

    def varies(self, row: int) -> bool:
        """Whether a number is not always the same."""
        if (row, ABOVE) not in self._extremes:
            return bool(np.ptp(self.sampled[row]) > 0)
        return bool(self._extremes[row, ABOVE][row, 0] > self._extremes[row, BELOW][row, 0])

    @property
    def most(self) -> int:
        """How many extremes are kept of each number and side, at most."""
        return self._most


def quantile(values: Array, relation: str, share: float) -> float:
    """The value beyond which a share of some values are, one of them."""
    place = min(len(values) - 1, max(0, round(share * len(values)) - 1))
    return float(
        np.partition(values, -1 - place)[-1 - place] if relation == ABOVE else np.partition(values, place)[place]
    )
