"""Predicates are drawn from random play: each so that it should hold in a given share of the steps.

A sample does not tell where the tail of a number lies that one step in ten million reaches; the extremes of each number do.
Both are only good for a proposal: how often a predicate holds is counted afterwards, in random play of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from harness.measure.strength.rare.numbers import ACTION, BEFORE, CHANGE, EXACT, Number
from harness.measure.strength.rare.predicates import (
    ABOVE,
    BELOW,
    CHANGED,
    EQUAL,
    SEVERAL,
    TAIL,
    VALUE,
    WITH_ACTION,
    Condition,
    Predicate,
)
from harness.measure.strength.rare.sample import Sample, quantile
from harness.model import Array

FEW = 8
"""Of so many kept steps at least, it can be told what share of them a condition leaves."""
SOME = 3
"""So many of the kept steps should be left by all conditions."""
MOST_ACTIONS = 64
THREE_SHARE = 0.3
"""So many of the predicates of several conditions have three."""
TRIES = 4
SPREAD = 3.0
"""The share of a value may be so many times more or less than what is wanted."""
AROUND = 0.4
"""A threshold is drawn for a share that may be more or less by so many powers of e."""
LARGEST_FIRST = 0.3
"""The rarest of several conditions holds in no more of the steps."""

Conditions = tuple[Condition, ...]


class Drawer:
    """Draws predicates of each family.

    Args:
        sample: of random play.
        rng: chooses.
    """

    def __init__(self, sample: Sample, rng: np.random.Generator) -> None:
        self.sample, self.rng = sample, rng
        self._values: dict[int, list[tuple[float, float]]] = {}
        self._varying = [row for row in range(len(sample.numbers.chosen)) if sample.varies(row)]

    def proposals(self, share: float, count: int) -> Iterator[Predicate]:
        """`count` predicates of each family, or fewer where the task has none, that should hold in a share of the steps."""
        makers: dict[str, Callable[[float], Conditions | None]] = {
            TAIL: lambda share: self._beyond(BEFORE, share),
            VALUE: self._value,
            SEVERAL: self._several,
            CHANGED: lambda share: self._beyond(CHANGE, share),
            WITH_ACTION: self._with_action,
        }
        for family, make in makers.items():
            known: set[Conditions] = set()
            for _ in range(TRIES * count):
                conditions = make(share)
                if conditions is not None and conditions not in known and len(known) < count:
                    known.add(conditions)
                    yield Predicate(family, conditions, share)

    def _beyond(self, kind: str, share: float) -> Conditions | None:
        row = self._one(self._rows(kind))
        if row is None:
            return None
        side = row, self._side()
        around = share * float(np.exp(self.rng.uniform(-AROUND, AROUND)))
        return (Condition(self._number(row), side[1], self.sample.threshold(side, around)),)

    def _value(self, share: float) -> Conditions | None:
        row = self._one(self._rows(BEFORE, "iub"))
        if row is None:
            return None
        found = [value for value, of in self._shares(row) if share / SPREAD <= of <= share * SPREAD]
        return (Condition(self._number(row), EQUAL, self.rng.choice(found).item()),) if found else None

    def _with_action(self, share: float) -> Conditions | None:
        row = self._one(self._rows(ACTION, "iub"))
        if row is None:
            return None
        values = np.array([value for value, _ in self._shares(row)])
        if not 2 <= len(values) <= MOST_ACTIONS or share * len(values) > LARGEST_FIRST:
            return None
        beyond = self._beyond(BEFORE, share * len(values))
        return beyond and (*beyond, Condition(self._number(row), EQUAL, self.rng.choice(values).item()))

    def _several(self, share: float) -> Conditions | None:
        """A first number far out, and one or two more that cut down what is left to the share."""
        first, row = self._first_share(share), self._one(self._rows(BEFORE))
        if first is None or row is None:
            return None
        side = row, self._side()
        conditions = [Condition(self._number(row), side[1], self.sample.threshold(side, first))]
        rows, each = self.sample.holding(side, conditions[0].value)
        for left in (2, 1) if self.rng.random() < THREE_SHARE else (1,):
            taken = {condition.number for condition in conditions}
            row = self._one([each for each in self._rows(BEFORE) if self._number(each) not in taken])
            if row is None or rows.shape[1] < FEW:
                return None
            wanted = share * self.sample.steps / each / rows.shape[1]
            if wanted >= 1:
                return None
            conditions.append(self._cutting(rows, row, wanted if left == 1 else wanted ** self.rng.uniform(0.2, 0.6)))
            rows = rows[:, conditions[-1].holds(rows[row])]
        return tuple(conditions)

    def _first_share(self, share: float) -> float | None:
        """How often the first of several conditions holds: anything from somewhat more than all of them together."""
        sample = self.sample
        most = LARGEST_FIRST
        if share * sample.sampled.shape[1] < SOME:  # only the extremes tell what is left by the other conditions
            most = min(most, sample.most / sample.steps)
        if most < SOME * share:
            return None
        return float(np.exp(self.rng.uniform(np.log(SOME * share), np.log(most))))

    def _cutting(self, rows: Array, row: int, share: float) -> Condition:
        """A condition on a number that leaves about a share of some steps."""
        if self._kind(row) in "iub" and self.rng.random() < 0.5:
            values, counts = np.unique(rows[row], return_counts=True)
            away = np.abs(np.log(counts / rows.shape[1] / share))
            if away.min() <= np.log(SPREAD):
                return Condition(self._number(row), EQUAL, float(values[away.argmin()]))
        relation = self._side()
        return Condition(self._number(row), relation, quantile(rows[row], relation, share))

    def _shares(self, row: int) -> list[tuple[float, float]]:
        """Values of a whole number, each with the share of the steps in which the number is it."""
        if row not in self._values:
            self._values[row] = [(value, share) for value, share in self.sample.shares(row) if abs(value) < EXACT]
        return self._values[row]

    def _rows(self, kind: str, dtypes: str = "iubf") -> list[int]:
        """The rows of numbers of a kind and of some kinds of dtype, that are not always the same."""
        return [row for row in self._varying if self._number(row).kind == kind and self._kind(row) in dtypes]

    def _one(self, rows: list[int]) -> int | None:
        return int(self.rng.choice(rows)) if rows else None

    def _side(self) -> str:
        return (ABOVE, BELOW)[self.rng.integers(2)]

    def _number(self, row: int) -> Number:
        return self.sample.numbers.chosen[row]

    def _kind(self, row: int) -> str:
        return self.sample.numbers.dtype(self._number(row)).kind
