"""What the checks of the conformance kit share: the task, a running environment, and a few of its episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from harness.compare import Difference, compare
from harness.errors import BadAnswer, Raised
from harness.model import Array, Case, Leaf, Trajectory
from harness.protocol.environment import Environment
from harness.protocol.spec import Spec
from harness.task.contract import STANDARD_POLICIES, TASK_FILE, Task
from harness.verdict import Divergence

EPISODES = 6
HORIZON = 200
STATES = 24


class Failed(Exception):
    """A check found something wrong; `divergence` shows it where two answers differ."""

    def __init__(self, detail: str, divergence: Divergence | None = None) -> None:
        super().__init__(detail)
        self.divergence = divergence


class Skipped(Exception):
    """A check does not apply, or cannot be done; the message says what follows from that."""


@dataclass(frozen=True)
class Passed:
    """A check found nothing wrong in so many examples."""

    examples: int
    detail: str = ""


class Kit:
    """A task and its reference under examination.

    Args:
        start: starts and opens a fresh process of the reference.
        task: the task that it belongs to.
        contract: the file that states what the task is, for messages.
    """

    def __init__(self, start: Callable[[], Environment], task: Task, contract: str = TASK_FILE) -> None:
        self.task = task
        self.contract = contract
        self._start = start
        self._environment: Environment | None = None
        self._unplayable = False

    @property
    def environment(self) -> Environment:
        """A running environment: the one before, unless it has ended."""
        if self._environment is None or not self._environment.alive:
            self.close()
            self._environment = self._start()
        return self._environment

    @contextmanager
    def fresh(self) -> Iterator[Environment]:
        """A process of its own."""
        environment = self._start()
        try:
            yield environment
        finally:
            environment.close()

    @cached_property
    def spec(self) -> Spec:
        """What the reference declares."""
        return self.environment.spec

    def can(self, capability: str) -> bool:
        """Whether the reference declares a capability."""
        return capability in self.spec.capabilities

    @property
    def actions(self) -> dict[str, Leaf]:
        """The action leaves that both the task and the reference know, as the task declares them."""
        return {path: leaf for path, leaf in self.task.actions.items() if path in self.spec.actions}

    @property
    def horizon(self) -> int:
        """How many steps an episode may have here."""
        return min(self.task.budgets.horizon, HORIZON)

    @property
    def episodes(self) -> list[Trajectory]:
        """Episodes under the standard policies; once they could not be played, checks that need them are skipped."""
        if self._unplayable:
            raise Skipped("no episode could be played")
        self._unplayable = True
        played = self._episodes
        self._unplayable = False
        return played

    @cached_property
    def _episodes(self) -> list[Trajectory]:
        seeds = range(1, EPISODES + 1)
        return [t for policy in STANDARD_POLICIES for t in self.environment.drive(policy, seeds, self.horizon)]

    @property
    def cases(self) -> list[Case]:
        """The cases of the episodes."""
        return [episode.case for episode in self.episodes]

    @property
    def reached(self) -> list[tuple[Trajectory, int]]:
        """Some timesteps, before the end, of some episodes."""
        timesteps = [(episode, timestep) for episode in self.episodes for timestep in range(episode.steps)]
        if not timesteps:
            raise Skipped("no episode has a step")
        picks = np.random.default_rng(0).choice(len(timesteps), min(STATES, len(timesteps)), replace=False)
        return [timesteps[pick] for pick in sorted(picks)]

    def demand_same(self, expected: Sequence[Trajectory], actual: Sequence[Trajectory], why: str) -> None:
        """Fail unless the trajectories are bitwise the same."""
        for one, other in zip(expected, actual, strict=True):
            difference = compare(one, other, self.spec.outputs, {})
            if difference is not None:
                raise Failed(f"{why}: {shown(difference)}", divergence(other.case, difference, why))

    def demand_refused(self, case: Case, what: str) -> None:
        """Fail unless the case is refused with an error, by a process that then answers as before."""
        try:
            self.environment.rollout([case])
        except (Raised, BadAnswer):
            again = self.environment.rollout(self.cases[:1])
            self.demand_same(self.episodes[:1], again, f"after {what} was refused, it answers differently")
            return
        raise Failed(f"{what} is played as if nothing were wrong")

    def answers(self, cases: Sequence[Case]) -> list[Trajectory | Raised]:
        """What is played of each case, or why the reference refuses it; it refuses by raising, and goes on."""
        if not cases:
            return []
        try:
            return list(self.environment.rollout(cases))
        except Raised as refused:
            if len(cases) == 1:
                return [refused]
        middle = len(cases) // 2
        return self.answers(cases[:middle]) + self.answers(cases[middle:])

    def close(self) -> None:
        """End the running environment."""
        if self._environment is not None:
            self._environment.close()
        self._environment = None


def shown(difference: Difference) -> str:
    """A difference in words."""
    index = str(list(difference.index)) if difference.index else ""
    return f"timestep {difference.step}, {difference.path}{index}: {difference.expected} and then {difference.actual}"


def divergence(case: Case, difference: Difference, why: str) -> Divergence:
    """A difference of the reference from itself; level 0, as no candidate takes part."""
    return Divergence(
        case=case,
        step=difference.step,
        path=difference.path,
        index=difference.index,
        expected=difference.expected,
        actual=difference.actual,
        rule=difference.rule,
        level=0,
        check="",
        cause=why,
    )


def outside(leaf: Leaf, values: Array) -> Array:
    """Which values `[..., *leaf shape]` are outside a leaf's bounds; a NaN is outside any."""
    wrong = np.zeros(values.shape, np.bool_)
    if leaf.low is not None:
        wrong |= ~(values >= np.asarray(leaf.low, values.dtype))
    if leaf.high is not None:
        wrong |= ~(values <= np.asarray(leaf.high, values.dtype))
    return wrong


def without_reset(trajectory: Trajectory) -> Trajectory:
    """A trajectory from its timestep 1 on."""
    leaves = {path: array[1:] for path, array in trajectory.leaves.items()}
    return replace(trajectory, leaves=leaves, draws=None if trajectory.draws is None else trajectory.draws[1:])
