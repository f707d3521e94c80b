"""Values of leaves and draws as a person writes them in TOML: numbers, booleans, and arrays of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.model import Array, Leaf
from harness.task.schema import INVALID, Location, describe

ADDRESS = re.compile(r"([^\[\]]+)(?:\[(\d{1,9}(?:, ?\d{1,9})*)\])?")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def value_of(leaf: Leaf, value: Any, location: Location, index: tuple[int, ...] = (), *, bounded: bool = True) -> Any:
    """The value of a leaf, or of one element of it, as an array of its dtype; `INVALID` where a mistake was noted.

    Args:
        value: what stands in the document, nested arrays for a leaf with a shape. Of floats also `"nan"` and `"inf"`.
        index: the element; empty means the whole leaf.
        bounded: whether it must lie within the leaf's bounds. These hold what an episode goes on from, not what ends it.
    """
    shape = leaf.shape[len(index) :]
    read = _nested(value, np.dtype(leaf.dtype), shape, location)
    if read is INVALID:
        return INVALID
    array = np.array(read, leaf.dtype)
    for end, beyond in (("low", np.less), ("high", np.greater)) if bounded else ():
        bound = getattr(leaf, end)
        if bound is not None and np.any(beyond(array, np.broadcast_to(np.asarray(bound), leaf.shape)[index])):
            return location.wrong(f"{value!r} is beyond the bound `{end}` of {leaf.path}", f"`{end}` is {bound}")
    return array


def addressed(key: Any, leaves: Mapping[str, Leaf], location: Location) -> tuple[Leaf, tuple[int, ...]] | Any:
    """The leaf that `path` or `path[1,2]` names, and the index inside it; `INVALID` where there is no such thing."""
    match = ADDRESS.fullmatch(key)
    leaf = None if match is None else leaves.get(match[1])
    if match is None or leaf is None:
        return location.wrong("this is no leaf of the sheet", f"one of {', '.join(leaves)}", given=key, choices=leaves)
    index = () if match[2] is None else tuple(int(part) for part in match[2].split(","))
    if index and (len(index) != len(leaf.shape) or any(i >= n for i, n in zip(index, leaf.shape, strict=True))):
        return location.wrong(f"the leaf has shape {list(leaf.shape)}", "an index inside it for each of its axes")
    return leaf, index


def plain(array: Array) -> Any:
    """An array as `value_of` reads it: Python's numbers in lists; what is no number as a word."""
    if array.ndim:
        return [plain(one) for one in array]
    value = array.item()
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)


def _nested(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...], location: Location) -> Any:
    if shape:
        if not isinstance(value, list) or len(value) != shape[0]:
            return location.wrong(f"it is {describe(value)}", f"an array of {shape[0]}")
        read = [_nested(one, dtype, shape[1:], location.at(place)) for place, one in enumerate(value)]
        return INVALID if any(one is INVALID for one in read) else read
    if dtype.kind == "b":
        return value if isinstance(value, bool) else location.wrong(f"it is {describe(value)}", "true or false")
    if dtype.kind == "f" and isinstance(value, str) and value in _FLOATS:
        return _FLOATS[value]
    if isinstance(value, bool) or not isinstance(value, (int, float) if dtype.kind == "f" else int):
        return location.wrong(f"it is {describe(value)}", "a number" if dtype.kind == "f" else "an integer")
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        return location.wrong(f"{value} does not fit {dtype.name}", f"an integer that {dtype.name} can hold")
    if dtype.kind == "f" and abs(value) > float(np.finfo(dtype).max) and abs(value) != math.inf:
        return location.wrong(f"{value} is beyond {dtype.name}", f"a number that {dtype.name} can hold")
    return value
