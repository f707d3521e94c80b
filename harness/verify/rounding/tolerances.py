"""Tolerances from how far rounding moved the leaves of single steps: pure functions of trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.compare import ulps_apart
from harness.model import STATE, Array, Trajectory
from harness.task.contract import Task, Tolerance

MARGIN = 4
"""A tolerance is so many times what was measured, rounded up: a candidate sees many times as many steps."""
MOST_ULPS = 64
"""Where a leaf moves by no more than so many of its own units, these say it best: they fit large and small values."""
TOO_FAR = 1e-3
"""Of a leaf's largest value: what moves it so far is no rounding of a step, but a jump that the step makes."""


@dataclass(frozen=True)
class Moved:
    """How far rounding moved one leaf.

    Attributes:
        distance: the largest, in the leaf's own unit.
        ulps: the largest, in floats of its dtype.
        largest: the largest magnitude that the leaf had.
    """

    distance: float
    ulps: int
    largest: float


def moved(task: Task, expected: Sequence[Trajectory], repeats: Sequence[Sequence[Trajectory]]) -> dict[str, Moved]:
    """How far each float leaf moved in repeated steps.

    Args:
        expected: trajectories of the reference, mostly of single steps.
        repeats: the same, disturbed, as often as they were repeated. One in which a whole number or a flag is another came
            to lie beyond a limit, and says nothing of rounding.
    """
    floats = [path for path, leaf in task.outputs.items() if np.dtype(leaf.dtype).kind == "f"]
    pairs = [
        (one, other)
        for repeat in repeats
        for one, other in zip(expected, repeat, strict=False)
        if same_but_floats(task, one, other)
    ]
    found = {}
    for path in floats if pairs else ():
        one, other = (np.concatenate([side[which].leaves[path][1:] for side in pairs]) for which in range(2))
        found[path] = _moved(one, other)
    return found


def same_but_floats(task: Task, one: Trajectory, other: Trajectory) -> bool:
    """Whether every whole number, flag and timestep is the same in both."""
    exact = [path for path, leaf in task.outputs.items() if np.dtype(leaf.dtype).kind != "f"]
    return one.timesteps == other.timesteps and all(
        np.array_equal(one.leaves[path], other.leaves[path]) for path in exact
    )


def tolerances(task: Task, found: Mapping[str, Moved]) -> dict[str, Tolerance]:
    """What leaves may be off: those that rounding moved, by how far, and what is rounded from a state that it moved."""
    state = {path: one for path, one in found.items() if path.startswith(STATE)}
    furthest = max((one.distance for one in state.values()), default=0.0)
    widest = max((np.dtype(task.outputs[path].dtype).itemsize for path in state), default=0)
    made = {}
    for path, one in found.items():
        if one.distance > TOO_FAR * one.largest:
            continue  # exact, so that whoever verifies sees it and looks
        narrow = np.dtype(task.outputs[path].dtype).itemsize < widest
        if narrow and furthest:  # mostly it is the same, and then a whole unit away
            ulp = _power(MARGIN * one.ulps) if one.ulps > 1 else 1
            made[path] = Tolerance(
                ulp=ulp if ulp <= MOST_ULPS else 1,
                atol=_up(MARGIN * max(furthest, one.distance if ulp > MOST_ULPS else 0.0)),
            )
        elif one.distance and one.ulps <= MOST_ULPS:
            made[path] = Tolerance(ulp=_power(MARGIN * one.ulps))
        elif one.distance:
            made[path] = Tolerance(atol=_up(MARGIN * one.distance))
    return made


def table_lines(found: Mapping[str, Tolerance]) -> list[str]:
    """Tolerances as they stand in task.toml below `[tolerance]`."""
    return [f'"{path}" = {_toml(each)}' if "/" in path else f"{path} = {_toml(each)}" for path, each in found.items()]


def _moved(one: Array, other: Array) -> Moved:
    finite = np.isfinite(one) & np.isfinite(other)
    if not finite.any():
        return Moved(0.0, 0, 0.0)
    one, other = one[finite], other[finite]
    distance = np.abs(other.astype(np.float64) - one.astype(np.float64))
    return Moved(float(distance.max()), int(ulps_apart(one, other).max()), float(np.abs(one).max()))


def _power(ulps: int) -> int:
    return 1 << (ulps - 1).bit_length()


def _up(value: float) -> float:
    """The next number with one digit, above."""
    if value == 0.0:
        return 0.0
    scale = 10.0 ** np.floor(np.log10(value))
    return float(f"{np.ceil(value / scale) * scale:.0e}")


def _toml(tolerance: Tolerance) -> str:
    parts = [f"ulp = {tolerance.ulp}" if tolerance.ulp else "", f"atol = {tolerance.atol:g}" if tolerance.atol else ""]
    return f"{{ {', '.join(filter(None, parts))} }}"
