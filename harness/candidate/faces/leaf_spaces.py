"""Gymnasium's spaces of an environment's leaves. It needs Gymnasium and numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from .leaves import bounds, is_action, nested, pack_action


def observation_space(leaves: Mapping[str, Any]) -> spaces.Space[Any]:
    """The space of one instance's observation; leaves are those of the contract, by path."""
    return _nested_space(nested(leaves, "observation", _space))


def action_space(leaves: Mapping[str, Any]) -> spaces.Space[Any]:
    """The space of one instance's action."""
    return _nested_space(pack_action({path: _action_space(leaf) for path, leaf in leaves.items() if is_action(path)}))


def _nested_space(value: Any) -> spaces.Space[Any]:
    if isinstance(value, Mapping):
        return spaces.Dict({name: _nested_space(part) for name, part in value.items()})
    return value


def _action_space(leaf: Mapping[str, Any]) -> spaces.Space[Any]:
    """As any other space, but that a row of choices is several choices rather than a picture."""
    dtype, shape = np.dtype(leaf["dtype"]), tuple(leaf["shape"])
    if dtype.kind in "iu" and len(shape) == 1:
        low, high = bounds(leaf)
        return spaces.MultiDiscrete(high.astype(np.int64) - low + 1, dtype=dtype.type, start=low)
    return _space(leaf)


def _space(leaf: Mapping[str, Any]) -> spaces.Space[Any]:
    low, high = bounds(leaf)
    dtype, shape = np.dtype(leaf["dtype"]), tuple(leaf["shape"])
    if dtype.kind == "f":
        return spaces.Box(low, high, shape, dtype.type)
    if dtype.kind == "b":
        return spaces.MultiBinary(shape) if shape else spaces.Discrete(2)
    if shape == ():
        return spaces.Discrete(int(high) - int(low) + 1, start=int(low))
    return spaces.Box(low, high, shape, dtype.type)
