"""Numbers in their order, and the search for two adjacent ones between which an answer turns over.

A number's *place* in the order of its dtype is an integer: adjacent numbers have adjacent places, so that halving a distance
between places ends at the last bit after as many rounds as the dtype has bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from harness.model import Array

Ends = tuple[int, int]
AtFirstEnd = Callable[[Sequence[tuple[int, int]]], Sequence[bool | None]]
"""For pairs of a search and a place: whether the answer there is that at the search's first end; None if not answered."""


def smallest(dtype: np.dtype[Any]) -> float:
    """The smallest magnitude beside zero that is looked at, half the exponents above the first subnormal number.

    XLA flushes subnormal numbers to zero on a CPU. The product of two numbers of this size is still a normal one.
    """
    return float(2.0 ** (np.finfo(dtype).minexp // 2))


def without_tiny(array: Array) -> Array:
    """The array with zero in the place of what is too small to have a place of its own, -0.0 too."""
    if array.dtype.kind != "f":
        return array
    return np.where(np.abs(array) < smallest(array.dtype), array.dtype.type(0), array)


def units_off(value: Array, units: Array | int, precision: str) -> Array:
    """Floats that are so many units in the last place off, of their dtype or of one that is coarser; others as they are.

    Args:
        units: for each element, or for all.
        precision: name of the other dtype.
    """
    if value.dtype.kind != "f":
        return value
    unit = max(np.finfo(value.dtype).eps, np.finfo(precision).eps)
    with np.errstate(over="ignore"):
        return (value * (1 + units * float(unit))).astype(value.dtype)


def place_of(value: Any, dtype: np.dtype[Any]) -> int:
    """Where a number stands in the order of its dtype; no NaN has a place."""
    if dtype.kind != "f":
        return int(value)
    magnitude = max(0, _bits(abs(value), dtype) - _bits(smallest(dtype), dtype) + 1)
    return -magnitude if value < 0 else magnitude


def number_at(place: int, dtype: np.dtype[Any]) -> Any:
    """The inverse of `place_of`."""
    if dtype.kind != "f":
        return dtype.type(place)
    if place == 0:
        return dtype.type(0)
    bits = np.array(abs(place) - 1 + _bits(smallest(dtype), dtype), _unsigned(dtype))
    return dtype.type(np.copysign(bits.view(dtype), place))


def turning_points(ends: Sequence[Ends], at_first_end: AtFirstEnd) -> list[Ends | None]:
    """For each search, two adjacent places: at the one the answer is that at its first end, at the other it is not.

    All searches go on together, so that each round is one question.

    Args:
        ends: two different places for each search; the answers there differ.
        at_first_end: what is asked in each round.

    Returns:
        The places, that on the side of the first end first; None where something in between was not answered.
    """
    found: list[Ends | None] = list(ends)
    while middles := [(number, sum(pair) // 2) for number, pair in enumerate(found) if pair and not _adjacent(pair)]:
        for (number, middle), same in zip(middles, at_first_end(middles), strict=True):
            pair = found[number]
            assert pair is not None
            found[number] = None if same is None else (middle, pair[1]) if same else (pair[0], middle)
    return found


def _adjacent(pair: Ends) -> bool:
    return abs(pair[0] - pair[1]) <= 1


def _unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"u{dtype.itemsize}")


def _bits(value: Any, dtype: np.dtype[Any]) -> int:
    return int(np.array(value, dtype).view(_unsigned(dtype)))
