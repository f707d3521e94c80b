"""Spaces, attributes and random calls of a Gymnasium environment, as leaves and laws of a task."""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

import collections
import enum
from typing import Any

import gymnasium_state
import numpy as np
from gymnasium import spaces

MOST_WORDS, MOST_ROWS = 64, 64
KINDS = {
    float: "number", int: "number", bool: "number", list: "list", tuple: "tuple", np.ndarray: "array",
    collections.deque: "deque",
}  # fmt: skip


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
    raise Unusable(
        f"`{path}` is a {type(space).__name__} space, whose points have no fixed shape, so that it has no leaves; a "
        "`--factory` can wrap it in one that pads them to the longest"
    )


def text_leaf(space: Any, path: str) -> Any:
    """The leaf of a space of texts with its characters, which are numbered from 1, and 0 stands for none; None otherwise."""
    if isinstance(space, spaces.Text):
        characters = "".join(space.character_list)
        low = [1] * space.min_length + [0] * (space.max_length - space.min_length)
        leaf = {"dtype": "int64", "shape": [space.max_length], "low": low, "high": len(characters)}
        return leaf, characters
    if path.startswith("action") or isinstance(space, (spaces.Box, spaces.Discrete)):
        return None
    try:
        samples = [space.sample() for _ in range(20)]
    except Exception:
        return None
    if not all(isinstance(sample, str) for sample in samples):
        return None
    most = 2 * max(map(len, samples))
    return {"dtype": "int64", "shape": [most], "low": 0, "high": 0x10FFFF}, ""


def _bound(values: np.ndarray) -> Any:
    def spelled(value: Any) -> Any:
        if isinstance(value, list):
            return [spelled(item) for item in value]
        return value if np.isfinite(value) else ("inf" if value > 0 else "-inf")

    values = np.asarray(values)
    if values.size and np.all(values == values.flat[0]):
        return spelled(values.flat[0].item())
    return spelled(values.tolist())


def described(values: list[Any]) -> Any:
    """How to read and write what a place held over time, and its leaves by the end of their names; None if it never
    changed, or is nothing that leaves can hold. The third is how rich it is: 0 for numbers and arrays, 1 for what is
    absent at times or grows, 2 for words.
    """
    if all(map(gymnasium_state.is_engine_state, values)):
        leaf = _plain_leaf([state.array for state in values])
        return ({"kind": "engine"}, {"": leaf}, 0) if leaf else None
    if any(isinstance(value, enum.Enum) for value in values):
        return _described_members(values)
    leaf = _plain_leaf(values)
    if leaf is not None:
        if leaf == {}:
            return None
        narrower = _narrower(values)
        leaves = {"": leaf, "_narrow": _FLAG} if narrower else {"": leaf}
        return narrower or {"kind": _kind(values[-1])}, leaves, 0
    if all(value is None or isinstance(value, str) for value in values):
        words = sorted({value for value in values if value is not None})
        words = [None, *words] if None in values else words
        if not 1 < len(words) <= MOST_WORDS:
            return None
        return {"kind": "word", "words": words}, {"": _whole(0, len(words) - 1)}, 2
    if any(value is None for value in values):
        held = [value for value in values if value is not None]
        leaf = _plain_leaf(held) or _constant_leaf(held)
        if leaf:
            return {"kind": "optional", "of": _kind(held[-1])}, {"": leaf, "_present": _FLAG}, 1
        return None
    return _described_rows(values)


def _described_members(values: list[Any]) -> Any:
    """Members of one enumeration, or nothing at times. What combines flags has no members of its own."""
    held = [value for value in values if value is not None]
    classes = {type(value) for value in held}
    if len(classes) != 1 or not isinstance(held[0], enum.Enum) or isinstance(held[0], enum.Flag):
        return None
    members = [*([None] if None in values else []), *(member.name for member in classes.pop())]
    if len({repr(value) for value in values}) < 2:
        return None
    how = {"kind": "enum", "class": gymnasium_state.class_name(held[0]), "members": members}
    return how, {"": _whole(0, len(members) - 1)}, 2


def _described_rows(values: list[Any]) -> Any:
    """Sequences or sets whose items are all alike, or nothing, and whose number may change."""
    if not all(isinstance(value, (*gymnasium_state.SEQUENCES, *gymnasium_state.SETS)) for value in values):
        return None
    try:
        values = [gymnasium_state.in_order(value) for value in values]
    except TypeError:
        return None
    held = [item for value in values for item in value if item is not None]
    if held and all(type(item) is str for item in held):
        words = {word: number for number, word in enumerate(sorted(set(held)))}
        numbered = _described_rows([[item if item is None else words[item] for item in value] for value in values])
        return numbered and ({"kind": "rows", "of": "word", "words": list(words)}, numbered[1], 2)
    leaf = held and (_plain_leaf(held) or _constant_leaf(held))
    longest = max(map(len, values))
    if not leaf or longest > MOST_ROWS or len({repr(value) for value in values}) < 2:
        return None
    room = longest if all(len(value) == longest for value in values) else 2 * longest + 2
    rows = {"dtype": leaf["dtype"], "shape": [room, *leaf["shape"]]}
    present = {"dtype": "bool", "shape": [room]}
    return {"kind": "rows", "of": _kind(held[0])}, {"": rows, "_present": present, "_count": _whole(0, room)}, 1


def _narrower(values: list[Any]) -> dict[str, str]:
    """The narrower of two float types that an environment keeps a state in, and the kinds of both: it goes on otherwise
    from each. A number of Python's own is wide, too.
    """
    dtypes = [np.asarray(value).dtype for value in values]
    narrow = min(dtypes, key=lambda dtype: dtype.itemsize)
    if len(set(dtypes)) < 2 or any(dtype.kind != "f" for dtype in dtypes):
        return {}
    kind = _kind(values[dtypes.index(narrow)])
    wide = next(_kind(value) for value, dtype in zip(values, dtypes) if dtype != narrow)
    return {"kind": kind, "narrow": narrow.name, "wide": wide}


_FLAG = {"dtype": "bool", "shape": []}


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"dtype": "int64", "shape": [], "low": low, "high": high}


def _plain_leaf(values: list[Any]) -> Any:
    """The leaf of values that are numbers of one shape; {} if they never change, None if they are not such."""
    arrays = arrays_of(values)
    if arrays is None:
        return None
    if not arrays[0].size or all(array.tobytes() == arrays[0].tobytes() for array in arrays):
        return {}
    return _constant_leaf(values)


def _constant_leaf(values: list[Any]) -> Any:
    """The leaf of such values whether they change or not; None where there is no number in them, for a leaf holds some."""
    arrays = arrays_of(values)
    if not arrays or not arrays[0].size:
        return None
    # Some states begin in float32 and go on in float64: the wider one holds both.
    return {"dtype": np.result_type(*arrays).name, "shape": list(arrays[0].shape)}


def arrays_of(values: list[Any]) -> Any:
    """Values as arrays of numbers of one shape; None if they are not such."""
    if not all(
        isinstance(value, (*gymnasium_state.NUMBERS, np.ndarray, *gymnasium_state.SEQUENCES)) for value in values
    ):
        return None
    try:
        arrays = [np.asarray(value) for value in values]
    except ValueError:
        return None
    if len({array.shape for array in arrays}) != 1 or not {array.dtype.kind for array in arrays} <= set("biuf"):
        return None
    return arrays


def _kind(value: Any) -> str:
    return "tuple" if isinstance(value, tuple) else KINDS.get(type(value), "scalar")


def law_of(label: str, calls: list[Any]) -> dict[str, Any] | None:
    """The law of draws of one name that were all asked for with the same arguments, if it is one that a task file can state.

    Args:
        label: the name of the draws.
        calls: name, arguments and options of each call.
    """
    laws, known = [], _LAWS_OF_PLACES if "_index" in label else _LAWS
    for name, arguments, options in calls:
        try:
            law = known[name](*arguments, **options)
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


def _choice(a: Any, *arguments: Any, **options: Any) -> dict[str, Any] | None:
    """Of whole numbers from zero on, which are their own places."""
    values = np.asarray(a) if np.ndim(a) else np.arange(a)
    if not np.array_equal(values, np.arange(len(values))) or values.dtype.kind not in "iu":
        return None
    return _place(values, *arguments, **options)


def _place(
    a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
) -> dict[str, Any] | None:
    """Where a choice stands among what it is made from; without replacement no element is like another."""
    if size is not None and np.prod(size) > 1 and not replace:
        return None
    if p is None:
        return _integers(len(a))
    return {"kind": "categorical", "probabilities": [float(share) for share in p]}


def _python_normal(mu: float = 0.0, sigma: float = 1.0) -> dict[str, Any]:
    return _normal(mu, sigma)


_LAWS = {
    "random": lambda size=None, dtype=None, out=None: _uniform(),
    "uniform": _uniform,
    "normal": _normal,
    "standard_normal": lambda size=None, dtype=None, out=None: _normal(),
    "integers": _integers,
    "choice": _choice,
    "randint": lambda low, high=None, size=None, dtype=None: _integers(low, high),
    "random_sample": lambda size=None: _uniform(),
    "rand": lambda *shape: _uniform(),
    "randn": lambda *shape: _normal(),
    "python_random": _uniform,
    "python_uniform": _uniform,
    "python_gauss": _python_normal,
    "python_normalvariate": _python_normal,
    "python_randint": lambda a, b: _integers(a, b, endpoint=True),
    "python_randrange": lambda start, stop=None: _integers(start, stop),
}  # type: dict[str, Any]

_LAWS_OF_PLACES = {"choice": _place, "python_choice": lambda seq: _integers(len(seq))}  # type: dict[str, Any]
"""Of draws that are places in a list."""
