"""Spaces, attributes and random calls of a Gymnasium environment, as leaves and laws of a task."""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces


class Unusable(Exception):
    """The environment cannot be a reference as it is; the message says why."""


def leaf_of(space: Any, path: str, notes: list[str]) -> dict[str, Any]:
    """The leaf of a space, as the protocol describes one; what had to be guessed is added to the notes."""
    if isinstance(space, spaces.Discrete):
        low = int(space.start)
        return {"dtype": "int64", "shape": [], "low": low, "high": low + int(space.n) - 1}
    if isinstance(space, spaces.MultiDiscrete):
        start = np.asarray(getattr(space, "start", np.zeros_like(space.nvec)))
        high = start + space.nvec - 1
        return {"dtype": space.dtype.name, "shape": list(space.shape), "low": start.tolist(), "high": high.tolist()}
    if isinstance(space, spaces.MultiBinary):
        return {"dtype": space.dtype.name, "shape": list(space.shape), "low": 0, "high": 1}
    if isinstance(space, spaces.Box):
        low, high = space.low, space.high
        if path.startswith("action") and not (np.isfinite(low).all() and np.isfinite(high).all()):
            low = np.where(np.isfinite(low), low, np.minimum(-1, high))
            high = np.where(np.isfinite(high), high, np.maximum(1, low))
            notes.append(f"`{path}` is unbounded; tests draw it from the bounds in task.toml, first guessed as 1")
        return {"dtype": space.dtype.name, "shape": list(space.shape), "low": _bound(low), "high": _bound(high)}
    raise Unusable(f"`{path}` is a {type(space).__name__} space, which has no fixed leaves")


def _bound(values: np.ndarray) -> Any:
    def spelled(value: Any) -> Any:
        if isinstance(value, list):
            return [spelled(item) for item in value]
        return value if np.isfinite(value) else ("inf" if value > 0 else "-inf")

    values = np.asarray(values)
    if values.size and np.all(values == values.flat[0]):
        return spelled(values.flat[0].item())
    return spelled(values.tolist())


def attribute_leaf(values: list[Any]) -> Any:
    """The leaf of an attribute with these values over time, or None if it is no changing number of fixed shape."""
    if not all(isinstance(value, (bool, int, float, np.generic, np.ndarray, list, tuple)) for value in values):
        return None
    try:
        arrays = [np.asarray(value) for value in values]
    except ValueError:
        return None
    kinds = {array.dtype.kind for array in arrays}
    if len({array.shape for array in arrays}) != 1 or len(kinds) != 1 or not kinds <= set("biuf"):
        return None
    if not arrays[0].size or all(array.tobytes() == arrays[0].tobytes() for array in arrays):
        return None
    # Some states begin in float32 and go on in float64: the wider one holds both.
    return {"dtype": np.result_type(*arrays).name, "shape": list(arrays[0].shape)}


def law_of(calls: list[Any]) -> dict[str, Any] | None:
    """The law of draws that were all asked for with the same arguments, if it is one that a task file can state."""
    laws = []
    for name, arguments, options in calls:
        try:
            law = _LAWS[name](*arguments, **options)
        except (KeyError, TypeError, ValueError):
            return None
        if law is None or (laws and law != laws[0]):
            return None
        laws.append(law)
    return laws[0]


def _uniform(low: float = 0.0, high: float = 1.0, size: Any = None) -> dict[str, Any]:
    return {"kind": "uniform", "low": float(low), "high": float(high)}


def _normal(loc: float = 0.0, scale: float = 1.0, size: Any = None) -> dict[str, Any]:
    return {"kind": "normal", "mean": float(loc), "std": float(scale)}


def _integers(
    low: int, high: Any = None, size: Any = None, dtype: Any = None, endpoint: bool = False
) -> dict[str, Any]:
    first, last = (0, int(low)) if high is None else (int(low), int(high))
    return {"kind": "integers", "low": first, "high": last if endpoint else last - 1}


_LAWS = {
    "random": lambda size=None, dtype=None, out=None: _uniform(),
    "uniform": _uniform,
    "normal": _normal,
    "standard_normal": lambda size=None, dtype=None, out=None: _normal(),
    "integers": _integers,
}  # type: dict[str, Any]
