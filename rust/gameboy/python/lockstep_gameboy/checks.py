"""What users give, held against what is taken: numbers are never rounded, cut off or wrapped around in silence."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def whole(name: str, value: Any, least: int, most: int) -> int:
    """A whole number of Python's or NumPy's.

    Raises:
        TypeError: it is something else, a bool too.
        ValueError: it is not between the bounds.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}; expected a whole number from {least} to {most}")
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}; expected {least} to {most}")
    return number


def whole_array(name: str, values: Any, count: int, dtype: type[np.unsignedinteger[Any]]) -> Array:
    """Whole numbers, one for each of `count` environments, as a contiguous array of `dtype`.

    Raises:
        TypeError: they are no whole numbers.
        ValueError: there are not so many, or one cannot be held.
    """
    if not isinstance(values, np.ndarray):  # NumPy makes floats of some whole numbers
        if not isinstance(values, Iterable):
            raise TypeError(f"{name} is {values!r}; expected {count} whole numbers from 0 to {_most(dtype)}")
        values = np.array(
            [whole(f"{name}[{place}]", each, 0, _most(dtype)) for place, each in enumerate(values)], dtype
        )
    array: Array = values
    if array.shape != (count,):
        raise ValueError(f"{name}: an array of shape {array.shape} was given; expected {(count,)}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: {array.dtype} was given; expected whole numbers from 0 to {_most(dtype)}")
    if array.dtype != dtype and not np.array_equal(array, array.astype(dtype)):
        place = int(np.flatnonzero(array != array.astype(dtype))[0])
        raise ValueError(f"{name}[{place}] is {array[place]}; expected 0 to {_most(dtype)}")
    return np.ascontiguousarray(array, dtype)


def counted_up(seed: int, count: int) -> Array:
    """Seeds that count up from one, and begin again at 0 after the last one that there is."""
    first = np.uint64(whole("seeds", seed, 0, _most(np.uint64)))
    return first + np.arange(count, dtype=np.uint64)


def mask_of(values: Any, count: int) -> Array:
    """Which environments are meant, bool `[count]`, contiguous.

    Raises:
        TypeError: they are no bools.
        ValueError: there are not so many.
    """
    array = np.asarray(values)
    if array.shape != (count,):
        raise ValueError(f"mask: an array of shape {array.shape} was given; expected {(count,)}")
    if array.dtype != bool:
        raise TypeError(f"mask: {array.dtype} was given; expected bool")
    return np.ascontiguousarray(array)


def addresses_of(name: str, values: Iterable[Any]) -> list[int]:
    """Addresses of memory."""
    return [whole(f"{name}[{place}]", address, 0, 0xFFFF) for place, address in enumerate(values)]


def _most(dtype: type[np.unsignedinteger[Any]]) -> int:
    return int(np.iinfo(dtype).max)
