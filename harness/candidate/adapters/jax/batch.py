"""Cases from the wire as the padded arrays that compiled functions take.

Padding goes up to a few sizes only, so that a new length or number of cases compiles nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from harness.candidate.adapters.jax import tape as jax_tape
from harness.candidate.faces.jax_env import JaxEnv

Array = np.ndarray[Any, Any]
Case = Mapping[str, Any]

SIZES = 1, 8, 32, 128
SEGMENT = 128
"""Steps in one compiled scan. A longer case goes through it again, until every instance has ended."""


def bucket(count: int) -> int:
    """The padded size for a count: 1, 8, 32, 128, and then powers of two."""
    for size in SIZES:
        if count <= size:
            return size
    return 1 << (count - 1).bit_length()


def size_within(most: int) -> int:
    """The largest padded size that is no larger than that; of less than one, one."""
    if most >= 2 * SIZES[-1]:
        return 1 << most.bit_length() - 1
    return max(size for size in SIZES if size <= max(most, 1))


def key_data_of(seed: int) -> Array:
    """A seed below 2**63 as key data, the high 32 bits first."""
    return np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)


def length_of(case: Case) -> int:
    """The number of actions of a case."""
    return len(next(iter(case["actions"].values())))


class Batch:
    """Cases of one kind as arrays, padded up to the next size; with `room`, up to the size for as many cases and steps.

    `size` instances, of which the first `count` are cases; `length` steps, the longest case's. `given` says where draws come
    from: the outside, or the candidate's own law. `kind` says where the first timestep comes from: whether from a start
        state,
    and if not whether from `given` draws. Functions are compiled for each, so they know no more than they need.
    """

    def __init__(self, env: JaxEnv, cases: Sequence[Case], padded: bool, room: Sequence[int] = (0, 0)) -> None:
        self.cases = cases
        self.count = len(cases)
        self.size = bucket(max(self.count, room[0])) if padded else self.count
        self.lengths = [length_of(case) for case in cases]
        self.length = max(self.lengths)
        self.segment = min(bucket(max(self.length, room[1])), SEGMENT) if padded else 1
        started = cases[0].get("start") is not None
        given = cases[0].get("draws") is not None or env.mode in ("shared", "none")
        self.given = given
        self.kind = (started, given or started)
        x64 = bool(env.contract.get("x64"))
        timesteps = -(-self.length // self.segment) * self.segment
        self.keys = self._fill([key_data_of(case["seed"]) for case in cases])
        self._steps: dict[str, Any] = {
            "timestep": np.broadcast_to(np.arange(1, timesteps + 1, dtype=np.int32), (self.size, timesteps)),
            "action": {
                path: self._stacked(path, [case["actions"].get(path) for case in cases], leaf, timesteps, x64)
                for path, leaf in env.actions.items()
            },
        }
        tapes = [case.get("draws") or [] for case in cases]
        for tape, length in zip(tapes, self.lengths, strict=True):
            if len(tape) > length + 1:
                raise ValueError(f"a tape of {len(tape)} timesteps, but only {length} actions")
        self.reset_values, self.reset_counts = jax_tape.pack(
            [tape[:1] for tape in tapes], env.reset_draws, "reset", 1, x64
        )
        self.step_values, self.step_counts = jax_tape.pack(
            [tape[1:] for tape in tapes], env.step_draws, "step", timesteps, x64
        )
        if given:
            self._steps["draws"] = {
                name: self._fill(_as_taken(array, env.step_draws[name])) for name, array in self.step_values.items()
            }
        self.first = self._first(env, x64)

    def steps(self, start: int, count: int) -> dict[str, Any]:
        """What goes into steps `start` to `start + count`, each array `[size, count, ...]`."""
        return jax.tree.map(lambda array: array[:, start : start + count], self._steps)

    def _first(self, env: JaxEnv, x64: bool) -> dict[str, Array]:
        started, given = self.kind
        if started:
            return {
                path: self._fill([fitting(path, case["start"].get(path), leaf, (), x64) for case in self.cases])
                for path, leaf in env.state_leaves.items()
            }
        if env.mode == "shared":
            return {"seed": self.keys}
        if not given:
            return {}
        return {
            name: self._fill(_as_taken(array, env.reset_draws[name])[:, 0]) for name, array in self.reset_values.items()
        }

    def _stacked(self, path: str, arrays: Sequence[Any], leaf: Mapping[str, Any], timesteps: int, x64: bool) -> Array:
        stacked = np.zeros((self.size, timesteps, *leaf["shape"]), jax_tape.held(leaf["dtype"], x64))
        for index, (array, length) in enumerate(zip(arrays, self.lengths, strict=True)):
            stacked[index, :length] = fitting(path, array, leaf, (length,), x64)
        return stacked

    def _fill(self, items: Any) -> Array:
        """Items stacked, the last one repeated for the instances that are only padding."""
        array = np.asarray(items)
        surplus = self.size - len(array)
        return np.concatenate([array, np.repeat(array[-1:], surplus, axis=0)]) if surplus else array


def _as_taken(values: Array, draw: Mapping[str, Any]) -> Array:
    return values[:, :, 0] if draw["capacity"] == 1 else values


def fitting(path: str, value: Any, leaf: Mapping[str, Any], leading: tuple[int, ...], x64: bool) -> Array:
    """A value from the wire, checked against its declaration, in the dtype in which JAX will hold it.

    Raises:
        ValueError: it is missing, or its dtype or its shape `[*leading, *leaf shape]` is another.
    """
    array = None if value is None else np.asarray(value)
    dtype, shape = np.dtype(leaf["dtype"]), (*leading, *leaf["shape"])
    if array is None or array.dtype != dtype or array.shape != shape:
        came = "nothing" if array is None else f"{array.dtype}{list(array.shape)}"
        raise ValueError(f"{came} was given for the leaf {path!r}, the task declares {dtype}{list(shape)}")
    return jax_tape.narrowed(f"the leaf {path!r}", array, x64)
