"""From timesteps to cells: one cell for each feature of a timestep.

Features are, for each number that is looked at, its class, its place among the quantiles of early play, and its change; and
pairs of numbers. A state speaks for its observation. Of a large leaf only a few elements are looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.model import Array, Leaf, Trajectory, is_observed, is_of_step
from harness.task.contract import Task
from harness.verify.exploration import classes
from harness.verify.exploration.classes import CLASSES, COARSE

AGE = "age"
"""How many steps an episode took up to a timestep, as far as that is known: what is late is rare."""
SMALL = 64
"""A leaf of at most so many elements is looked at in full."""
SAMPLE = 8
"""So many elements are looked at of a larger one."""
MOST_PAIRS = 64


@dataclass(frozen=True)
class Timesteps:
    """Timesteps of some trajectories: `cells` `[N, features]`, and of which `trajectory` each is which `timestep`."""

    cells: Array
    trajectory: Array
    timestep: Array


class Cells:
    """The features of one task.

    Args:
        task: whose leaves they are of.
        rng: chooses elements of large leaves, and pairs where there are many.
    """

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        leaves = {path: leaf for path, leaf in task.outputs.items() if not (task.state and is_observed(path))}
        self._looked_at = {path: _elements(leaf, rng) for path, leaf in leaves.items()}
        kinds = {path: np.dtype(leaf.dtype).kind for path, leaf in leaves.items()}
        self._floats = [path for path, kind in kinds.items() if kind == "f"]
        self._integers = [path for path, kind in kinds.items() if kind != "f"]
        self._low, self._high = (
            np.concatenate([_bounds(task.outputs[path], self._looked_at[path], side) for path in self._floats] or [[]])
            for side in range(2)
        )
        self._edges: Array | None = None
        columns = [(path, number) for path in (*self._floats, *self._integers) for number in self._looked_at[path]]
        columns.append((AGE, 0))
        self._pairs = np.array(_pairs([path for path, _ in columns], rng), np.int64).reshape(-1, 2)

    def of(self, trajectories: Sequence[Trajectory], new_from: Sequence[int], ages: Sequence[int]) -> Timesteps:
        """The cells of all timesteps from `new_from` on, of each trajectory, which began at that age. The first trajectories
        set the quantiles.
        """
        lengths = np.array([trajectory.timesteps for trajectory in trajectories])
        first = np.cumsum(lengths) - lengths
        begins = np.zeros(lengths.sum(), bool)
        begins[first] = True
        floats = self._stacked(trajectories, self._floats, np.float64, len(begins))
        number = np.repeat(np.arange(len(lengths)), lengths)
        timestep = np.arange(len(begins)) - first[number]
        age = np.asarray(ages, np.int64)[number] + timestep
        integers = self._stacked(trajectories, self._integers, np.int64, len(begins))
        integers = np.concatenate([integers, age[:, None]], axis=1)
        if self._edges is None:
            self._edges = classes.quantile_edges(floats)
        scale = classes.octaves_of(self._edges)
        places = classes.places(floats, self._edges)
        coarse = np.concatenate([places, classes.coarse_integers(integers)], axis=1)
        cells = np.concatenate(
            [
                classes.of_floats(floats, self._low, self._high, scale),
                places,
                classes.changes(floats, begins, scale),
                classes.of_integers(integers),
                classes.changes(integers.astype(np.float64), begins),
                coarse[:, self._pairs[:, 0]] * COARSE + coarse[:, self._pairs[:, 1]],
            ],
            axis=1,
        )
        new = timestep >= np.asarray(new_from)[number]
        numbered = cells[new] + np.arange(cells.shape[1]) * CLASSES
        return Timesteps(numbered.astype(np.int32), number[new], timestep[new])

    @property
    def most(self) -> int:
        """Cells are numbered from 0 to below this."""
        floats, integers = (
            sum(len(self._looked_at[path]) for path in paths) for paths in (self._floats, self._integers)
        )
        return (3 * floats + 2 * (integers + 1) + len(self._pairs)) * CLASSES

    def _stacked(self, trajectories: Sequence[Trajectory], paths: Sequence[str], dtype: type, timesteps: int) -> Array:
        parts = [np.zeros((timesteps, 0), dtype)]
        for path in paths:
            elements = self._looked_at[path]
            arrays = [each.leaves[path] for each in trajectories]
            if arrays[0][0].size > len(elements):  # not all of a large leaf is copied
                arrays = [array.reshape(len(array), -1)[:, elements] for array in arrays]
            parts.append(np.concatenate(arrays).reshape(timesteps, -1).astype(dtype))
        return np.concatenate(parts, axis=1)


def _elements(leaf: Leaf, rng: np.random.Generator) -> Array:
    size = int(np.prod(leaf.shape, dtype=np.int64))
    return np.arange(size) if size <= SMALL else np.sort(rng.choice(size, SAMPLE, replace=False))


def _bounds(leaf: Leaf, elements: Array, side: int) -> Array:
    bound = (leaf.low, leaf.high)[side]
    if bound is None:
        bound = (-np.inf, np.inf)[side]
    return np.broadcast_to(np.asarray(bound, np.float64), leaf.shape).reshape(-1)[elements]


def _pairs(columns: Sequence[str], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of columns: ends and rewards with everything, then others by chance."""
    pairs = list(itertools.combinations(range(len(columns)), 2))
    order = rng.permutation(len(pairs))
    ranked = sorted(order, key=lambda index: not any(is_of_step(columns[each]) for each in pairs[int(index)]))
    return [pairs[int(index)] for index in ranked[:MOST_PAIRS]]
