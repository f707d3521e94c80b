"""A state from which an exploration goes on, and how to get there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.model import ENDINGS, Array, Case, Trajectory

FAR = 100
"""A state so many actions from its reset is chosen half as often: what is spent on the way is not spent on what is new."""


@dataclass(frozen=True)
class Entry:
    """A state from which to go on.

    Attributes:
        case: leads there: a start without actions, or a reset and the actions after it.
        legal: the leaves `legal_actions...` there.
        age: how many steps its episode took up to there.
    """

    case: Case
    legal: dict[str, Array]
    age: int

    @property
    def bytes(self) -> int:
        """What the state, or the actions that lead there, hold in memory."""
        return sum(array.nbytes for part in (self.case.actions, self.case.start or {}) for array in part.values())


def entry_at(trajectory: Trajectory, timestep: int, age: int, *, restores: bool) -> Entry | None:
    """The state after a timestep, or before it where the episode is over there; None where that is its beginning.

    Args:
        age: at which the trajectory began.
        restores: whether the state is kept as itself; otherwise by the actions that lead there from a reset.
    """
    leaves = trajectory.leaves
    if any(leaves[path][timestep] for path in ENDINGS):
        timestep -= 1
    if timestep < 0 or (timestep == 0 and not restores):
        return None
    legal = {path: np.array(array[timestep]) for path, array in leaves.items() if path.startswith("legal_actions")}
    case = trajectory.case.cut(0 if restores else timestep)
    actions = {path: np.array(array) for path, array in case.actions.items()}
    start = {path: np.array(value) for path, value in trajectory.state(timestep).items()} if restores else None
    return Entry(Case(case.seed, actions, start), legal, age + timestep)
