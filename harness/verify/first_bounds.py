"""The first bounds of a new task's state: those of the observation that shows it as it is, and those of a clock.

Without bounds tests begin only at states that episodes come to, and random play does not come to a goal that must be
sought. What a reference says of its observations holds for the numbers of its state that are observed. And what counts the
steps of an episode takes each value up to the limit at which episodes are cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.model import Array, Leaf, Trajectory, is_observed
from harness.protocol.environment import Pool
from harness.support.files import write_durably
from harness.task.contract import TASK_FILE, Task
from harness.task.leaf_values import anywhere
from harness.verify.pair import step_case
from harness.verify.refusals import answered

SEED = 7
EPISODES = 16
HORIZON = 400
DISTINCT = 8
"""A number that took fewer values may be like another by chance."""
TRIED = 64
"""States within the bounds from which the reference must go on."""


def write_first_bounds(task: Task, reference: Pool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find bounds, and put them into the task's file; and take away those within which the reference does not keep a state.

    Returns:
        The leaves that got some, and those that lost theirs: where one leaf moves, another has to move with it.

    Raises:
        EnvironmentFailure: the reference could not answer; nothing was written.
    """
    if "restore" not in reference.spec.capabilities:
        return (), ()
    played = reference.drive("random", range(EPISODES), HORIZON)
    proposed = first_bounds(task, played) | clock_bounds(task, played)
    found = {path: leaf for path, leaf in proposed.items() if all(_kept(task, reference, leaf, played))}
    stated = [leaf for leaf in task.state.values() if leaf.low is not None and leaf.high is not None]
    lost = [leaf.path for leaf in stated if False in _kept(task, reference, leaf, played)]
    file = task.directory / TASK_FILE
    lines = file.read_text(encoding="utf-8").split("\n")
    for path in (*found, *lost):
        [number] = [number for number, line in enumerate(lines) if line.startswith(f'"{path}" = {{ dtype')]
        lines[number] = re.sub(r"(, low = .*)? \}$", _bounds(found.get(path)) + " }", lines[number])
    if found or lost:
        write_durably(file, "\n".join(lines).encode())
    return tuple(found), tuple(lost)


def _bounds(leaf: Leaf | None) -> str:
    """Bounds as a task file has them."""
    if leaf is None:
        return ""
    low, high = (np.asarray(bound).tolist() for bound in (leaf.low, leaf.high))
    return f", low = {low}, high = {high}"


def first_bounds(task: Task, played: Sequence[Trajectory]) -> dict[str, Leaf]:
    """Float leaves of the state without bounds, each number of which is one of an observation with finite bounds."""
    observed = [
        (column, ends)
        for path, leaf in task.outputs.items()
        if is_observed(path) and np.dtype(leaf.dtype).kind == "f"
        for column, ends in zip(_columns(played, path), _ends_of(leaf), strict=True)
        if np.isfinite(ends).all() and len(np.unique(column)) >= DISTINCT
    ]
    found = {}
    for path, leaf in task.state.items():
        if np.dtype(leaf.dtype).kind != "f" or leaf.low is not None or leaf.high is not None:
            continue
        ends = [
            next((ends for seen, ends in observed if np.array_equal(seen, column.astype(seen.dtype))), None)
            for column in _columns(played, path)
        ]
        if ends and None not in ends:
            low, high = np.array(ends, np.float64).T.reshape(2, *leaf.shape)
            found[path] = replace(leaf, low=low, high=high)
    return found


def clock_bounds(task: Task, played: Sequence[Trajectory]) -> dict[str, Leaf]:
    """The whole number of the state that rises by one in each step, from where it begins to where episodes are cut.

    None where there are several: they belong together, and a test would move them apart.
    """
    cut = {one.steps for one in played if one.leaves["truncated"][-1] and not one.leaves["terminated"][-1]}
    clocks = [
        leaf
        for path, leaf in task.state.items()
        if np.dtype(leaf.dtype).kind in "iu" and leaf.shape == () and all(_counts(one.leaves[path]) for one in played)
    ]
    begins = {int(one.leaves[leaf.path][0]) for one in played for leaf in clocks}
    if len(clocks) != 1 or len(cut) != 1 or len(begins) != 1 or clocks[0].low is not None or clocks[0].high is not None:
        return {}
    [leaf], [steps], [first] = clocks, cut, begins
    return {leaf.path: replace(leaf, low=first, high=first + steps - 1)}


def _counts(values: Array) -> bool:
    return bool(np.all(np.diff(values.astype(np.int64)) == 1))


def _columns(played: Sequence[Trajectory], path: str) -> Array:
    """The values of each number of a leaf in all timesteps, `[numbers, timesteps]`."""
    return np.concatenate([one.leaves[path].reshape(one.timesteps, -1) for one in played]).T


def _ends_of(leaf: Leaf) -> list[tuple[float, float]]:
    """The bounds of each number of a leaf, as few digits as tell them in its dtype: 0.07 and not 0.07000000029802322."""
    sides = ((-np.inf if leaf.low is None else leaf.low), (np.inf if leaf.high is None else leaf.high))
    lows, highs = (np.broadcast_to(np.asarray(side, leaf.dtype), leaf.shape).ravel() for side in sides)
    return [(float(str(low)), float(str(high))) for low, high in zip(lows, highs, strict=True)]


def _kept(task: Task, reference: Pool, leaf: Leaf, played: Sequence[Trajectory]) -> list[bool | None]:
    """Of states that differ from those of episodes in this leaf alone, anywhere within its bounds: whether the reference
    begins a step at them as they are; None where it refuses.
    """
    rng = np.random.default_rng(SEED)
    steps = [(one, int(rng.integers(one.steps))) for one in (played[n % len(played)] for n in range(TRIED))]
    cases = [
        step_case(
            {**one.state(step), leaf.path: value},
            {path: array[step] for path, array in one.case.actions.items()},
            one.case.seed,
            "first bounds",
        )
        for (one, step), value in zip(steps, anywhere(leaf, rng, TRIED), strict=True)
    ]
    answers = answered(reference.rollout, cases)
    return [
        None
        if answer is None
        else all(np.array_equal(answer.leaves[path][0], array) for path, array in (case.start or {}).items())
        for case, answer in zip(cases, answers, strict=True)
    ]
