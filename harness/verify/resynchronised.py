"""Trajectories whose steps each begin at a state that is given: how floats are compared that may be off.

What one step may be off, the next enlarges. After a hundred steps of a double pendulum nothing is left to compare, and a
tolerance for a hundred steps would forgive any fault of a single one. So where a task states a tolerance for a float of the
state, each step of the candidate begins at the state that the reference had there, and is judged by itself. What a candidate
keeps beside that state would go unseen so. Therefore it also plays alone, and each step of that is held against its own step
from the state that it had come to (docs/levels.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from harness.model import Case, Trajectory
from harness.task.contract import Mode, Task
from harness.verify.adjacent import smallest

Play = Callable[[Sequence[Case]], list[Trajectory]]
TOGETHER = 4096
"""Steps that are asked for in one message: batches of more are padded to few sizes, so that little is compiled for them."""


def inexact_leaf(task: Task) -> str | None:
    """A float leaf of the state for which less than equality will do, but for magnitudes that count as zero here."""
    for path, leaf in task.state.items():
        dtype, tolerance = np.dtype(leaf.dtype), task.tolerance(path)
        if dtype.kind == "f" and (
            tolerance.rtol or tolerance.ulp or tolerance.scale or tolerance.atol > smallest(dtype)
        ):
            return path
    return None


def is_resynchronised(task: Task) -> bool:
    """Whether each step of a task's episodes is compared from the reference's state, where both sides can restore one: a
    float of the state may be off by a tolerance.

    Chance in a step that comes from a generator outside the state cannot be taken up in the middle.
    """
    return task.mode in (Mode.TAPE, Mode.NONE) and inexact_leaf(task) is not None


def step_of(trajectory: Trajectory, step: int, *, forced: bool) -> Case:
    """The case of one step of a trajectory, from the state before it.

    Args:
        step: which one, from 1 on.
        forced: whether it takes the draws of that step, too.
    """
    drawn = forced and trajectory.draws is not None
    return replace(
        trajectory.case,
        actions={path: array[step - 1 : step] for path, array in trajectory.case.actions.items()},
        start=trajectory.state(step - 1),
        draws=((), trajectory.draws[step]) if drawn and trajectory.draws is not None else None,
    )


def spread_steps(played: Sequence[Trajectory], most: int) -> list[tuple[Trajectory, int]]:
    """At most so many steps from all over trajectories: each as its trajectory and its number, from 1 on."""
    places = [(one, step) for one in played for step in range(1, one.timesteps)]
    chosen = np.unique(np.linspace(0, len(places) - 1, min(most, len(places))).astype(int)) if places else ()
    return [places[number] for number in chosen]


def step_by_step(play: Play, led: Sequence[Trajectory], *, forced: bool) -> list[Trajectory]:
    """What one side answers where it is led through trajectories: to each case its reset or start, and then to each step
    from the trajectory's own state before it.

    Args:
        play: what answers cases, with the capability `restore`.
        led: trajectories that have leaves of the state.
        forced: whether their draws are taken, too.

    Returns:
        For each of them a trajectory of the same case. It ends with the first step that ended.
    """
    begins = [replace(one.case, draws=one.draws if forced else None).cut(0) for one in led]
    steps = [step_of(one, step, forced=forced) for one in led for step in range(1, one.timesteps)]
    firsts = _in_parts(play, begins)
    answers = _in_parts(play, steps)
    joined, taken = [], 0
    for one, first in zip(led, firsts, strict=True):
        joined.append(_joined(one, first, answers[taken : taken + one.steps]))
        taken += one.steps
    return joined


def _in_parts(play: Play, cases: Sequence[Case]) -> list[Trajectory]:
    return [answer for begin in range(0, len(cases), TOGETHER) for answer in play(cases[begin : begin + TOGETHER])]


def _joined(led: Trajectory, first: Trajectory, steps: Sequence[Trajectory]) -> Trajectory:
    ended = [bool(step.leaves["terminated"][1] | step.leaves["truncated"][1]) for step in steps]
    count = ended.index(True) + 1 if True in ended else len(steps)
    parts = [first, *steps[:count]]
    leaves = {path: np.concatenate([part.leaves[path][-1:] for part in parts]) for path in first.leaves}
    tapes = [part.draws for part in parts]
    draws = None if any(tape is None for tape in tapes) else tuple(tape[-1] for tape in tapes if tape is not None)
    return Trajectory(led.case, leaves, draws)
