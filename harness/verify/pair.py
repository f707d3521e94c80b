"""Reference and candidate side by side: both answer the same cases, and what they answer is compared.

All chance in a level comes from one seed through named streams (`Pair.random`), so that a recorded seed repeats a verdict
whatever order the checks ran in.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from harness.compare import Difference, compare_many
from harness.model import STATE, Array, Case, Leaves, Trajectory, feed_digest
from harness.protocol.environment import Environment, Pool
from harness.protocol.worker import Leaf as WorkerLeaf
from harness.protocol.worker import random_actions
from harness.support.progress import Progress
from harness.task.contract import Mode, Task
from harness.verify.alone_and_together import alone_and_together
from harness.verify.deviation_count import DeviationCount
from harness.verify.occurrences import OccurrenceCount
from harness.verify.resynchronised import Play, is_resynchronised, step_by_step, step_of
from harness.verify.scale import at_scale, measured_scales
from harness.verify.sighting import Sighting, sighted
from harness.verify.start_states import StartStates
from harness.verify.streams import Streams
from harness.verify.suite.client import Judged, Suite
from harness.verify.watch import Unwatched, Watch

FEW_EPISODES = 4


class Pair(Streams):
    """What every check of a level works with.

    Args:
        task, suite: the trusted task, and its own code.
        reference: workers of the reference, in parallel.
        candidate: the candidate's worker.
        seed: from which everything random is derived.
        progress: called with what goes on.
        stop_at_failure: a difference is reported as it was found, neither localised nor shrunk, for callers that only count
            failures.
        watch: told of what is compared.

    Attributes:
        task: as given, but for tolerances that are shares of a scale: they are absolute here.
        off: counts how far floats are off in this level.
        seen: the first difference that the running check saw; None where it saw none yet.
        scales: the scales that were measured for them on the reference, by leaf path; none where there are none.

    Raises:
        EnvironmentFailure: a scale has to be measured, and the reference could not answer.
    """

    def __init__(
        self,
        task: Task,
        suite: Suite,
        reference: Pool,
        candidate: Environment,
        seed: int,
        progress: Progress,
        *,
        stop_at_failure: bool = False,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(seed)
        self.scales = measured_scales(task, reference)
        self.task = at_scale(task, self.scales)
        self.suite = suite
        self.reference = reference
        self.candidate = candidate
        self.progress = progress
        self.stop_at_failure = stop_at_failure
        self.watch: Watch = watch or Unwatched()
        self.seen: Sighting | None = None
        self.begin_evidence()
        self._followed_episodes: list[Trajectory] | None = None

    @contextmanager
    def apart(self, start: Callable[[], Environment]) -> Iterator[Pair]:
        """This pair with a reference of its own, whose answers count as evidence and as questions all the same."""
        other = copy.copy(self)
        other.reference = Pool([start()])
        other.reference.first.listener = self.reference.first.listener
        try:
            yield other
        finally:
            other.reference.close()

    def begin_evidence(self) -> None:
        """Forget what was witnessed: another level begins."""
        self._evidence = hashlib.sha256()
        self.occurred = OccurrenceCount(self.task)
        self.off = DeviationCount(self.task.tolerances)

    def witness(self, expected: Sequence[Trajectory], only: Collection[str] | None = None) -> None:
        """Take into the evidence, and into the table of outcomes, what the reference answered and the candidate is compared
        with, in the leaves `only`.
        """
        self.watch.compared(expected, only)
        self.occurred.add(expected)
        for trajectory in expected:
            self._evidence.update(bytes.fromhex(trajectory.digest))

    def witness_probe(self, name: str, answer: Leaves) -> None:
        """`witness` for what a probe answered."""
        for path in sorted(answer):
            feed_digest(self._evidence, f"probe/{name}/{path}", answer[path])

    @property
    def evidence(self) -> str:
        """SHA-256 over all that was witnessed in this level, in order."""
        return self._evidence.hexdigest()

    @property
    def can_restore(self) -> bool:
        """Whether both sides can start from a given state."""
        return all("restore" in side.capabilities for side in (self.reference.spec, self.candidate.spec))

    @property
    def reference_takes_draws(self) -> bool:
        """Whether the reference can be asked for the step of a trajectory again: under a tape it has to take its draws."""
        return self.task.mode is not Mode.TAPE or "force_draws" in self.reference.spec.capabilities

    @property
    def finds_legal_actions(self) -> bool:
        """Whether a mask says which actions are legal, and the reference goes on at random among them."""
        return self.task.masked and "after" in self.reference.spec.capabilities

    @property
    def paired(self) -> bool:
        """Whether single trajectories can be compared: not where only laws are."""
        return self.task.mode is not Mode.LAW

    @cached_property
    def resynchronised(self) -> bool:
        """Whether each step is compared from the state before it (`is_resynchronised`)."""
        return self.can_restore and is_resynchronised(self.task)

    def follow(self, expected: Sequence[Trajectory], room: tuple[int, int] | None = None) -> list[Trajectory]:
        """The candidate's answers to what the reference did: the same starts, actions taken, and chance events; and
        where steps are resynchronised, the same state before each of them.

        `room` as for `Environment.rollout`.
        """
        if not self.resynchronised:
            return self.follow_alone(expected, room)
        return self._followed(expected, lambda those, mode: self.led(partial(self.candidate.rollout, mode=mode), those))

    def follow_alone(self, expected: Sequence[Trajectory], room: tuple[int, int] | None = None) -> list[Trajectory]:
        """`follow`, with no state given but the start: what a user sees who takes the same actions."""
        return self._followed(
            expected, lambda those, mode: self.candidate.rollout([self.as_case(one) for one in those], mode, room)
        )

    def _followed(
        self,
        expected: Sequence[Trajectory],
        follow: Callable[[Sequence[Trajectory], str | None], list[Trajectory]],
    ) -> list[Trajectory]:
        if self.task.candidate.kind != "rust":
            return follow(expected, None)
        return alone_and_together(expected, follow, self.differences, self.derive("alone and together"))

    def led(self, play: Play, along: Sequence[Trajectory]) -> list[Trajectory]:
        """What one side answers where each of its steps begins at the state that these trajectories have there."""
        return step_by_step(play, along, forced=self.task.mode is Mode.TAPE)

    def step_of(self, trajectory: Trajectory, step: int) -> Case:
        """The case of one step of a trajectory, with the draws of that step where there is a tape."""
        return step_of(trajectory, step, forced=self.task.mode is Mode.TAPE)

    def as_case(self, trajectory: Trajectory) -> Case:
        """The case that makes a candidate repeat a trajectory of the reference."""
        case = trajectory.case.cut(trajectory.steps)
        return replace(case, draws=trajectory.draws) if self.task.mode is Mode.TAPE else case

    def play(
        self,
        cases: Sequence[Case],
        only: Collection[str] | None = None,
        *,
        with_episodes: bool = False,
        further: int = 0,
    ) -> list[tuple[Trajectory, Difference | None]]:
        """Play cases on both sides: the reference's trajectory and the first difference of each.

        Args:
            only: the leaves to compare; None compares all, and the draws.
            with_episodes: let the candidate follow the few episodes in the same batch, for a caller that asks for them next.
            further: so many steps are taken after each case, at random among the legal actions.
        """
        if further:
            expected = self.reference.drive_after([(case.seed, case) for case in cases], "random", further)
        else:
            expected = self.reference.rollout(cases)
        self.witness(expected, only)
        actual = self.follow_with_episodes(expected) if with_episodes else self.follow(expected)
        return list(zip(expected, self.differences(expected, actual, only, counted=True), strict=True))

    def differences(
        self,
        expected: Sequence[Trajectory],
        actual: Sequence[Trajectory],
        only: Collection[str] | None = None,
        *,
        counted: bool = False,
    ) -> list[Difference | None]:
        """The first difference of each pair of trajectories.

        Args:
            only: the leaves to compare; None compares all, and the draws.
            counted: take into the level's distributions how far floats are off, and keep the first as `seen`: where the
                candidate's answers are held against the reference's.
        """
        if only is not None:
            expected = [_only(trajectory, only) for trajectory in expected]
            actual = [_only(trajectory, only) for trajectory in actual]
        leaves = {path: leaf for path, leaf in self.task.outputs.items() if only is None or path in only}
        found = compare_many(expected, actual, leaves, self.task.tolerances, self.off.add if counted else None)
        if counted:
            self.seen = self.seen or sighted(expected, found)
        return found

    def random_case_actions(self, stream: str, length: int) -> dict[str, Array]:
        """`length` uniform actions."""
        rng = np.random.RandomState(self.derive(stream) % (1 << 32))
        return {
            path: random_actions(
                WorkerLeaf(path, {"dtype": leaf.dtype, "shape": leaf.shape, "low": leaf.low, "high": leaf.high}),
                rng,
                length,
                0.0,
            )
            for path, leaf in self.task.actions.items()
        }

    def random_batch_actions(self, stream: str, steps: int, envs: int) -> dict[str, Array]:
        """Uniform actions `[steps, envs, ...]` for a batch."""
        flat = self.random_case_actions(stream, steps * envs)
        return {path: array.reshape(steps, envs, *array.shape[1:]) for path, array in flat.items()}

    @cached_property
    def starts(self) -> StartStates:
        """Where single steps and sequences begin."""
        return StartStates(self.task, self.suite, self.reference, self, restores=self.can_restore)

    @cached_property
    def few_episodes(self) -> list[Trajectory]:
        """A few episodes of the reference under each policy."""
        horizon = min(self.task.budgets.horizon, 2 * self.task.budgets.examples)
        return [
            trajectory
            for policy in self.task.budgets.policies
            for trajectory in self.reference.drive(policy, self.seeds(f"few/{policy}", FEW_EPISODES), horizon)
        ]

    def follow_with_episodes(self, expected: Sequence[Trajectory]) -> list[Trajectory]:
        """`follow`, together with the few episodes where these have not been followed: one batch compiles once."""
        if self._followed_episodes is not None or self.resynchronised:
            return self.follow(expected)
        actual = self.follow([*expected, *self.few_episodes])
        self._followed_episodes = actual[len(expected) :]
        return actual[: len(expected)]

    @property
    def followed_episodes(self) -> list[Trajectory]:
        """The candidate's answers to the few episodes."""
        if self._followed_episodes is None:
            self._followed_episodes = self.follow_alone(self.few_episodes)
        return self._followed_episodes

    @cached_property
    def judged_reference(self) -> list[Judged]:
        """What each invariant of the task says of the few episodes."""
        return self.suite.judge(self.few_episodes)

    @cached_property
    def judged_candidate(self) -> list[Judged]:
        """What each invariant of the task says of the candidate's answers to the few episodes."""
        return self.suite.judge(self.followed_episodes)


def step_case(state: Leaves, action: Leaves, seed: int, origin: str) -> Case:
    """A case of one step from a state."""
    return Case(
        seed=seed,
        actions={path: np.asarray(value)[None] for path, value in action.items()},
        start={path: np.asarray(value) for path, value in state.items() if path.startswith(STATE)},
        origin=origin,
    )


def _only(trajectory: Trajectory, paths: Collection[str]) -> Trajectory:
    return Trajectory(trajectory.case, {path: a for path, a in trajectory.leaves.items() if path in paths}, None)
