"""One measurement of the detection curve.

Thousands of mutants cannot each be verified. They need not be: what the candidate itself is asked in a verification is what
any mutant would be asked, up to the step that shows its fault. So a few verifications of the candidate tell of all.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate.start import CandidateWorker
from harness.farm.engine import Engine
from harness.measure.strength.journal import BEGUN, FINISHED, Journal, key
from harness.measure.strength.rare.curve import Curve, Planted, Run, Trial, level_of
from harness.measure.strength.rare.drawing import Drawer
from harness.measure.strength.rare.numbers import Numbers
from harness.measure.strength.rare.planting import judged, plant
from harness.measure.strength.rare.play import RandomPlay
from harness.measure.strength.rare.predicates import FAMILIES, Evaluation, Predicate
from harness.measure.strength.rare.sample import Sample
from harness.measure.strength.rare.watching import Meeting
from harness.measure.strength.run import StrengthError
from harness.record.judge import source_digest
from harness.record.machine import conditions
from harness.support.contents import contents_key
from harness.support.files import make_writable
from harness.support.home import lockstep_home
from harness.support.progress import Progress, silent
from harness.task.contract import CANDIDATE_DIRECTORY, TRAINING_LEVEL, Mode, Task, directory_digest
from harness.verdict import Outcome, Verdict
from harness.verify.directory import copy_candidate
from harness.verify.pair import Pair
from harness.verify.request import LevelsRequest
from harness.verify.streams import Streams
from harness.verify.suite.client import Suite
from harness.verify.verifier import Verifier
from sandboxes import Driver
from sandboxes.removal import scratch_directory

SHARES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
STEPS = 20_000_000
PLAYED_BYTES = 1 << 34
"""Where a task's timesteps are large, fewer steps are played."""
SAMPLED_PART = 5
"""Predicates are drawn from one step for so many in which they are counted."""
OVERSAMPLED = 4
"""So many times as many are proposed as are wanted: most hold too often or too rarely."""
FEWEST_HITS = 10
AROUND = 2.0
"""A predicate may hold up to so many times as often, or as rarely, as the share says."""
NOTE_EVERY = 10
PROPOSED, COUNTED, MET, PLANTED = "proposed", "counted", "met", "planted"


@dataclass(frozen=True)
class Settings:
    """What to measure.

    Attributes:
        predicates: for each share, of all families together.
        steps: of random play in which they are counted: a share is shown that ten of these steps come to. None takes
            `STEPS`, or fewer where timesteps are large.
        runs: seeds of verifications; each predicate is judged in the runs of one.
        exploring: for each seed a verification that explores so many times as long as the budget says.
        plant: so many predicates are made into mutants and judged, to see that they are caught as is said.
        fresh: start from the beginning where an interrupted measurement of the same things could go on.
    """

    predicates: int = 200
    steps: int | None = None
    runs: int = 3
    exploring: tuple[int, ...] = (1, 10)
    plant: int = 0
    fresh: bool = False


def measure(
    task: Task,
    tree: Path,
    driver: Driver,
    settings: Settings = Settings(),
    *,
    seed: int | None = None,
    progress: Progress = silent,
    journals: Path | None = None,
    engine: Engine | None = None,
) -> Curve:
    """Measure which faults in rare states a verification of the candidate in `tree` catches.

    What is found is kept as it comes: after an interruption the same call goes on, with the seed of the run that was
    interrupted where none is given.

    Args:
        tree: a directory with the candidate; nothing else of it is used. It is not changed.
        seed: from which everything is derived; by default it is drawn.
        journals: the directory in which it is kept; by default `strength` in `lockstep_home()`.
        engine: where references are placed; None has them on this machine.

    Raises:
        StrengthError: the task has no single trajectories or no state, no predicate can be drawn, the candidate does not
            pass, or mutants are to be planted in a crate.
        SetupError, SandboxError, EnvironmentFailure: the reference, a sandbox or the candidate fails.
    """
    if task.mode is Mode.LAW or not task.state:
        raise StrengthError(
            "the task compares no single states, so nothing can be said of rare ones",
            where=task.name,
            expected="a state, and another randomness than `law`",
        )
    if settings.plant and task.candidate.kind != "jax":
        raise StrengthError("mutants of predicates are made in JAX only", where=task.name, expected="no --plant")
    began = time.monotonic()
    with ExitStack() as stack:
        original = stack.enter_context(scratch_directory("lockstep-rare-"))
        copy_candidate(tree, original)
        make_writable(original)
        shutil.rmtree(original / "proposed", ignore_errors=True)
        kept = journals or lockstep_home() / "strength"
        found = _Measurement(task, original, driver, settings, seed, progress, kept, stack, engine).curve()
    return replace(found, duration_s=time.monotonic() - began)


class _Measurement:
    """What the parts of one measurement share."""

    def __init__(
        self,
        task: Task,
        original: Path,
        driver: Driver,
        settings: Settings,
        seed: int | None,
        progress: Progress,
        journals: Path,
        stack: ExitStack,
        engine: Engine | None,
    ) -> None:
        self._task, self._original, self._driver, self._settings = task, original, driver, settings
        self._progress = progress
        candidate = original / CANDIDATE_DIRECTORY
        self._candidate = directory_digest(candidate)
        self._arguments = {name: value for name, value in asdict(settings).items() if name != "fresh"}
        named = ("rare", task.digest, contents_key(candidate), self._arguments, seed, driver.name)
        name = key(*named, source_digest(__name__))
        self._journal = Journal(journals / f"{name}.jsonl", fresh=settings.fresh)
        stack.callback(self._journal.close)
        begun = self._noted(BEGUN)
        self.seed = int(begun[0]["seed"]) if begun else secrets.randbits(62) if seed is None else seed
        self._streams = Streams(self.seed)
        if not begun:
            self._journal.write(BEGUN, [{"seed": self.seed, "task": task.name}])
        self._resumed = bool(self._noted(PROPOSED))
        self._nodes: dict[str, Any] = {}
        self._numbers = Numbers.of_task(task, self._streams.random("rare/numbers"))
        self._verifier = stack.enter_context(Verifier(task, driver, progress=progress, engine=engine))
        self._levels = [level for level in task.levels if level < TRAINING_LEVEL]

    def curve(self) -> Curve:
        """Do what is not yet done."""
        predicates, played = self._drawn()
        trials, runs = self._met(predicates)
        planted = self._planted(trials, runs)
        self._journal.write(FINISHED, [{}])
        return Curve(
            task=self._task.name,
            task_digest=self._task.digest,
            candidate=self._candidate,
            seed=self.seed,
            settings=self._arguments,
            sandbox=self._driver.name,
            isolated=self._driver.isolated,
            played=played,
            runs=runs,
            trials=trials,
            planted=planted,
            resumed=self._resumed,
            machine=conditions() | ({"nodes": dict(self._nodes)} if self._nodes else {}),
        )

    # --- predicates from random play ----------------------------------------------------------------------------------

    def _drawn(self) -> tuple[tuple[Predicate, ...], int]:
        """Predicates, each with how often it held, and in how many steps they were counted."""
        with ExitStack() as stack:
            worker = CandidateWorker(self._task, self._driver)
            stack.callback(worker.close)
            candidate = worker.open(self._original)
            pair = Pair(
                self._task,
                Suite(),
                self._verifier.reference(),
                candidate,
                self._streams.derive("rare/play"),
                self._progress,
            )
            play = RandomPlay(pair, self._numbers)
            wanted = self._settings.steps or min(STEPS, PLAYED_BYTES // (2 * self._task.timestep_bytes))
            batches = max(1, -(-wanted // play.size))
            played = batches * play.size
            shown = [share for share in SHARES if share * played >= FEWEST_HITS]
            proposed = self._proposed(play, max(1, batches // SAMPLED_PART), shown)
            hits = self._counted(play, batches, proposed)
        counted = [replace(predicate, hits=int(held)) for predicate, held in zip(proposed, hits, strict=True)]
        each = -(-self._settings.predicates // len(FAMILIES))
        chosen: list[Predicate] = []
        for share in SHARES:
            for family in FAMILIES:
                fitting = [
                    predicate
                    for predicate in counted
                    if (predicate.share, predicate.family) == (share, family) and _fits(predicate, played)
                ]
                chosen += fitting[:each]
        if not chosen:
            raise StrengthError(
                f"in {played} steps of random play no predicate could be drawn",
                where=self._task.name,
                next_step="give more --steps",
            )
        return tuple(chosen), played

    def _proposed(self, play: RandomPlay, batches: int, shares: Sequence[float]) -> list[Predicate]:
        if known := self._noted(PROPOSED):
            return [Predicate.from_json(each) for each in known]
        sample = Sample(self._numbers, batches * play.size, self._streams.random("rare/sample"))
        for number, rows in enumerate(play.batches("sample", 0, batches)):
            sample.add(rows)
            self._progress("random play, to draw from", number + 1, batches)
        drawer = Drawer(sample, self._streams.random("rare/predicates"))
        count = OVERSAMPLED * -(-self._settings.predicates // len(FAMILIES))
        found = [predicate for share in shares for predicate in drawer.proposals(share, count)]
        self._journal.write(PROPOSED, [each.to_json() for each in found])
        return found

    def _counted(self, play: RandomPlay, batches: int, proposed: Sequence[Predicate]) -> Sequence[int]:
        known = self._noted(COUNTED)
        done, hits = (known[-1]["batches"], np.array(known[-1]["hits"])) if known else (0, np.zeros(len(proposed), int))
        evaluation = Evaluation(self._numbers.chosen, proposed)
        for rows in play.batches("count", done, batches):
            hits = hits + evaluation.counts(rows)
            done += 1
            self._progress("random play, to count in", done, batches)
            if done % NOTE_EVERY == 0 or done == batches:
                self._journal.write(COUNTED, [{"batches": done, "hits": hits.tolist()}])
        return hits.tolist()

    # --- verifications that are watched -------------------------------------------------------------------------------

    def _met(self, predicates: Sequence[Predicate]) -> tuple[tuple[Trial, ...], tuple[Run, ...]]:
        """What the runs met; the predicates are dealt to them in turn."""
        known = {(each["number"], each["exploring"]): each for each in self._noted(MET)}
        met: list[dict[int, str]] = [{} for _ in predicates]
        runs: list[Run] = []
        wanted = [(number, times) for number in range(self._settings.runs) for times in self._settings.exploring]
        for done, (number, times) in enumerate(wanted):
            mine = range(number, len(predicates), self._settings.runs)
            self._progress("verifications", done, len(wanted))
            found = known.get((number, times)) or self._watched(number, times, [predicates[place] for place in mine])
            runs.append(Run.from_json(found))
            for place, check in zip(mine, found["met"], strict=True):
                met[place][times] = check
        trials = (
            Trial(predicate, place % self._settings.runs, met[place]) for place, predicate in enumerate(predicates)
        )
        return tuple(trials), tuple(runs)

    def _watched(self, number: int, times: int, predicates: Sequence[Predicate]) -> dict[str, Any]:
        meeting = Meeting(self._numbers, predicates)
        self._verifier.watch = meeting
        began = time.monotonic()
        seed = self._streams.derive(f"rare/run {number}")
        verdict = self._verifier.verify(self._original, self._request(seed, times))
        self._nodes |= verdict.nodes
        self._verifier.watch = None
        if verdict.outcome is not Outcome.PASS:
            raise StrengthError(
                f"the candidate itself does not pass ({verdict.outcome}: {_why(verdict)})",
                where=self._task.name,
                expected="a verified candidate",
                next_step="run `lockstep verify` on it first",
            )
        run = Run(number, seed, times, meeting.steps, time.monotonic() - began)
        found = {**run.to_json(), "met": meeting.met}
        self._journal.write(MET, [found])
        return found

    def _request(self, seed: int, times: int) -> LevelsRequest:
        return LevelsRequest(self._levels, seed, stop_at_failure=True, exploring=times)

    # --- mutants ------------------------------------------------------------------------------------------------------

    def _planted(self, trials: Sequence[Trial], runs: Sequence[Run]) -> tuple[Planted, ...]:
        """Real mutants of some predicates."""
        times = min(self._settings.exploring)
        seeds = {run.number: run.seed for run in runs}
        known = {each["trial"]: Planted.from_json(each) for each in self._noted(PLANTED)}
        found = []
        chosen = _spread(trials, times, self._settings.plant, self._streams.random("rare/planted"))
        for done, place in enumerate(chosen):
            self._progress("mutants", done, len(chosen))
            if place not in known:
                known[place] = self._planted_one(place, trials[place], times, seeds[trials[place].run])
                self._journal.write(PLANTED, [known[place].to_json()])
            found.append(known[place])
        return tuple(found)

    def _planted_one(self, place: int, trial: Trial, times: int, seed: int) -> Planted:
        said = trial.met[times]
        request = self._request(seed, times)
        request = replace(request, levels=[level for level in request.levels if level >= level_of(said)])
        with scratch_directory("lockstep-mutant-") as location:
            plant(self._task, self._original, self._numbers, trial.predicate, location)
            verdict = self._verifier.verify(location, request)
        found = judged(place, said, verdict)
        if found is None:
            raise StrengthError(f"a mutant could not be judged: {_why(verdict)}", where=str(trial.predicate))
        return found

    def _noted(self, kind: str) -> list[dict[str, Any]]:
        return [each for each in self._journal.known if each["kind"] == kind]


def _fits(predicate: Predicate, played: int) -> bool:
    """Whether it held about as often as it should, and often enough to say so."""
    expected = predicate.share * played
    return predicate.hits >= FEWEST_HITS and expected / AROUND <= predicate.hits <= expected * AROUND


def _spread(trials: Sequence[Trial], times: int, count: int, rng: np.random.Generator) -> list[int]:
    """`count` trials: of each check that met some, and of those that none met, about as many."""
    order = [int(place) for place in rng.permutation(len(trials))]
    checks = sorted({trial.met[times] for trial in trials})
    waiting = [[place for place in order if trials[place].met[times] == check] for check in checks]
    chosen: list[int] = []
    while len(chosen) < count and any(waiting):
        for places in waiting:
            if places and len(chosen) < count:
                chosen.append(places.pop())
    return chosen


def _why(verdict: Verdict) -> str:
    if verdict.reason:
        return verdict.reason
    failed = [check for report in verdict.reports for check in report.checks if check.outcome is not Outcome.PASS]
    return failed[0].name if failed else "no verdict"
