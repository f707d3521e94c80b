"""How fast the reference is, in three ways: bare in one process, through its adapter in one, with all its workers.

A speed-up says something only beside what users have without Lockstep: their environment, stepped in a loop. The adapter
reports states and draws, which takes time too, so its rate alone would flatter every candidate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import harness.measure.profile.bare_environment
from harness.errors import BadAnswer, EnvironmentFailure, LockstepError, Side
from harness.measure.profile.contenders import ADAPTER, BARE, DEADLINE_S, EPISODES, REFERENCE, Cell, Contender, prepare
from harness.measure.profile.result import Measurement, Skipped, Speed
from harness.model import Trajectory
from harness.protocol.channel import Channel
from harness.protocol.environment import Pool
from harness.protocol.link import Pipes
from harness.reference.install import Installed, reference_command
from harness.reference.sandbox import WORKER, open_sandbox
from harness.task.contract import Task
from sandboxes import SandboxError

PROGRAM = Path(harness.measure.profile.bare_environment.__file__)
LONGEST_S = 1.0
MOST_EPISODES, MOST_STEPS = 1 << 16, 1 << 30
BARE_REFERENCE = "reference, bare"
NO_BARE = (
    "no attribute of its adapter has the calls of Gymnasium, and it has no `bare()` that returns the environment without it "
    "(docs/profiling.md); speed-ups are against the rate through the adapter"
)

Skip = Callable[[Skipped], None]


class _Driven(Protocol):
    def drive(self, policy: str, seeds: list[int], horizon: int) -> list[Trajectory]: ...


class ReferenceRates:
    """The readings of a reference's pace under random actions.

    Args:
        pool: its workers.
        bare: what `started_bare` found.
        seconds: how long one reading should take.
        seeds: draws the next seed.
        skip: hears why the bare environment could not be measured.

    Attributes:
        all_workers: steps per second of each reading with all workers.
    """

    def __init__(
        self, task: Task, pool: Pool, bare: Contender | None, seconds: float, seeds: Callable[[], int], skip: Skip
    ) -> None:
        self._task, self._pool, self._bare, self._seconds = task, pool, bare, seconds
        self._seeds, self._skip = seeds, skip
        self._cell: Cell | None = None
        self._adapter: list[float] = []
        self.all_workers: list[float] = []

    def read(self) -> None:
        """One reading of each way, one after the other."""
        try:
            self._read_bare()
        except EnvironmentFailure as failure:
            self._bare = None
            self._skip(Skipped(BARE_REFERENCE, str(failure)))
        self._adapter.append(self._pace(self._pool.first, 2))
        self.all_workers.append(self._pace(self._pool, 2 * len(self._pool.environments)))

    def _read_bare(self) -> None:
        if self._bare is None:
            return
        if self._cell is None:
            seconds = self._seconds / 2
            self._cell = prepare(
                self._bare, BARE, 1, MOST_STEPS, seconds=seconds, longest_s=LONGEST_S, seed=self._seeds()
            )
        self._cell.readings.append(self._cell.read(self._seeds(), self._cell.repeats))

    def _pace(self, driven: _Driven, count: int) -> float:
        """Steps per second of episodes under random actions, at first `count` of them, until they last long enough."""
        budget = self._seconds
        while True:
            seeds = [self._seeds() for _ in range(count)]
            began = time.perf_counter()
            played = driven.drive("random", seeds, self._task.budgets.horizon)
            seconds = time.perf_counter() - began
            if seconds >= budget / 2 or count >= MOST_EPISODES:
                return sum(trajectory.steps for trajectory in played) / seconds
            count = min(MOST_EPISODES, int(count * min(64.0, max(2.0, budget / seconds))))

    def measurements(self, cores: int) -> Iterator[Measurement]:
        """What was read so far; `cores` is how many processors there are."""
        if not self.all_workers:
            return
        if self._cell is not None and self._cell.readings:
            yield Measurement("reference", REFERENCE, BARE, 1, Speed.of(self._cell.rates, 1))
        yield Measurement("reference", REFERENCE, ADAPTER, 1, Speed.of(self._adapter, 1))
        workers = len(self._pool.environments)
        yield Measurement("reference", REFERENCE, EPISODES, workers, Speed.of(self.all_workers, min(workers, cores)))


@contextmanager
def started_bare(task: Task, installed: Installed, seed: int, skip: Skip) -> Iterator[Contender | None]:
    """The reference's environment without its adapter, in a worker of its own; None where there is none, as `skip` hears."""
    with ExitStack() as stack:
        found, why = None, "the reference is a program that speaks the protocol, so there is no adapter to leave out"
        if task.reference.adapter is not None:
            try:
                found, why = _started(task, installed, seed, stack), NO_BARE
            except (LockstepError, SandboxError) as failure:
                why = str(failure)
        if found is None:
            skip(Skipped(BARE_REFERENCE, why))
        yield found


def _started(task: Task, installed: Installed, seed: int, stack: ExitStack) -> Contender | None:
    command, variables = reference_command(task, installed)
    adapter, command = command[-1], [*command[:-1], f"{PROGRAM}:Bare"]
    sandbox = open_sandbox(task, installed, command, variables, REFERENCE, shown=(WORKER, PROGRAM))
    stack.callback(sandbox.close)
    running = sandbox.spawn(command)
    channel = Channel(Pipes(running), Side.REFERENCE, DEADLINE_S)
    stack.callback(channel.close)
    options = {"adapter": adapter, "options": dict(task.reference.options), "seed": seed % (1 << 31)}
    answer = channel.ask("open", options=options)
    if not isinstance(answer, dict) or not isinstance(answer.get("found"), bool):
        raise BadAnswer(
            f"it answers `open` with {answer!r:.100}", where=BARE_REFERENCE, expected="whether it found one"
        )
    return Contender("reference", REFERENCE, channel, running.pid, (BARE,), (), 1) if answer["found"] else None
