"""Leaves as a contract names them, and what faces make of them: bounds, nested dictionaries, actions.

It needs only numpy, and stands in every exported package.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

OBSERVED = ("observation", "legal_actions", "to_move", "alive")
"""What agents see of a state. After an auto-reset it is that of the new episode."""
OF_STEP = ("reward", "terminated", "truncated")
"""What tells of a step. At the begin of an episode it is zero."""

MOST_SEED = (1 << 64) - 1
"""Of an instance's seed."""


def is_action(path: str) -> bool:
    """Whether a leaf path names an action."""
    return path == "action" or path.startswith("action/")


def mask_of(path: str) -> str:
    """The leaf that says which values of an action leaf are legal, where the task has it."""
    return "legal_actions" + path.removeprefix("action")


def root(path: str) -> str:
    """The name under which a candidate gives a leaf, alone or in a dict with others."""
    return path.split("/", maxsplit=1)[0]


def pack_action(leaves: Mapping[str, Any]) -> Any:
    """Action leaves by path as users give them: what stands at `action`, or a dict without the prefix."""
    if "action" in leaves:
        return leaves["action"]
    return {path.removeprefix("action/"): leaf for path, leaf in leaves.items()}


def unpack_action(declared: Mapping[str, Mapping[str, Any]], action: Any) -> dict[str, Any]:
    """The inverse of `pack_action`: for each of the action leaves `declared` what was given for it.

    Raises:
        ValueError: something is missing, or is there that is no action.
    """
    if "action" in declared:
        return {"action": action}
    given = set(action) if isinstance(action, Mapping) else None
    wanted = {path.removeprefix("action/") for path in declared}
    if given != wanted:
        came = f"a {type(action).__name__}" if given is None else f"{sorted(given)}"
        raise ValueError(f"{came} was given as actions; expected a dict with {sorted(wanted)}")
    return {path: action[path.removeprefix("action/")] for path in declared}


def whole(name: str, value: Any, least: int = 0, most: int = MOST_SEED) -> int:
    """A whole number that a user gives, of Python's or NumPy's.

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


class Actions:
    """What users give as actions, held against what the environment takes: it is equal, or refused.

    A cast would make 256 the action 0 of a byte, and 1.9 the action 1. What lies outside of a leaf's bounds was compared
    with no reference. So values may come in any dtype of their kind, and each must lie within the leaf's bounds.

    Args:
        declared: the action leaves, by path.
        leading: the axes before a leaf's own: `(num_envs,)` for a batch.
        held: the dtype in which a leaf is held, of the declared one; by default the same.
    """

    def __init__(
        self,
        declared: Mapping[str, Mapping[str, Any]],
        leading: tuple[int, ...] = (),
        held: Callable[[np.dtype[Any]], np.dtype[Any]] = np.dtype,
    ) -> None:
        self._declared = declared
        self._leaves = {}
        for path, leaf in declared.items():
            dtype, (low, high) = held(np.dtype(leaf["dtype"])), bounds(leaf)
            if dtype.kind in "iu":
                low, high = np.maximum(low, np.iinfo(dtype).min), np.minimum(high, np.iinfo(dtype).max)
            self._leaves[path] = dtype, (*leading, *leaf["shape"]), low, high

    def unpacked(self, action: Any) -> dict[str, Array]:
        """Action leaves by path, of what stands at `action` or in a dict without the prefix.

        Raises:
            TypeError: a value is of another kind: a float for an integer.
            ValueError: it has another shape, lies outside of its bounds, or is no number; or something is missing.
        """
        return {path: self.leaf(path, value) for path, value in unpack_action(self._declared, action).items()}

    def leaf(self, path: str, value: Any) -> Array:
        """The action leaf at a path, as it is held. Raises as `unpacked` does."""
        dtype, shape, low, high = self._leaves[path]
        given = np.asarray(value)
        if not is_of_kind(given.dtype, dtype):
            raise TypeError(f"{path}: {given.dtype} was given; expected {_described(dtype, shape, low, high)}")
        if given.shape != shape:
            raise ValueError(
                f"{path}: the shape {list(given.shape)} was given; expected {_described(dtype, shape, low, high)}"
            )
        # Floats are rounded before they are compared: bounds are those of the leaf's own precision.
        taken = given.astype(dtype, copy=False) if dtype.kind == "f" else given
        within = (taken >= low) & (taken <= high)
        if not within.all():
            wrong = given[~within].flat[0]
            raise ValueError(f"{path}: {wrong} was given; expected {_described(dtype, shape, low, high)}")
        return taken.astype(dtype, copy=False)


def is_of_kind(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether values of a dtype can be meant for a leaf of another: integers and booleans for each other, and for floats."""
    return given.kind in ("biuf" if wanted.kind == "f" else "biu")


def _described(dtype: np.dtype[Any], shape: tuple[int, ...], low: Array, high: Array) -> str:
    within = (
        f"{low} to {high}" if not low.ndim and not high.ndim else f"{low.min()} to {high.max()}, each in its bounds"
    )
    return f"{dtype}{list(shape)} from {within}"


def nested(leaves: Mapping[str, Any], name: str, describe: Callable[[Any], Any]) -> Any:
    """What leaves hold at or below `name`, each described: one of them, or dictionaries as their paths are nested."""
    if name in leaves:
        return describe(leaves[name])
    result: dict[str, Any] = {}
    for path, leaf in leaves.items():
        if path.startswith(f"{name}/"):
            *outer, last = path.split("/")[1:]
            index = result
            for key in outer:
                index = index.setdefault(key, {})
            index[last] = describe(leaf)
    return result


def flatten(name: str, value: Any) -> dict[str, Any]:
    """The inverse of `nested`: a value as leaves, keys of nested dictionaries joined by `/`."""
    if isinstance(value, Mapping):
        return {path: leaf for key, part in value.items() for path, leaf in flatten(f"{name}/{key}", part).items()}
    return {name: value}


def bounds(leaf: Mapping[str, Any]) -> tuple[Array, Array]:
    """A leaf's closed bounds in its own dtype and shape; without any, those of the dtype.

    A contract that went through JSON has its infinities as text.
    """
    dtype, shape = np.dtype(leaf["dtype"]), tuple(leaf["shape"])
    if dtype.kind == "b":
        least, greatest = False, True
    elif dtype.kind == "f":
        least, greatest = -np.inf, np.inf
    else:
        least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = (leaf.get("low", least), leaf.get("high", greatest))
    low, high = (
        np.asarray(default if value is None else value).astype(dtype)
        for value, default in zip(values, (least, greatest), strict=True)
    )
    return np.broadcast_to(low, shape), np.broadcast_to(high, shape)
