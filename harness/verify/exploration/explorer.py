"""The explorer: chooses rare states of the reference, goes there, plays on, and keeps what is new.

All that it does follows from the run's seed and from what the reference answers, in the order in which it is told: neither
the candidate nor the machine's pace has a say.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from harness.model import ENDINGS, Array, Case, Trajectory
from harness.protocol.environment import Pool
from harness.task.contract import STANDARD_POLICIES, Task
from harness.task.law_values import at_quantile
from harness.verify.exploration.actions import FEW, first_actions, lasting, random_legal
from harness.verify.exploration.archive import Archive
from harness.verify.exploration.cells import Cells
from harness.verify.exploration.declared import Declared
from harness.verify.exploration.entry import Entry
from harness.verify.forcing import Forcing, Moved
from harness.verify.refusals import answered
from harness.verify.suite.client import Shown

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
SEVERAL = 8
"""Horizons that a whole episode lasts at most where some did not end within one: what comes late has to be seen too."""
STICKINESS = (0.8, 0.95, 1.0)
BY_POLICY = 2
"""Which one of BEGIN_EVERY waves it is in which the reference's policies go on from rare states."""
BY_CHANCE = 3
"""The same for waves in which chance is forced, where it can be: what it brings rarely is as near as anything else."""
RAREST = 1e-6
"""Numbers are forced as far out in their law as the last of so many draws."""
BY_FEATURE = 4
"""Of so many states that are gone on from, one is chosen by the declared features that show there, where any do."""
AHEAD = 2
"""Waves that are chosen before what the one before them found was looked at: the reference need not wait."""


ActionsOf = Callable[[Entry, int | None, int], Mapping[str, Array]]
"""The actions of a case, from the entry that it goes on from, the action that is tried first, and the case's number."""


@dataclass(frozen=True)
class Lead:
    """Where to go on from: a case that leads there, its first timestep that is new, and the age at which it begins."""

    case: Case
    new_from: int = 0
    age: int = 0


class Wave(NamedTuple):
    """Trajectories of the reference, and where declared features show in them, if that was asked."""

    played: list[Trajectory]
    shown: Future[Shown] | None


@dataclass(frozen=True)
class Played:
    """What the reference answered, each with its lead; and how many it was asked."""

    answers: list[tuple[Trajectory, Lead]]
    asked: int


class Explorer:
    """Explores a reference.

    Args:
        task: whose reference it is.
        reference: its workers.
        rng: for all chance; `Pair.random(STREAM)` at level 3.
        restores: whether states may be restored; otherwise the actions that lead there are replayed.
        shows: begins to find where the declared features show; None where none are declared, or they shall not matter.

    Attributes:
        steps: how many of the reference's steps it has looked at, those of others included.
    """

    def __init__(
        self,
        task: Task,
        reference: Pool,
        rng: np.random.Generator,
        *,
        restores: bool,
        shows: Callable[[Sequence[Trajectory]], Future[Shown]] | None = None,
    ) -> None:
        self._task = task
        self._reference = reference
        self._rng = rng
        self._cells = Cells(task, rng)
        self._archive = Archive(self._cells.most, restores=restores)
        self._declared = Declared(restores=restores)
        self._shows = shows
        self._looking: deque[tuple[Sequence[Trajectory], list[int], list[int], Future[Shown]]] = deque()
        self._chosen = itertools.count(1)
        self._masked = task.masked
        self._endless = False
        own = [policy for policy in task.budgets.policies if policy not in STANDARD_POLICIES]
        self._policies = [*(("sticky", stickiness) for stickiness in STICKINESS), *((policy, 0.0) for policy in own)]
        self._branches = len(first_actions(task.actions, {}, rng) or range(FEW))
        # How to play on where the reference's own worker chooses the actions: it sees each mask, and has the policies.
        ways = [("random", 0.0), self._policies[0]] if self._masked else []
        self._ways = [*ways, *((policy, 0.0) for policy in own)] if "after" in reference.spec.capabilities else []
        self._forcing = Forcing(task, reference) if restores and Forcing.possible(task, "step") else None
        self.steps = 0

    @property
    def archive(self) -> Archive:
        """What it has found."""
        return self._archive

    @property
    def entries(self) -> Sequence[Entry]:
        """The states from which it would go on."""
        return [*self._archive.entries, *self._declared.entries]

    def observe(self, played: Sequence[Trajectory], leads: Sequence[Lead] | None = None) -> Future[Shown] | None:
        """Look at what the reference did, whoever asked it: whole episodes where nothing is said of where each began.

        Where declared features show in it is taken in when the next are looked at: nobody waits for it.
        """
        if not played:
            return None
        new_from = [0] * len(played) if leads is None else [lead.new_from for lead in leads]
        ages = [0] * len(played) if leads is None else [lead.age for lead in leads]
        self._archive.add(played, ages, self._cells.of(played, new_from, ages))
        for trajectory, first in zip(played, new_from, strict=True):
            self.steps += max(0, trajectory.timesteps - max(first, 1))
            over = any(trajectory.leaves[path][-1] for path in ENDINGS)
            self._endless |= trajectory.steps >= self._task.budgets.horizon and not over
        if self._shows is None:
            return None
        while self._looking:
            before, began_from, began_at, looking = self._looking.popleft()
            self._declared.add(before, began_from, began_at, looking.result().first)
        shown = self._shows(played)
        self._looking.append((played, new_from, ages, shown))
        return shown

    def waves(self, budget: int) -> Iterator[Wave]:
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
                played = wave.result()
                trajectories = [trajectory for trajectory, _ in played.answers]
                shown = self.observe(trajectories, [lead for _, lead in played.answers])
                left += most - played.asked * BEGINNING - sum(trajectory.steps for trajectory in trajectories)
                if trajectories:
                    yield Wave(trajectories, shown)
        finally:
            thread.shutdown(cancel_futures=True)

    def _wave(self, number: int, left: int, budget: int) -> tuple[Callable[[], Played], int]:
        """What plays the next wave, and how much of the budget that takes at most."""
        turn, way = divmod(number, BEGIN_EVERY)
        if not way or not self._archive.entries:
            return self._begun(turn, left, budget)
        if self._forcing is not None and way == BY_CHANCE:
            return self._forced_on(self._forcing, left)
        if self._ways and (self._masked or way == BY_POLICY):
            return self._driven_on(number, left)
        leads = self._going_on(left, 1 if self._masked else max(LENGTHS))
        return partial(self._play, leads), sum(BEGINNING + lead.case.length for lead in leads)

    def _begun(self, number: int, left: int, budget: int) -> tuple[Callable[[], Played], int]:
        """The same for episodes by a policy that persists, or by the adapter's own; now and then whole ones."""
        task = self._task
        policy, stickiness = self._policies[number % len(self._policies)]
        longest = task.budgets.horizon
        if self._endless:
            longest = max(longest, min(SEVERAL * longest, budget // LONG_SHARE, WAVE_BYTES // task.timestep_bytes))
        whole = budget // LONG_SHARE // longest
        horizon = longest if number % 2 == 0 and whole else min(task.budgets.horizon, BEGUN_STEPS)
        horizon = min(horizon, left)
        fitting = max(1, WAVE_BYTES // (horizon * task.timestep_bytes))
        count = min(BEGUN, fitting, left // horizon, whole if horizon > BEGUN_STEPS else BEGUN)
        seeds = [int(seed) for seed in self._rng.integers(0, 1 << 31, max(1, count))]

        def play() -> Played:
            driven = self._reference.drive(policy, seeds, horizon, stickiness)
            return Played([(trajectory, Lead(trajectory.case)) for trajectory in driven], len(driven))

        return play, len(seeds) * (BEGINNING + horizon)

    def _driven_on(self, number: int, left: int) -> tuple[Callable[[], Played], int]:
        """The same for what a policy beside the reference does from rare states on, once each action has been tried."""
        policy, stickiness = self._ways[number % len(self._ways)]
        horizon = int(self._rng.choice(LENGTHS))

        def actions_of(entry: Entry, first: int | None, _: int) -> Mapping[str, Array]:
            if first is None:
                return entry.case.actions
            return _joined(entry.case, {"action": np.array([first], self._task.actions["action"].dtype)})

        leads = self._leads(actions_of, self._fitting(horizon), horizon, left)
        seeds = [int(seed) for seed in self._rng.integers(0, 1 << 31, len(leads))]

        def play() -> Played:
            drive = partial(self._reference.drive_after, policy=policy, horizon=horizon, stickiness=stickiness)
            return _played(leads, answered(drive, list(zip(seeds, (lead.case for lead in leads), strict=True))))

        return play, sum(BEGINNING + lead.case.length + horizon for lead in leads)

    def _going_on(self, left: int, longest: int) -> list[Lead]:
        """Cases that go on from rare states under actions that are chosen here, as many as the budget has room for."""
        task, rng = self._task, self._rng
        count = self._fitting(longest)
        lengths = np.ones(count, int) if longest == 1 else rng.choice(LENGTHS, count)
        actions = lasting(task.actions, rng, count, longest)

        def actions_of(entry: Entry, first: int | None, number: int) -> Mapping[str, Array]:
            chosen = {path: array[number, : lengths[number]] for path, array in actions.items()}
            return self._after(entry, chosen, first)

        return self._leads(actions_of, count, 0, left)

    def _forced_on(self, forcing: Forcing, left: int) -> tuple[Callable[[], Played], int]:
        """What plays one step from each of some rare states twice: as its seed has it, and with one number of its draws far
        out in its law.
        """
        leads = self._going_on(left // 2, 1)
        chosen = self._rng.random((len(leads), 3)).tolist()

        def play() -> Played:
            free = self._play(leads).answers
            moved = [
                (self._far_out(forcing, before, *each), lead)
                for (before, lead), each in zip(free, chosen, strict=False)
            ]
            asked = [(each, lead) for each, lead in moved if each is not None]
            forced = _played([lead for _, lead in asked], forcing.play([each for each, _ in asked]))
            return Played([*free, *forced.answers], len(leads) + len(asked))

        return play, 2 * sum(BEGINNING + lead.case.length for lead in leads)

    def _far_out(self, forcing: Forcing, played: Trajectory, which: float, far: float, side: float) -> Moved | None:
        """A step with one number of its draws moved; three numbers from [0, 1) say which one, how far, and to which side."""
        draws = played.draws[-1] if played.draws else ()
        count = forcing.count(draws)
        if not count:
            return None
        slot = forcing.slot(draws, played.steps, int(which * count))
        quantile = RAREST**far / 2
        draw = self._task.draws[draws[slot.number].name]
        value = at_quantile(draw, quantile if side < 0.5 else 1 - quantile)
        return Moved(replace(played.case, draws=played.draws), slot, value)

    def _leads(self, actions_of: ActionsOf, count: int, further: int, left: int) -> list[Lead]:
        """At most `count` cases from rare states, where each action is tried, as far as the budget has room; each takes so
        many `further` steps.
        """
        rng, each = self._rng, self._task.timestep_bytes
        seeds = rng.integers(0, 1 << 31, count)
        leads: list[Lead] = []
        space = WAVE_BYTES
        for entry in self._choose(-(-count // self._branches)):
            firsts = first_actions(self._task.actions, entry.legal, rng)
            for first in firsts if firsts is not None else [None] * FEW:
                if len(leads) == count:
                    return leads
                actions = actions_of(entry, first, len(leads))
                seed = entry.case.seed if entry.case.start is None else int(seeds[len(leads)])
                case = Case(seed, actions, entry.case.start, origin="exploration")
                left -= case.length + further + BEGINNING
                space -= (case.length + further + 1) * each
                if leads and (left < 0 or space < 0):
                    return leads
                leads.append(Lead(case, entry.case.length + 1, entry.age - entry.case.length))
        return leads

    def _choose(self, count: int) -> list[Entry]:
        by_feature = [bool(self._declared.entries) and next(self._chosen) % BY_FEATURE == 0 for _ in range(count)]
        rare = iter(self._archive.choose(self._rng, count - sum(by_feature)))
        return [self._declared.choose(self._rng) if declared else next(rare) for declared in by_feature]

    def _fitting(self, steps: int) -> int:
        """How many cases of so many steps a wave has."""
        return max(FEW, min(WAVE, WAVE_BYTES // (steps * self._task.timestep_bytes)))

    def _after(self, entry: Entry, actions: dict[str, Array], first: int | None) -> Mapping[str, Array]:
        """The actions that lead to an entry, and then these, with `first` in place of those that they begin with."""
        if first is not None:
            actions = {path: np.array(array) for path, array in actions.items()}
            others = np.flatnonzero(actions["action"] != actions["action"][0])
            actions["action"][: others[0] if len(others) else None] = first
        elif self._masked:
            leaves = self._task.actions.items()
            actions = {path: random_legal(path, leaf, entry.legal, self._rng) for path, leaf in leaves}
        most = max(entry.case.length + 1, self._task.budgets.horizon)
        return {path: array[:most] for path, array in _joined(entry.case, actions).items()}

    def _play(self, leads: Sequence[Lead]) -> Played:
        """What the reference answers, but for cases that it refuses."""
        return _played(leads, answered(self._reference.rollout, [lead.case for lead in leads]))


def _played(leads: Sequence[Lead], answers: Sequence[Trajectory | None]) -> Played:
    return Played([(each, lead) for each, lead in zip(answers, leads, strict=True) if each is not None], len(leads))


def _joined(case: Case, actions: Mapping[str, Array]) -> Mapping[str, Array]:
    if not case.length:
        return actions
    return {path: np.concatenate([case.actions[path], array]) for path, array in actions.items()}
