"""Leaves as a contract names them, and what faces make of them: bounds, nested dictionaries, actions.

It needs only numpy, and stands in every exported package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

OBSERVED = ("observation", "legal_actions")
"""What an agent sees of a state. After an auto-reset it is that of the new episode."""


def is_action(path: str) -> bool:
    """Whether a leaf path names an action."""
    return path == "action" or path.startswith("action/")


def pack_action(leaves: Mapping[str, Any]) -> Any:
    """Action leaves by path as users give them: what stands at `action`, or a dict without the prefix."""
    if "action" in leaves:
        return leaves["action"]
    return {path.removeprefix("action/"): leaf for path, leaf in leaves.items()}


def unpack_action(declared: Mapping[str, Mapping[str, Any]], action: Any) -> dict[str, Array]:
    """The inverse of `pack_action`, in the dtypes that the action leaves `declared` have."""
    return {
        path: np.asarray(action if path == "action" else action[path.removeprefix("action/")], leaf["dtype"])
        for path, leaf in declared.items()
    }


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
