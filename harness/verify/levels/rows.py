"""Rows of states: from one state to another by the smallest steps that its numbers allow.

In most rows one number moves, and everything else rests; in one row from each state all floats move together, along the
straight line to another state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from harness.model import Array, Leaf, Leaves
from harness.task.leaf_values import anywhere
from harness.verify.adjacent import number_at, place_of, without_tiny
from harness.verify.pair import Pair

STRAIGHT = "all floats"


@dataclass(frozen=True)
class Start:
    """A state from which rows begin, and the step that is taken from all their states."""

    state: Leaves
    action: Leaves
    seed: int


@dataclass(frozen=True)
class Row:
    """States in a row, each with a place.

    Attributes:
        start: the start from which it begins.
        path: the leaf that moves, or `STRAIGHT`.
        index: the position inside the leaf of what moves, in a flat view.
        begin, end: the place of the start's own state, and that at the other end; it may be the smaller one.
        state_at: the state at a place.
    """

    start: Start
    path: str
    index: int
    begin: int
    end: int
    state_at: Callable[[int], Leaves]


def starts(pair: Pair, stream: str, count: int) -> list[Start]:
    """Starts of three kinds in turns: states of episodes, near these, and anywhere within the stated bounds."""
    rng = pair.random(f"{stream}/states")
    leaves = [leaf for leaf in pair.task.state.values() if _bounds(leaf) is not None]
    somewhere = {leaf.path: anywhere(leaf, rng, count) for leaf in leaves}
    near = pair.starts.near(f"{stream}/near", count)
    found = []
    for number, seed in enumerate(pair.seeds(f"{stream}/seeds", count)):
        state, action = (
            near[number] if number % 3 == 0 else pair.starts.reached[int(rng.integers(len(pair.starts.reached)))]
        )
        if number % 3 == 1:
            state = {**state, **{path: values[number] for path, values in somewhere.items()}}
        found.append(Start({path: without_tiny(np.asarray(value)) for path, value in state.items()}, action, seed))
    return found


def rows_from(start: Start, other: Start, leaves: Mapping[str, Leaf], rng: np.random.Generator, most: int) -> list[Row]:
    """At most `most` rows: some of those in which one number moves, and the straight line to the other start."""
    found = [row for leaf in leaves.values() for row in _of_leaf(start, other, leaf, rng)]
    chosen = [found[pick] for pick in rng.permutation(len(found))[: most - 1]]
    return [*chosen, *_straight(start, other, leaves)]


def _of_leaf(start: Start, other: Start, leaf: Leaf, rng: np.random.Generator) -> Iterator[Row]:
    """Rows in which one number of a leaf moves to its bounds; and a float to what it is in the other start, and to zero."""
    dtype, values = np.dtype(leaf.dtype), start.state[leaf.path]
    if dtype.kind == "b" or not values.size:
        return
    index = int(rng.integers(values.size))
    bounds = _bounds(leaf)
    targets = [] if bounds is None else [bound.flat[index] for bound in bounds]
    if dtype.kind == "f":
        targets += [other.state[leaf.path].flat[index], dtype.type(0)]
    value = values.flat[index]
    for target in targets:
        if not np.isfinite(target) or not np.isfinite(value):
            continue
        begin, end = place_of(value, dtype), place_of(target, dtype)
        if begin != end:
            yield Row(start, leaf.path, index, begin, end, _moving(start.state, leaf.path, index))


def _moving(state: Leaves, path: str, index: int) -> Callable[[int], Leaves]:
    def state_at(place: int) -> Leaves:
        moved = np.array(state[path])
        moved.flat[index] = number_at(place, moved.dtype)
        return {**state, path: moved}

    return state_at


def _straight(start: Start, other: Start, leaves: Mapping[str, Leaf]) -> Iterator[Row]:
    """The row in which all floats move together, in as many steps as the widest of them has between one half and one."""
    state, end = start.state, other.state
    floats = [
        path
        for path, leaf in leaves.items()
        if np.dtype(leaf.dtype).kind == "f" and np.isfinite(state[path]).all() and np.isfinite(end[path]).all()
    ]
    if not floats or start is other:
        return
    places = 1 << 1 + max(np.finfo(state[path].dtype).nmant for path in floats)

    def state_at(place: int) -> Leaves:
        return {**state, **{path: _between(state[path], end[path], place / places) for path in floats}}

    yield Row(start, STRAIGHT, 0, 0, places, state_at)


def _between(one: Array, other: Array, share: float) -> Array:
    """The point of a straight line, in the dtype of its ends; neither end is exceeded."""
    point = (1.0 - share) * one.astype(np.float64) + share * other.astype(np.float64)
    return without_tiny(np.clip(point.astype(one.dtype), np.minimum(one, other), np.maximum(one, other)))


def _bounds(leaf: Leaf) -> tuple[Array, Array] | None:
    """A leaf's bounds in its shape and dtype; None where it has none."""
    if leaf.low is None or leaf.high is None or leaf.dtype == "bool":
        return None
    low, high = (np.broadcast_to(np.asarray(bound), leaf.shape) for bound in (leaf.low, leaf.high))
    return low.astype(leaf.dtype), high.astype(leaf.dtype)
