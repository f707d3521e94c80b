"""Predicates over a step: what a rare rule of an environment asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.measure.strength.rare.numbers import Number
from harness.model import Array
from harness.support.document import Document, DocumentError

TAIL, VALUE, SEVERAL, CHANGED, WITH_ACTION = FAMILIES = ("tail", "value", "several", "change", "with action")
"""A number of the state beyond a threshold; a whole number that is a value; two or three of such at once; a change
beyond a threshold; a number beyond a threshold together with an action."""
ABOVE, BELOW, EQUAL = RELATIONS = (">=", "<=", "==")
MOST_CONDITIONS = 3


@dataclass(frozen=True)
class Condition:
    """One comparison of a number with a value."""

    number: Number
    relation: str
    value: float

    def __str__(self) -> str:
        return f"{self.number} {self.relation} {self.value:.9g}"

    def holds(self, values: Array) -> Array:
        """Where it holds, of the number's values."""
        if self.relation == EQUAL:
            return values == self.value
        return values >= self.value if self.relation == ABOVE else values <= self.value

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"number": self.number.to_json(), "relation": self.relation, "value": self.value}

    @staticmethod
    def from_json(described: object, kind: str = "condition") -> Condition:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        relation = document.text("relation")
        if relation not in RELATIONS:
            raise DocumentError(f"{kind}.relation is {relation[:20]!r}; expected one of {', '.join(RELATIONS)}")
        number = Number.from_json(document.content.get("number"), f"{kind}.number")
        return Condition(number, relation, document.number("value"))


@dataclass(frozen=True)
class Predicate:
    """What holds in rare steps.

    Attributes:
        family: of `FAMILIES`.
        conditions: all of them must hold; the rarest first.
        share: the share of random play's steps for which it was drawn.
        hits: in how many steps of the counted random play it held.
    """

    family: str
    conditions: tuple[Condition, ...]
    share: float
    hits: int = 0

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "family": self.family,
            "conditions": [each.to_json() for each in self.conditions],
            "share": self.share,
            "hits": self.hits,
        }

    @staticmethod
    def from_json(described: object, kind: str = "predicate") -> Predicate:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        conditions = document.list("conditions", Condition.from_json)
        family, share, hits = document.text("family"), document.number("share"), document.whole("hits")
        if family not in FAMILIES or not 1 <= len(conditions) <= MOST_CONDITIONS or not 0 < share < 1 or hits < 0:
            raise DocumentError(
                f"{kind} is no predicate; expected a family of {', '.join(FAMILIES)}, 1 to {MOST_CONDITIONS} conditions, "
                "a share between 0 and 1, and hits"
            )
        return Predicate(family, conditions, share, hits)


class Evaluation:
    """Predicates over rows of numbers, those together that begin with the same number and relation.

    Args:
        numbers: what the rows are of.
        predicates: over these numbers.
    """

    def __init__(self, numbers: Sequence[Number], predicates: Sequence[Predicate]) -> None:
        self._row = {number: row for row, number in enumerate(numbers)}
        self._groups: dict[tuple[int, str], list[int]] = {}
        self._predicates = predicates
        for place, predicate in enumerate(predicates):
            first = predicate.conditions[0]
            self._groups.setdefault((self._row[first.number], first.relation), []).append(place)

    def counts(self, rows: Array) -> Array:
        """In how many steps each predicate holds, of numbers `[numbers, steps]`."""
        found = np.zeros(len(self._predicates), np.int64)
        for (row, relation), places in self._groups.items():
            values = [self._predicates[place].conditions[0].value for place in places]
            within = rows[:, np.flatnonzero(_any(rows[row], relation, values))]
            for place in places:
                found[place] = self._count(self._predicates[place], within)
        return found

    def _count(self, predicate: Predicate, rows: Array) -> int:
        if not rows.shape[1]:
            return 0
        holds = np.ones(rows.shape[1], bool)
        for condition in predicate.conditions:
            holds &= condition.holds(rows[self._row[condition.number]])
        return int(np.count_nonzero(holds))


def _any(values: Array, relation: str, wanted: Sequence[float]) -> Array:
    """Where a number has the relation to one of the values at least."""
    if relation == EQUAL:
        return np.isin(values, np.array(wanted))
    return values >= min(wanted) if relation == ABOVE else values <= max(wanted)
