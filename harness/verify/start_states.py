"""Where the checks of levels 1 and 2 begin: states that short episodes reach, rare ones that an exploration finds, and any
that lie near them.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from functools import cached_property

import numpy as np

from harness.model import Leaves, Trajectory
from harness.protocol.environment import Pool
from harness.task.contract import Mode, Task
from harness.task.leaf_values import anywhere
from harness.verify.exploration.actions import random_legal
from harness.verify.exploration.explorer import Explorer
from harness.verify.streams import Streams
from harness.verify.suite.client import Shown, Suite

EPISODES = 4
HORIZON = 128
MOVED_SHARE = 0.3
"""Of each bounded leaf of the state so many values are drawn anew."""
STREAM = "start states"
STEPS = 4096
"""The budget of that exploration; level 3 has one of its own."""
Start = tuple[Leaves, Leaves]
"""A state, and the leaves of an action that is legal there."""


class StartStates:
    """Start states of one run.

    Args:
        suite: the task's own code, whose features make states rare too.
        restores: whether both sides can begin at a given state.
    """

    def __init__(self, task: Task, suite: Suite, reference: Pool, streams: Streams, *, restores: bool) -> None:
        self._task, self._suite, self._reference, self._streams = task, suite, reference, streams
        self._restores = restores

    @cached_property
    def _episodes(self) -> list[list[Trajectory]]:
        horizon = min(self._task.budgets.horizon, HORIZON)
        return [
            self._reference.drive(policy, self._streams.seeds(f"reached/{policy}", EPISODES), horizon)
            for policy in self._task.budgets.policies
        ]

    @cached_property
    def reached(self) -> list[Start]:
        """States that short episodes reach, each with the action that was taken there."""
        return [
            (trajectory.state(timestep), {path: array[timestep] for path, array in trajectory.case.actions.items()})
            for played in self._episodes
            for trajectory in played
            for timestep in range(trajectory.steps)
        ]

    @cached_property
    def rare(self) -> list[Start]:
        """Rare states; none where these cannot be restored, or the task is not explored."""
        task = self._task
        if not self._restores or task.mode is Mode.LAW or task.budgets.exploration == 0:
            return []
        rng = self._streams.random(STREAM)
        shows = self._shows if self._suite.features else None
        explorer = Explorer(task, self._reference, rng, restores=True, shows=shows)
        for played in self._episodes:
            explorer.observe(played)
        for _ in explorer.waves(STEPS):
            pass
        return [
            (
                entry.case.start or {},
                {path: random_legal(path, leaf, entry.legal, rng)[0] for path, leaf in task.actions.items()},
            )
            for entry in explorer.entries
        ]

    def _shows(self, played: Sequence[Trajectory]) -> Future[Shown]:
        shown: Future[Shown] = Future()
        shown.set_result(self._suite.show(played))
        return shown

    def near(self, stream: str, count: int, rare: float = 0.0) -> list[Start]:
        """`count` states with their actions, a share of them rare, the others reached; each bounded leaf is moved within the
        bounds that the task states in three of ten. Where nothing is known to be rare, all are reached ones.

        A leaf without bounds keeps its value: its author has not said that other values are possible.
        """
        rng = self._streams.random(stream)
        picks = rng.integers(0, len(self.reached), count)
        moved = {
            leaf.path: (rng.random(count) < MOVED_SHARE, anywhere(leaf, rng, count))
            for leaf in self._task.state.values()
            if leaf.low is not None and leaf.high is not None
        }
        others = np.full(count, -1)
        if rare and self.rare:
            others = np.where(rng.random(count) < rare, rng.integers(0, len(self.rare), count), -1)
        states = []
        for number, (pick, other) in enumerate(zip(picks, others, strict=True)):
            start, action = self.reached[pick] if other < 0 else self.rare[other]
            new = {path: values[number] for path, (chosen, values) in moved.items() if chosen[number]}
            states.append(({**start, **new}, action))
        return states
