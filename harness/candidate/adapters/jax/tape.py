"""Tapes on their way between the wire and JAX: lists of named draws on one side, rectangular arrays on the other.

Slots that a tape does not fill are poisoned (NaN, the least integer, the greatest unsigned one). A candidate that takes a
draw which the reference did not take then computes with a value that shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Draws = Mapping[str, Mapping[str, Any]]
Timestep = list[list[Any]]

NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32"}


@lru_cache
def held(dtype: Any, x64: bool) -> np.dtype[Any]:
    """The dtype in which JAX holds a value: 64-bit types only where they are switched on."""
    name = np.dtype(dtype).name
    return np.dtype(name if x64 else NARROW.get(name, name))


def narrowed(what: str, array: Any, x64: bool) -> Array:
    """An array in the dtype in which JAX will hold it.

    Raises:
        ValueError: an integer does not fit.
    """
    array = np.asarray(array)
    dtype = held(array.dtype, x64)
    if dtype == array.dtype:
        return array
    result = array.astype(dtype)
    if array.dtype.kind in "iu" and not np.array_equal(result, array):
        raise ValueError(f"{what} holds an integer over 32 bits; set `candidate.x64 = true` in task.toml")
    return result


def poison(dtype: Any) -> Any:
    """The value of a slot that holds no draw."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return np.nan
    if dtype.kind == "i":
        return np.iinfo(dtype).min
    if dtype.kind == "u":
        return np.iinfo(dtype).max
    return True


def pack(
    tapes: Sequence[Sequence[Timestep]], draws: Draws, moment: str, length: int, x64: bool
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Timesteps of several tapes as arrays.

    Args:
        tapes: for each case the timesteps of its tape that belong to `moment`, each a list of `[name, value]`.
        draws: the draws that can occur at that moment.
        moment: `reset` or `step`, for errors.
        length: timesteps of the result; a tape may have fewer.
        x64: whether JAX's 64-bit types are on.

    Returns:
        For each draw its values `[cases, length, capacity, *shape]`, poisoned where no draw is, and how many there are
        `[cases, length]`.

    Raises:
        ValueError: a tape holds a draw that the task does not declare there, too often, or of another dtype or shape.
    """
    values, counts = {}, {}
    for name, draw in draws.items():
        dtype = held(draw["dtype"], x64)
        values[name] = np.full((len(tapes), length, draw["capacity"], *draw["shape"]), poison(dtype), dtype)
        counts[name] = np.zeros((len(tapes), length), np.int64)
    for case, tape in enumerate(tapes):
        if not any(tape):
            continue
        for index, timestep in enumerate(tape):
            for name, value in timestep:
                checked = _checked(name, np.asarray(value), draws, moment)
                slot = counts[name][case, index]
                if slot >= draws[name]["capacity"]:
                    raise ValueError(
                        f"the tape holds the draw {name!r} more than {draws[name]['capacity']} times in one {moment}; "
                        "the task's `capacity` is too small"
                    )
                values[name][case, index, slot] = narrowed(f"the tape's draw {name!r}", checked, x64)
                counts[name][case, index] = slot + 1
    return values, counts


def unpack(values: Mapping[str, Array], used: Mapping[str, Array], draws: Draws, timesteps: int) -> list[Timestep]:
    """The draws of one case that a candidate says it consumed, timestep by timestep, in the order in which the task names
    them.

    Args:
        values: for each draw `[timesteps or more, capacity, *shape]`.
        used: for each draw how many were consumed, `[timesteps or more]`; a count over the capacity shows as one poisoned
            draw too many.

    Raises:
        ValueError: a count is negative.
    """
    result: list[Timestep] = [[] for _ in range(timesteps)]
    for name in (name for name in draws if name in used):
        counts, capacity, dtype = used[name], draws[name]["capacity"], np.dtype(draws[name]["dtype"])
        if (counts[:timesteps] < 0).any():
            raise ValueError(f"draws_used[{name!r}] is negative: {int(counts[:timesteps].min())}")
        surplus = np.full(tuple(draws[name]["shape"]), poison(dtype), dtype)
        for timestep in np.flatnonzero(counts[:timesteps]).tolist():
            taken = values[name][timestep, : counts[timestep]].astype(dtype, copy=False)
            result[timestep].extend([name, value] for value in taken)
            if counts[timestep] > capacity:
                result[timestep].append([name, surplus])
    return result


def _checked(name: str, value: Array, draws: Draws, moment: str) -> Array:
    if name not in draws:
        raise ValueError(f"the tape holds the draw {name!r} at a {moment}, where the task declares {sorted(draws)}")
    dtype, shape = np.dtype(draws[name]["dtype"]), tuple(draws[name]["shape"])
    if value.dtype != dtype or value.shape != shape:
        raise ValueError(
            f"the tape's draw {name!r} is {value.dtype}{list(value.shape)}, the task declares {dtype}{list(shape)}"
        )
    return value
