"""The grids of leaves that differ in one timestep of two trajectories, or in two answers of a probe."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.compare import EXACT, Difference, differing_elements
from harness.grids import Grid, grid
from harness.model import Leaves
from harness.task.contract import Tolerance


def grid_of(
    expected: Leaves, actual: Leaves, difference: Difference, tolerances: Mapping[str, Tolerance], prefix: str = ""
) -> Grid | None:
    """The grid of the leaf in which the first difference lies; None where that is about no elements of it.

    Args:
        expected, actual: stacked leaves.
        tolerances: by `prefix` + path, as is the difference's path.
    """
    if difference.rule != "value":
        return None
    path = difference.path.removeprefix(prefix)
    return leaf_grid(
        expected, actual, path, difference.step, tolerances.get(difference.path, EXACT), follows=not prefix
    )


def leaf_grid(
    expected: Leaves, actual: Leaves, path: str, step: int, tolerance: Tolerance, *, follows: bool
) -> Grid | None:
    """The grid of a leaf in one timestep; None for single values, and where none can be compared or differs there.

    Args:
        follows: whether a timestep follows from the one before it, whose values are shown too.
    """
    sides = [np.asarray(leaves[path]) for leaves in (expected, actual) if path in leaves and step < len(leaves[path])]
    if len(sides) < 2 or min(side.ndim for side in sides) < 2:
        return None
    differing = differing_elements(sides[0][step], sides[1][step], tolerance)
    before = sides[0][step - 1] if follows and step > 0 else None
    return None if differing is None else grid(sides[0][step], sides[1][step], differing, before)
