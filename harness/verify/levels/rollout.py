"""Level 3, rollout: whole episodes in lockstep, many at once, under every policy of the task.

While the reference's workers play the next episodes, the candidate follows the last ones and both are compared. So the
level goes about as fast as the reference can step.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from harness.compare import Difference
from harness.deviations import OpenLoop
from harness.model import Case, Trajectory
from harness.protocol.environment import Environment
from harness.task.contract import Mode
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.exploration.explorer import STREAM, Explorer, Wave
from harness.verify.leaf_grids import grid_of
from harness.verify.levels import as_used, autoreset, wide
from harness.verify.levels.by_itself import strayed
from harness.verify.localise import localise
from harness.verify.open_loop import parted_steps
from harness.verify.pair import Pair
from harness.verify.statistics.laws import compare_outcomes, verdict
from harness.verify.suite.client import Shown
from harness.verify.suite.features import FeatureCount

LEVEL = 3
FIRST_CHUNK = 8
"""Chunks are multiples of it, and so is what a failure speaks of: which episode is reported does not depend on the pace."""
CHUNK = 128
"""How many episodes are played at once at most, and for how many a candidate compiles, once for the level."""
CHUNK_SECONDS = 2.0
"""Chunks are smaller where they would last longer, so that progress shows."""
CHUNKS_AHEAD = 8
BYTES_AHEAD = 1 << 30
"""The reference goes on playing while the candidate compiles, but not until its episodes fill the memory."""
OTHER_PROCESS_CASES = 8
EXPLORED_SHARE = 4
"""Where the task states no budget, exploration takes one step for so many that the level's episodes took."""
LEAST_EXPLORED = 16_384
"""And so many at least, but not more than twice as many as the reference took in all of this level."""
WAVES_AHEAD = 2


@dataclass
class Tally:
    """What level 3 compared, beyond its checks' results.

    `features` are complete once `settle` was called. `parted` has, of some episodes of a candidate that is led elsewhere,
    the steps after which it parts from the reference alone, and those after which the reference parts from itself.
    """

    counting: FeatureCount
    episodes: int = 0
    steps: int = 0
    features: dict[str, int] = field(default_factory=dict)
    parted: list[tuple[int, int]] = field(default_factory=list)

    @property
    def open_loop(self) -> OpenLoop | None:
        """For how long a candidate agrees that nobody leads; None where none was led."""
        if not self.parted:
            return None
        candidate, reference = np.median(self.parted, axis=0).tolist()
        return OpenLoop(len(self.parted), candidate, reference)

    def add(
        self,
        played: Sequence[Trajectory],
        pair: Pair,
        *,
        episodes: bool = True,
        shown: Future[Shown] | None = None,
    ) -> None:
        """Count episodes of the reference that the candidate was held against; only their steps where they are no trials.

        Args:
            shown: where features show in them, if that was asked.
        """
        pair.witness(played)
        self.episodes += len(played) if episodes else 0
        self.steps += sum(trajectory.steps for trajectory in played)
        self.features |= dict.fromkeys(pair.suite.features, 0)
        self.counting.add(played, shown)

    def settle(self) -> None:
        """Wait until the features of all episodes are counted. Raises what counting them raised."""
        if self.features:
            self.features = self.counting.total()


def checks(
    pair: Pair,
    tally: Tally,
    second: SecondProcess,
    use: as_used.Use | None = None,
    exploring: int = 1,
) -> Iterator[CheckResult]:
    """All checks of level 3.

    Args:
        second: of the same candidate; it is closed at the end.
        use: what a user of the candidate sees; None leaves that check out.
        exploring: how many times the exploration's budget is spent.
    """
    tally.features |= dict.fromkeys(pair.suite.features, 0)
    second.begin()
    explorer = _explorer(pair, tally)
    try:
        yield from _of_episodes(pair, tally, second, explorer)
        answer = second.batch(autoreset.NAME)
        if use is not None:
            use.start(answer[autoreset.ALL_ACTIONS])  # beside the reference, which plays the batch again
        batch, confirmed = autoreset.check(pair, answer)
        tally.steps += confirmed
        yield batch
        if use is not None:
            yield as_used.check_used(pair, answer, use.shown())
        if pair.paired:
            yield _other_process(pair, second.repeated())
        for name in wide.SIZES:
            result, confirmed = wide.check(pair, second.batch(name), name)
            tally.steps += confirmed
            yield result
        if pair.task.mode is not Mode.NONE:
            yield wide.check_chance(pair, {name: second.batch(name) for name in wide.SIZES})
        if explorer is not None:
            yield _exploration(pair, explorer, tally, exploring)
    finally:
        second.close()


def checks_one_by_one(pair: Pair, tally: Tally) -> Iterator[CheckResult]:
    """Those of them that concern a candidate that is a reference itself: its episodes, and the exploration."""
    explorer = _explorer(pair, tally)
    yield from _of_episodes(pair, tally, None, explorer)
    if explorer is not None:
        yield _exploration(pair, explorer, tally, 1)


def _explorer(pair: Pair, tally: Tally) -> Explorer | None:
    """What looks for rare states; None where only laws are compared, or the task has none."""
    if not pair.paired or pair.task.budgets.exploration == 0:
        return None
    shows = tally.counting.look if pair.suite.features else None
    return Explorer(pair.task, pair.reference, pair.random(STREAM), restores=pair.can_restore, shows=shows)


def _of_episodes(
    pair: Pair, tally: Tally, second: SecondProcess | None, explorer: Explorer | None
) -> Iterator[CheckResult]:
    if not pair.paired:
        yield _laws(pair, pair.task.budgets.episodes, tally)
        return
    policies = pair.task.budgets.policies
    shares = np.diff(np.linspace(0, pair.task.budgets.episodes, len(policies) + 1).astype(int))
    repeated = -(-OTHER_PROCESS_CASES // len(policies))
    for policy, count in zip(policies, shares, strict=True):
        yield _episodes(pair, policy, int(count), tally, second, repeated, explorer)


class SecondProcess:
    """Another process of the same candidate, at work beside the episodes, or beside levels 1 and 2, which leave a core idle.

    It plays the auto-reset batches and repeats some of the first process's cases. So neither its start nor what it compiles
    costs time of its own, and the batch is one more thing that must not depend on the process in which it ran.

    Args:
        start: starts it.
    """

    def __init__(self, pair: Pair, start: Callable[[], Environment]) -> None:
        self._pair, self._start = pair, start
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="lockstep-second")
        self._turn = threading.Lock()
        self._closed = False
        self._environment: Future[Environment] | None = None
        self._batches: dict[str, Future[Mapping[str, Any]]] = {}
        self._answers: list[Trajectory] = []
        self._repeated: list[Future[list[Trajectory]]] = []

    def begin(self) -> None:
        """Have it start and play the batches, where that has not begun. Any thread may say so."""
        with self._turn:
            if self._closed or self._environment is not None:
                return
            self._environment = self._threads.submit(self._start)
            plans: dict[str, Callable[[], autoreset.Plan]] = {autoreset.NAME: partial(autoreset.planned, self._pair)}
            plans |= {name: partial(wide.planned, self._pair, name) for name in wide.SIZES}
            for name, plan in plans.items():
                self._batches[name] = self._threads.submit(self._play, self._environment, plan)

    def repeat(self, cases: Sequence[Case], answers: Sequence[Trajectory]) -> None:
        """Have it play cases to which the first process answered this."""
        self.begin()
        environment = self._environment
        assert environment is not None
        self._answers += answers
        self._repeated.append(self._threads.submit(lambda: environment.result().rollout(cases)))

    def repeated(self) -> list[tuple[Trajectory, Trajectory]]:
        """What both processes answered, case by case. Raises what starting or asking it raised."""
        others = [trajectory for part in self._repeated for trajectory in part.result()]
        return list(zip(self._answers, others, strict=True))

    def batch(self, name: str) -> Mapping[str, Any]:
        """What `autoreset.play` returned or raised, of the batch of this name."""
        self.begin()
        return self._batches[name].result()

    def _play(self, environment: Future[Environment], plan: Callable[[], autoreset.Plan]) -> Mapping[str, Any]:
        return autoreset.play(self._pair, environment.result(), plan())

    def close(self) -> None:
        """End it, whatever it is at: after a failure nobody waits for the rest."""
        with self._turn:
            self._closed = True
        if self._environment is not None:
            wait([self._environment])
            if self._environment.exception() is None:
                self._environment.result().kill()
        self._threads.shutdown(cancel_futures=True)


def _episodes(
    pair: Pair,
    policy: str,
    count: int,
    tally: Tally,
    second: SecondProcess | None,
    repeated: int,
    explorer: Explorer | None,
) -> CheckResult:
    """Every episode under one policy; a second process repeats the first few, and the explorer looks at all."""
    name = f"episodes, {policy}"
    done = 0
    played = played_ahead(pair, policy, pair.seeds(f"episodes/{policy}", count))
    for expected in grouped(played, BYTES_AHEAD // pair.task.episode_bytes):
        actual = pair.follow(expected, room=(CHUNK, pair.task.budgets.horizon))
        differences = pair.differences(expected, actual, counted=True)
        if second is not None and done == 0 and not any(differences):
            alone = actual[:repeated]
            if pair.resynchronised:
                alone = pair.follow_alone(expected[:repeated])
                tally.parted += parted_steps(pair, expected[:repeated], alone)
            second.repeat([pair.as_case(one) for one in expected[:repeated]], alone)
        for first in range(0, len(expected), FIRST_CHUNK):
            part = expected[first : first + FIRST_CHUNK]
            failing = [(found.step, n) for n, found in enumerate(differences[first : first + len(part)]) if found]
            if failing:
                number = min(failing)[1]
                found = differences[first + number]
                assert found is not None
                divergence = localise(pair, part[number], found, level=LEVEL, check=name)
                return CheckResult(name, Outcome.FAIL, examples=done + len(part), divergences=(divergence,))
            if pair.resynchronised and (stray := strayed(pair, part, LEVEL, name)) is not None:
                return CheckResult(name, Outcome.FAIL, examples=done + len(part), divergences=(stray,))
            done += len(part)
            tally.add(part, pair, shown=None if explorer is None else explorer.observe(part))
        pair.progress(f"level 3: {policy}", done, count)
    return CheckResult(name, Outcome.PASS, examples=done)


def grouped(chunks: Iterable[Sequence[Trajectory]], most: int) -> Iterator[list[Trajectory]]:
    """Episodes as a candidate follows them: in groups that do not depend on the pace at which they came.

    Each is as large as all before it together, so that a failure shows early, and later ones are as wide as can be.

    Args:
        most: no group is larger, but for one chunk of the smallest size.
    """
    most = max(FIRST_CHUNK, min(CHUNK, most) // FIRST_CHUNK * FIRST_CHUNK)
    held, done = list[Trajectory](), 0
    for chunk in chunks:
        held += chunk
        while len(held) >= (size := min(max(FIRST_CHUNK, done), most)):
            yield held[:size]
            held, done = held[size:], done + size
    if held:
        yield held


def played_ahead(pair: Pair, policy: str, seeds: Sequence[int]) -> Iterator[list[Trajectory]]:
    """The reference's episodes in chunks; the next ones are played while the caller works on the last."""
    horizon = pair.task.budgets.horizon
    ahead = ThreadPoolExecutor(1, thread_name_prefix="lockstep-ahead")
    waiting: deque[Future[list[Trajectory]]] = deque()
    pace = 0.0  # seconds for one episode

    def play(part: Sequence[int]) -> list[Trajectory]:
        nonlocal pace
        began = time.monotonic()
        played = pair.reference.drive(policy, part, horizon)
        pace = (time.monotonic() - began) / len(part)
        return played

    left = deque(seeds)
    most_ahead = max(1, min(CHUNKS_AHEAD, BYTES_AHEAD // (FIRST_CHUNK * pair.task.episode_bytes)))

    def submit(size: int) -> None:
        waiting.append(ahead.submit(play, [left.popleft() for _ in range(min(size, len(left)))]))

    try:
        if left:
            submit(FIRST_CHUNK)
        while waiting:
            played = waiting.popleft().result()
            while left and len(waiting) < most_ahead:
                submit(CHUNK if CHUNK * pace <= CHUNK_SECONDS else FIRST_CHUNK)
            yield played
    finally:
        ahead.shutdown(cancel_futures=True)


def _other_process(pair: Pair, repeated: Sequence[tuple[Trajectory, Trajectory]]) -> CheckResult:
    """A second process of the same candidate must answer the same cases with the same bytes."""
    name = "the same in another process"
    for one, other in repeated:
        if one.digest != other.digest:
            [found] = pair.differences([one], [other])
            divergence = Divergence(
                one.case, 0 if found is None else found.step, "trajectory" if found is None else found.path,
                "the same bytes" if found is None else found.expected,
                "other bytes" if found is None else found.actual, "determinism", LEVEL, name,
                grid=None if found is None else grid_of(one.leaves, other.leaves, found, {}),
                cause="two processes of the same candidate answer the same case differently",
            )  # fmt: skip
            return CheckResult(name, Outcome.FAIL, examples=len(repeated), divergences=(divergence,))
    return CheckResult(name, Outcome.PASS, examples=len(repeated))


def _exploration(pair: Pair, explorer: Explorer, tally: Tally, times: int) -> CheckResult:
    """The candidate follows the reference to rare states and on from there, a wave behind."""
    name = "exploration"
    budget = pair.task.budgets.exploration
    if budget is None:
        budget = max(explorer.steps // EXPLORED_SHARE, min(2 * tally.steps, LEAST_EXPLORED))
    budget *= times
    done, steps = 0, 0
    failed: tuple[Trajectory, Difference] | None = None
    with closing(_ahead(explorer.waves(budget))) as waves:
        for wave, shown in waves:
            actual = pair.follow(wave, room=(CHUNK, pair.task.budgets.horizon))
            found = zip(wave, pair.differences(wave, actual, counted=True), strict=True)
            failing = [(each, difference) for each, difference in found if difference is not None]
            done += len(wave)
            if failing:
                failed = min(failing, key=lambda one: one[1].step)
                break
            if pair.resynchronised and (stray := strayed(pair, wave, LEVEL, name)) is not None:
                return CheckResult(name, Outcome.FAIL, examples=done, divergences=(stray,))
            steps += sum(trajectory.steps for trajectory in wave)
            tally.add(wave, pair, episodes=False, shown=shown)
            pair.progress("level 3: exploration, steps", min(steps, budget), budget)
    if failed is not None:
        divergence = localise(pair, *failed, level=LEVEL, check=name)
        return CheckResult(name, Outcome.FAIL, examples=done, divergences=(divergence,))
    return CheckResult(
        name, Outcome.PASS, examples=done, detail=f"{steps} steps; {explorer.archive.known} cells were reached"
    )


def _ahead(waves: Iterator[Wave]) -> Generator[Wave]:
    """What an iterator brings, the next few worked out while the caller is at the last."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="lockstep-explore")
    try:
        waiting = deque(thread.submit(next, waves, None) for _ in range(WAVES_AHEAD))
        while (wave := waiting.popleft().result()) is not None:
            waiting.append(thread.submit(next, waves, None))
            yield wave
    finally:
        thread.shutdown(cancel_futures=True)


def _laws(pair: Pair, count: int, tally: Tally) -> CheckResult:
    """Where only laws are compared: episodes with the same actions on both sides, and their distributions."""
    name = "outcomes of episodes"
    cases = [
        [
            Case(seed, pair.random_case_actions(f"law/{number}", pair.task.budgets.horizon))
            for number, seed in enumerate(pair.seeds(f"law episodes/{side}", count))
        ]
        for side in range(2)
    ]
    expected, actual = pair.reference.rollout(cases[0]), pair.candidate.rollout(cases[1])
    tally.add(expected, pair, episodes=False)
    passed, worst = verdict(compare_outcomes(expected, actual, pair.task.outputs, seed=pair.derive(name)))
    if passed:
        return CheckResult(name, Outcome.PASS, examples=2 * count, detail=f"smallest p {worst.p_value:.2g}")
    divergence = Divergence(
        None, 0, worst.name, worst.expected, worst.observed, "law", LEVEL, name,
        cause=f"{worst.statistic}, p = {worst.p_value:.2g} over {worst.n} episodes",
    )  # fmt: skip
    return CheckResult(name, Outcome.FAIL, examples=2 * count, divergences=(divergence,))
