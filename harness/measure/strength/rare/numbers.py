"""Numbers of a step: of the state before it, of the action, and what the step changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.model import STATE, Array, Leaf, Leaves, Trajectory
from harness.support.document import Document, DocumentError
from harness.task.contract import Task

BEFORE, CHANGE, ACTION = KINDS = ("before", "change", "action")
SMALL = 16
"""A leaf of at most so many elements is looked at in full."""
SAMPLE = 8
"""So many elements are looked at of a larger one."""
MOST = 24
"""At most so many numbers of a state are looked at, by chance."""
EXACT = 1 << 53
"""Whole numbers below this are the same as floats."""
LONGEST_PATH = 200


@dataclass(frozen=True)
class Number:
    """One number of a step.

    Attributes:
        kind: `before`, a number of the state before the step; `change`, what the step adds to it; `action`.
        path: of the leaf.
        index: of the element, in the flat leaf.
    """

    kind: str
    path: str
    index: int = 0

    def __str__(self) -> str:
        element = f"{self.path.removeprefix(STATE)}[{self.index}]"
        return f"change of {element}" if self.kind == CHANGE else element

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"kind": self.kind, "path": self.path, "index": self.index}

    @staticmethod
    def from_json(described: object, kind: str = "number") -> Number:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        number = Number(document.text("kind"), document.text("path"), document.whole("index"))
        if number.kind not in KINDS or number.index < 0 or len(number.path) > LONGEST_PATH:
            raise DocumentError(f"{kind} is no number of a step; expected one of {', '.join(KINDS)}, and a leaf")
        return number


@dataclass(frozen=True)
class Numbers:
    """The numbers that are looked at, in the order of the rows of what `of` returns."""

    task: Task
    chosen: tuple[Number, ...]

    @staticmethod
    def of_task(task: Task, rng: np.random.Generator) -> Numbers:
        """Numbers of the state, each with its change, chosen by chance where there are many; and those of the action."""
        state = [Number(BEFORE, path, each) for path, leaf in task.state.items() for each in _elements(leaf, rng)]
        if len(state) > MOST:
            state = [state[each] for each in np.sort(rng.choice(len(state), MOST, replace=False))]
        changes = [
            Number(CHANGE, each.path, each.index) for each in state if np.dtype(task.state[each.path].dtype).kind != "b"
        ]
        actions = [Number(ACTION, path, each) for path, leaf in task.actions.items() for each in _elements(leaf, rng)]
        return Numbers(task, (*state, *changes, *actions))

    def of(self, before: Leaves, after: Leaves, actions: Leaves) -> Array:
        """The numbers `[numbers, steps]` as float64 of leaves that are `[steps, *leaf shape]` each."""
        steps = len(next(iter(actions.values())))
        found = np.empty((len(self.chosen), steps))
        for row, number in enumerate(self.chosen):
            if number.kind == CHANGE:
                found[row] = change(_element(before, number), _element(after, number))
            else:
                found[row] = _element(actions if number.kind == ACTION else before, number)
        return found

    def of_trajectory(self, played: Trajectory) -> Array:
        """The numbers `[numbers, steps]` of the steps of a trajectory."""
        leaves, steps = played.leaves, played.steps
        before = {number.path: leaves[number.path][:-1] for number in self.chosen if number.kind != ACTION}
        after = {path: leaves[path][1:] for path in before}
        return self.of(before, after, {path: array[:steps] for path, array in played.case.actions.items()})

    def dtype(self, number: Number) -> np.dtype[Any]:
        """Of the leaf that a number is of."""
        return np.dtype(self._leaves[number.path].dtype)

    def leaf(self, number: Number) -> Leaf:
        """The leaf that a number is of."""
        return self._leaves[number.path]

    @property
    def _leaves(self) -> Mapping[str, Leaf]:
        return {**self.task.state, **self.task.actions}


def change(before: Array, after: Array) -> Array:
    """What was added, in the numbers' own dtype; of whole numbers modulo their width, with a sign."""
    if before.dtype.kind not in "iu":
        return after - before
    with np.errstate(over="ignore"):
        return (after - before).astype(f"i{before.dtype.itemsize}")


def _element(leaves: Leaves, number: Number) -> Array:
    array = leaves[number.path]
    return array.reshape(len(array), -1)[:, number.index]


def _elements(leaf: Leaf, rng: np.random.Generator) -> list[int]:
    size = int(np.prod(leaf.shape, dtype=np.int64))
    return list(range(size)) if size <= SMALL else sorted(rng.choice(size, SAMPLE, replace=False).tolist())
