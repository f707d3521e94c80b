"""Where a limit is compared that a candidate may miss by a rounding: as near to it as the reference's own answer is certain.

A candidate that is right within its tolerance takes a step as the reference does from a state that is a little off. So at a
state near a limit the two may differ for no fault. Further away they may not: there the reference gives one answer all
around, within several tolerances of every number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.model import Array, Case, Leaves
from harness.task.contract import Task
from harness.verify.adjacent import Ends, place_of
from harness.verify.levels.rows import STRAIGHT, Row

AWAY = (1e3, 1e6)
"""How many tolerances away from a limit both sides are compared."""
AROUND = 8
"""So many tolerances around such a state the reference must give the same answer,"""
CORNERS = 4
"""at so many corners."""


def places(task: Task, row: Row, ends: Ends) -> list[int]:
    """Places of a row on either side of the two between which an outcome turns over, AWAY from them."""
    low, high = sorted((row.begin, row.end))
    found = []
    for end, way in zip(ends, np.sign(np.subtract(ends, ends[::-1])).tolist(), strict=True):
        found += [place for place in _away(task, row, end, way) if low <= place <= high]
    return list(dict.fromkeys(found))


def corners(task: Task, case: Case, rng: np.random.Generator) -> list[Case]:
    """Cases like one, each number of whose state is AROUND tolerances more or less."""
    assert case.start is not None
    return [
        Case(case.seed, case.actions, {path: _moved(task, path, array, rng) for path, array in case.start.items()})
        for _ in range(CORNERS)
    ]


def _away(task: Task, row: Row, end: int, way: int) -> Iterator[int]:
    state = row.state_at(end)
    if row.path == STRAIGHT:
        share = _share(task, row, state)
        yield from (end + way * int(np.ceil(times * share)) for times in AWAY)
        return
    leaf = state[row.path]
    if leaf.dtype.kind != "f":
        yield end
        return
    number, reach = leaf.flat[row.index], _reach(task, row.path, leaf).flat[row.index]
    # Places grow with the number's size: towards more of it, for those below zero too.
    yield from (place_of(leaf.dtype.type(number + way * times * reach), leaf.dtype) for times in AWAY)


def _share(task: Task, row: Row, state: Leaves) -> float:
    """How many places of the straight row move some number by its tolerance; what does not move has no say."""
    last = row.state_at(row.end)
    far = [
        float(np.abs(last[path] - array)[last[path] != array].max(initial=0.0)) / float(_reach(task, path, array).max())
        for path, array in state.items()
        if array.dtype.kind == "f" and array.size
    ]
    return abs(row.end - row.begin) / max(1.0, *far)


def _moved(task: Task, path: str, array: Array, rng: np.random.Generator) -> Array:
    if array.dtype.kind != "f" or task.tolerance(path).exact:
        return array
    signs = rng.choice([-1.0, 1.0], array.shape)
    return (array + signs * AROUND * _reach(task, path, array)).astype(array.dtype)


def _reach(task: Task, path: str, array: Array) -> Array:
    """How far each number of a float leaf may be off; of an exact one, to the next number."""
    tolerance, next_one = task.tolerance(path), np.spacing(np.abs(array)).astype(np.float64)
    stated = tolerance.atol + tolerance.rtol * np.abs(array.astype(np.float64))
    return np.maximum(stated, max(1, tolerance.ulp) * next_one)
