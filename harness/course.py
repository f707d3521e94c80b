"""A number on both sides of a difference, timestep by timestep up to the one in which they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.model import Array
from harness.support.document import Document, DocumentError, number, whole

MAX_STEPS = 120
"""So many timesteps are kept, the last ones."""
MIN_STEPS = 3
"""Of fewer there is no course to be seen."""


@dataclass(frozen=True)
class Course:
    """Values of one element of a leaf; a value that is not finite is None.

    Attributes:
        first: the timestep of the first values; the last ones are those that differ.
    """

    first: int
    expected: tuple[float | None, ...]
    actual: tuple[float | None, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"first": self.first, "expected": list(self.expected), "actual": list(self.actual)}

    @staticmethod
    def from_json(described: object, kind: str = "course") -> Course:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """

        def value(found: Any, name: str) -> float | None:
            return None if found is None else number(found, name)

        document = Document(described, kind)
        sides = [document.list(side, value) for side in ("expected", "actual")]
        if len(sides[0]) != len(sides[1]) or not MIN_STEPS <= len(sides[0]) <= MAX_STEPS:
            raise DocumentError(f"{kind} does not have {MIN_STEPS} to {MAX_STEPS} values on each side")
        return Course(whole(document.content.get("first"), f"{kind}.first"), *sides)


def course(
    expected: Mapping[str, Array], actual: Mapping[str, Array], path: str, index: tuple[int, ...], step: int
) -> Course | None:
    """The values of `path[index]` up to `step`; None where a side has no such numbers, or too few.

    Args:
        expected, actual: stacked leaves.
    """
    first = max(0, step + 1 - MAX_STEPS)
    sides: list[tuple[float | None, ...]] = []
    for leaves in (expected, actual):
        stacked = np.asarray(leaves.get(path, ()))
        if len(stacked) <= step or stacked.ndim != 1 + len(index) or stacked.dtype.kind not in "biuf":
            return None
        values = [float(stacked[(row, *index)]) for row in range(first, step + 1)]
        sides.append(tuple(value if math.isfinite(value) else None for value in values))
    return Course(first, *sides) if len(sides[0]) >= MIN_STEPS else None
