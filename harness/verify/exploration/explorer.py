"""The explorer: chooses rare states of the reference, goes there, plays on, and keeps what is new.

All that it does follows from the run's seed and from what the reference answers, in the order in which it is told: neither
the candidate nor the machine's pace has a say.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from harness.errors import Raised, Side
from harness.model import Array, Case, Trajectory
from harness.protocol.environment import Pool
from harness.task.contract import Task
from harness.verify.exploration.actions import FEW, first_actions, lasting, random_legal
from harness.verify.exploration.archive import Archive, Entry
from harness.verify.exploration.cells import Cells

STREAM = "exploration"
"""From which all chance comes at level 3."""
WAVE = 128
"""Cases that are played together."""
WAVE_BYTES = 128 << 20
LENGTHS = (4, 8, 16, 32)
"""How many steps are taken from a state."""
BEGINNING = 4
"""A reset or a restored state counts for so many steps of the budget: it costs about as much."""
BEGIN_EVERY = 4
"""Each so many waves one begins at resets: what a candidate hides from its state shows there alone."""
BEGUN = 32
BEGUN_STEPS = 128
LONG_SHARE = 16
"""A wave of whole episodes takes at most one part in so many of the budget."""
STICKINESS = (0.8, 0.95, 1.0)
AHEAD = 2
"""Waves that are chosen before what the one before them found was looked at: the reference need not wait."""
Played = tuple[list[tuple[Trajectory, int]], int]
"""What the reference answered, each with its first new timestep; and how many cases were asked."""


class Explorer:
    """Explores a reference.

    Args:
        task: whose reference it is.
        reference: its workers.
        rng: for all chance; `Pair.random(STREAM)` at level 3.
        restores: whether states may be restored; otherwise the actions that lead there are replayed.

    Attributes:
        steps: how many of the reference's steps it has looked at, those of others included.
    """

    def __init__(self, task: Task, reference: Pool, rng: np.random.Generator, *, restores: bool) -> None:
        self._task = task
        self._reference = reference
        self._rng = rng
        self._cells = Cells(task, rng)
        self._archive = Archive(self._cells.most, restores=restores)
        self._masked = any(path.startswith("legal_actions") for path in task.outputs)
        own = [policy for policy in task.budgets.policies if policy not in ("random", "sticky")]
        self._policies = [*(("sticky", stickiness) for stickiness in STICKINESS), *((policy, 0.0) for policy in own)]
        self._branches = len(first_actions(task.actions, {}, rng) or range(FEW))
        self.steps = 0

    @property
    def archive(self) -> Archive:
        """What it has found."""
        return self._archive

    def observe(self, played: Sequence[Trajectory], new_from: Sequence[int] | None = None) -> None:
        """Look at what the reference did, whoever asked it; `new_from` says from which timestep on, of each trajectory."""
        begun = [0] * len(played) if new_from is None else list(new_from)
        if not played:
            return
        self._archive.add(played, self._cells.of(played, begun))
        for trajectory, first in zip(played, begun, strict=True):
            self.steps += max(0, trajectory.timesteps - max(first, 1))

    def waves(self, budget: int) -> Iterator[list[Trajectory]]:
        """Explore, for about `budget` steps; what the reference answered comes in waves of at most WAVE trajectories.

        While one wave is looked at, the reference plays the next, which was chosen before.
        """
        left = budget
        numbers = itertools.count()
        ahead: deque[tuple[Future[Played], int]] = deque()
        thread = ThreadPoolExecutor(1, thread_name_prefix="lockstep-wave")
        try:
            while True:
                while left > BEGINNING and len(ahead) < AHEAD:
                    play, most = self._wave(next(numbers), left, budget)
                    ahead.append((thread.submit(play), most))
                    left -= most
                if not ahead:
                    return
                wave, most = ahead.popleft()
                played, asked = wave.result()
                self.observe([each for each, _ in played], [first for _, first in played])
                left += most - asked * BEGINNING - sum(trajectory.steps for trajectory, _ in played)
                if played:
                    yield [trajectory for trajectory, _ in played]
        finally:
            thread.shutdown(cancel_futures=True)

    def _wave(self, number: int, left: int, budget: int) -> tuple[Callable[[], Played], int]:
        """What plays the next wave, and how much of the budget that takes at most."""
        if number % BEGIN_EVERY and self._archive.entries:
            cases = self._going_on(left)
            return partial(self._play, cases), sum(BEGINNING + case.length for case, _ in cases)
        return self._begun(number // BEGIN_EVERY, left, budget)

    def _begun(self, number: int, left: int, budget: int) -> tuple[Callable[[], Played], int]:
        """The same for episodes by a policy that persists, or by the adapter's own; now and then whole ones."""
        task = self._task
        policy, stickiness = self._policies[number % len(self._policies)]
        whole = budget // LONG_SHARE // task.budgets.horizon
        horizon = task.budgets.horizon if number % 2 == 0 and whole else min(task.budgets.horizon, BEGUN_STEPS)
        horizon = min(horizon, left)
        fitting = max(1, WAVE_BYTES // (horizon * task.timestep_bytes))
        count = min(BEGUN, fitting, left // horizon, whole if horizon > BEGUN_STEPS else BEGUN)
        seeds = [int(seed) for seed in self._rng.integers(0, 1 << 31, max(1, count))]

        def play() -> Played:
            driven = self._reference.drive(policy, seeds, horizon, stickiness)
            return [(trajectory, 0) for trajectory in driven], len(driven)

        return play, len(seeds) * (BEGINNING + horizon)

    def _going_on(self, left: int) -> list[tuple[Case, int]]:
        """Cases that go on from rare states, each with its first new timestep, as many as the budget has room for."""
        task, rng = self._task, self._rng
        length = 1 if self._masked else max(LENGTHS)
        count = max(FEW, min(WAVE, WAVE_BYTES // (length * task.timestep_bytes)))
        lengths = np.ones(count, int) if self._masked else rng.choice(LENGTHS, count)
        actions = lasting(task.actions, rng, count, length)
        seeds = rng.integers(0, 1 << 31, count)
        cases: list[tuple[Case, int]] = []
        space = WAVE_BYTES
        leaves, each = task.actions, task.timestep_bytes
        for entry in self._archive.choose(rng, -(-count // self._branches)):
            firsts = first_actions(leaves, entry.legal, rng)
            for first in firsts if firsts is not None else [None] * FEW:
                if (number := len(cases)) == count:
                    return cases
                chosen = {path: array[number, : lengths[number]] for path, array in actions.items()}
                case, new_from = self._after(entry, chosen, first, int(seeds[number]))
                left -= case.length + BEGINNING
                space -= (case.length + 1) * each
                if cases and (left < 0 or space < 0):
                    return cases
                cases.append((case, new_from))
        return cases

    def _after(self, entry: Entry, actions: dict[str, Array], first: int | None, seed: int) -> tuple[Case, int]:
        """The case that goes to an entry and takes these actions, with `first` in place of those that they begin with."""
        if first is not None:
            actions = {path: np.array(array) for path, array in actions.items()}
            others = np.flatnonzero(actions["action"] != actions["action"][0])
            actions["action"][: others[0] if len(others) else None] = first
        elif self._masked:
            leaves = self._task.actions.items()
            actions = {path: random_legal(path, leaf, entry.legal, self._rng) for path, leaf in leaves}
        if entry.case.start is not None:
            return replace(entry.case, seed=seed, actions=actions, origin="exploration"), 1
        way = entry.case.actions
        joined = {path: np.concatenate([way[path], array]) for path, array in actions.items()}
        case = replace(entry.case, actions=joined, origin="exploration")
        return case.cut(max(entry.case.length + 1, self._task.budgets.horizon)), entry.case.length + 1

    def _play(self, cases: Sequence[tuple[Case, int]]) -> Played:
        """What the reference answers, but for cases that it refuses; and how many were asked."""
        try:
            played = self._reference.rollout([case for case, _ in cases])
        except Raised as refused:
            if refused.side is not Side.REFERENCE:
                raise
            if len(cases) == 1:
                return [], 1
            middle = len(cases) // 2
            one, other = self._play(cases[:middle])[0], self._play(cases[middle:])[0]
            return one + other, len(cases)
        return [(each, first) for each, (_, first) in zip(played, cases, strict=True)], len(cases)
