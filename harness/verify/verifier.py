"""Verification of one exported tree: the levels in order, the reference trusted, the candidate in a fresh sandbox.

A level above one that failed does not run. Whatever goes wrong with a worker becomes an ERROR in the report of the level
in which it happened; only PASS verifies.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from harness.candidate.as_user import User
from harness.candidate.start import CandidateWorker, demand_no_links, start_judge
from harness.errors import BrokenContract, EnvironmentFailure, Failure, LockstepError, TrainingError
from harness.farm.crew import DeadlyPiece
from harness.farm.engine import Engine, Refused
from harness.model import Array
from harness.policy import device
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment, Pool
from harness.reference.elsewhere import FarPool, nodes, reference_recipe
from harness.reference.install import setup
from harness.reference.start import start_reference, start_references
from harness.support import memory
from harness.support.progress import Progress, silent
from harness.task.contract import TASK_FILE, TRAINING_LEVEL, Task, caches
from harness.task.require import demand_features
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict
from harness.verify import pictures
from harness.verify.levels import as_used, interaction, known, property, proposed, requirements, rollout
from harness.verify.pair import Pair
from harness.verify.questions import Questions
from harness.verify.request import LevelsRequest
from harness.verify.sighting import cut_short
from harness.verify.suite.client import Suite, start_suite
from harness.verify.suite.features import FeatureCount
from harness.verify.watch import Watch
from sandboxes import Driver, SandboxError
from sandboxes.removal import scratch_directory

CONTRACT = "contract"
VECTOR_CALLS = frozenset(("vector", "advance"))


class Verifier:
    """Verifies trees of one task. The workers of the reference and of the task's own code stay warm from one to the next.

    Args:
        task: the trusted task.
        driver: in which sandbox candidates run.
        progress: called with what is being done, how much is done, and how much there is.
        prepare: start the next candidate's worker ahead, so that the import of JAX is over when a tree comes.
        workers: how many references step in parallel; 0 takes what the task says, or as many as the engine has slots.
        policies: where level 4 keeps what it trained, so that an interrupted one goes on; None keeps nothing.
        record_questions: so many bytes at most are kept of what each level puts to the candidate.
        engine: where references are placed; None has them on this machine. It stays open when this is closed.

    Attributes:
        task, driver, progress: as given.
        watch: told of what is compared, where somebody sets it.
        questions: what each level of the last verification asked the reference.
        put_to_candidate: what it asked the candidate, where that is recorded; nothing of level 4.
    """

    def __init__(
        self,
        task: Task,
        driver: Driver,
        *,
        progress: Progress = silent,
        prepare: bool = False,
        workers: int = 0,
        policies: Path | None = None,
        record_questions: int = 0,
        engine: Engine | None = None,
    ) -> None:
        self.task = task
        self.driver = driver
        self.progress = progress
        self._prepare = prepare
        self._workers = workers
        self._policies = policies
        self._records_candidate = record_questions
        self.watch: Watch | None = None
        self.questions: dict[int, Questions] = {}
        self.put_to_candidate: dict[int, Questions] = {}
        self._engine = engine
        self._trained_on: dict[str, Any] = {}  # nodes, by name, of level 4's trainings
        self._pool: Pool | None = None
        self._suite: Suite | None = None
        self._next: Future[CandidateWorker] | None = None
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="lockstep-prepare")
        if prepare:
            self._started_next()

    def verify(
        self,
        tree: Path,
        request: LevelsRequest,
    ) -> Verdict:
        """Verify an exported tree at some levels, lowest first, until one does not pass.

        Args:
            tree: a directory with the candidate (and what its agent proposes); nothing else of it is used.
        """
        seed = request.seed
        began = time.monotonic()
        self.questions, self.put_to_candidate = {}, {}
        self._trained_on = {}
        reports: list[LevelReport] = []
        error = image = gpu = ""
        doubted = False  # whether an agent may have made up where a known case begins
        why: Failure | None = None
        drawn: dict[str, Array] = {}
        scales: Mapping[str, float] = {}

        def judged() -> Verdict:
            return Verdict(
                reports=tuple(reports),
                seed=seed,
                task_digest=self.task.digest,
                sandbox=self.driver.name,
                isolated=self.driver.isolated,
                duration_s=time.monotonic() - began,
                error=error,
                image=image,
                gpu=gpu,
                frames=drawn,
                failure=why,
                nodes=nodes(self._pool) | self._trained_on,
                scales=scales,
            )

        with ExitStack() as stack:
            try:
                image = self.driver.describe().get("digest", "")
                self._started_next()  # its imports, and those of the suite, go on while the reference starts
                suite = self._started_suite()
                cases = known.load_cases(self.task.directory)
                doubted = any(map(known.may_be_made_up, cases[0]))
                reference = self.reference()
                suite.open()
                demand_features(self.task.directory / TASK_FILE, self.task.required, suite.features)
                task, candidate = self._open_candidate(tree, request, stack)
                gpu = device.described() if task.candidate.kind == "jax" else ""
                pair = Pair(
                    task, suite, reference, candidate, seed, self.progress,
                    stop_at_failure=request.stop_at_failure, watch=self.watch,
                )  # fmt: skip
                scales = pair.scales
                use = second = None
                with ExitStack() as beside:
                    if rollout.LEVEL in request.levels and not request.stop_at_failure:
                        use = as_used.Use(pair, User(self.task, self.driver, tree))
                        stack.callback(use.close)
                        second = rollout.SecondProcess(pair, lambda: self._another(pair, tree, stack))
                        beside.callback(second.close)
                        if use.starts_early:  # levels 1 and 2 leave a core idle
                            use.start()
                            if not self._records_candidate:  # what it is asked belongs to level 3
                                use.then(second.begin)  # a third program at once would slow down the levels
                    for level in sorted(request.levels):
                        self._record_questions(reference, candidate, level)
                        reports.append(self._run_level(pair, level, request, tree, cases, use, second, stack))
                        self.questions[level].features.update(reports[-1].features)
                        memory.give_back()
                        if reports[-1].outcome is not Outcome.PASS:
                            break
                if not request.stop_at_failure and (so_far := judged()).outcome is Outcome.FAIL:
                    drawn = pictures.of_divergences(pair, so_far, self._renderer)
            except BrokenContract as broken:
                reports.append(_contract_report(broken, seed, time.monotonic() - began))
            except (LockstepError, SandboxError) as failure:
                error, why = str(failure), Failure.of(failure)
            finally:
                for environment in self._pool.environments if self._pool is not None else ():
                    environment.listener = None
        made_up = any(  # it was played to be drawn, too
            proposed.begins_in_a_made_up_state(each) or (doubted and each.check == known.NAME)
            for each in judged().divergences
        )
        if self._pool is not None and (made_up or not all(each.alive for each in self._pool.environments)):
            self._pool.close()
            self._pool = None
        if self._suite is not None and not self._suite.alive:
            self._suite.close()
            self._suite = None
        verdict = judged()
        if self._prepare and isinstance(self._pool, FarPool):
            self._pool.rest()  # others may need the slots until the next tree comes
        return verdict

    def _record_questions(self, reference: Pool, candidate: Environment, level: int) -> None:
        """Keep what is asked from here on as the questions of a level."""
        heard = self.questions[level] = Questions()

        def listen(source: Environment, call: str, arguments: Mapping[str, Any]) -> None:
            # Level 4 trains through sub-environments, in millions of steps: what it reaches there nobody could ask again.
            if level < TRAINING_LEVEL or call not in VECTOR_CALLS:
                heard.add(source, call, arguments)

        for environment in reference.environments:
            environment.listener = listen
        candidate.listener = None
        if self._records_candidate and level < TRAINING_LEVEL:
            kept = self.put_to_candidate.setdefault(level, Questions(self._records_candidate))
            candidate.listener = kept.add

    def reference(self) -> Pool:
        """The reference's workers, started when they are first needed.

        Raises:
            SetupError, Refused, EnvironmentFailure: the reference cannot be installed or started.
        """
        if self._pool is None:
            if self._engine is None:
                installed = setup(self.task, lambda line: self.progress(line, 0, 1))
                self._pool = start_references(self.task, installed, self._workers)
            else:
                self.progress(f"starting references on {self._engine.name}", 0, 1)
                self._pool = FarPool(self.task, self._engine, reference_recipe(self.task), self._workers)
        return self._pool

    def _started_suite(self) -> Suite:
        if self._suite is None:
            self._suite = start_suite(self.task)
        return self._suite

    def _renderer(self) -> Environment:
        return start_reference(self.task, setup(self.task))

    def close(self) -> None:
        """End all workers."""
        if self._next is not None and self._next.exception() is None:
            self._next.result().close()
        self._next = None
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        if self._suite is not None:
            self._suite.close()
            self._suite = None
        self._threads.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open_candidate(self, tree: Path, request: LevelsRequest, stack: ExitStack) -> tuple[Task, Environment]:
        """The candidate, and the task that it can answer for. Where one module is verified alone, probes of later modules
        need not be written.
        """
        started, self._next = self._started_next(), None
        worker = started.result()
        stack.callback(worker.close)
        if self._prepare:
            stack.callback(self._started_next)
        module = request.module if tuple(request.levels) == (property.LEVEL,) else None
        return worker.open_for(tree, self.task.probes if module is None else self.task.probes_up_to(module), stack)

    def _started_next(self) -> Future[CandidateWorker]:
        if self._next is None:
            self._next = self._threads.submit(CandidateWorker, self.task, self.driver)
        return self._next

    def _another(self, pair: Pair, tree: Path, stack: ExitStack, *, training: bool = False) -> Environment:
        """Another process of the same candidate."""
        worker = CandidateWorker(self.task, self.driver, training=training)
        stack.callback(worker.close)
        opened = worker.open(tree)
        opened.listener = pair.candidate.listener
        return opened

    def _run_level(
        self,
        pair: Pair,
        level: int,
        request: LevelsRequest,
        tree: Path,
        cases: tuple[list[known.Case], list[known.ProbeCase]],
        use: as_used.Use | None,
        second: rollout.SecondProcess | None,
        stack: ExitStack,
    ) -> LevelReport:
        began = time.monotonic()
        module = request.module
        counting = FeatureCount(pair.suite)
        stack.callback(counting.close)
        tally = rollout.Tally(counting)
        pair.begin_evidence()
        results: list[CheckResult] = []
        measured: dict[str, Any] = {}

        def ended(result: CheckResult) -> None:
            results.append(result)
            pair.seen = None  # whatever it was, the result says it
            pair.watch.ended(level, result.name)

        def another(*, training: bool = False) -> Environment:
            return self._another(pair, tree, stack, training=training)

        def transferred() -> Iterator[CheckResult]:
            from harness.verify.levels import transfer  # with it comes JAX, which no other level needs
            from harness.verify.levels.transfer_elsewhere import Elsewhere

            elsewhere = None
            if self._engine is not None:
                elsewhere = Elsewhere(pair, self._engine, self.driver, tree)
                self._trained_on = elsewhere.nodes
            trainer = transfer.Trainer(pair, lambda: another(training=True), tree, self._policies, elsewhere)
            return transfer.checks(pair, trainer, tally, measured)

        def judge(file: Path) -> Channel:
            return start_judge(self.driver, file, stack)

        running: dict[int, Callable[[], Iterator[CheckResult]]] = {
            1: lambda: property.checks(pair, module),
            2: lambda: interaction.checks(pair),
            3: lambda: rollout.checks(
                pair, tally, second or rollout.SecondProcess(pair, another), use, request.exploring
            ),
            4: transferred,
        }
        try:
            if level == 1:
                for result in known.check_probes(pair, cases[1], module):
                    ended(result)
            if level > 1 or module is None:
                repeated = known.check_cases(pair, cases[0], level, self._renderer)
                if repeated is not None:
                    ended(repeated)
            if Outcome.worst([result.outcome for result in results]) in (Outcome.PASS, Outcome.SKIPPED):
                for result in running[level]():
                    ended(result)
                    if (level in (2, 3) or pair.stop_at_failure) and result.outcome not in (
                        Outcome.PASS,
                        Outcome.SKIPPED,
                    ):
                        break
                else:
                    if level == proposed.LEVEL:
                        for result in proposed.checks(pair, tree, judge, self._renderer):
                            results.append(result)
                            pair.seen = None
        except (EnvironmentFailure, SandboxError, TrainingError, DeadlyPiece, Refused) as failure:
            if pair.seen is not None:
                results.append(cut_short(pair.seen, level, failure))
            else:
                results.append(CheckResult("workers", Outcome.ERROR, detail=str(failure), failure=Failure.of(failure)))
        try:
            tally.settle()
        except EnvironmentFailure as failure:
            results.append(CheckResult("features", Outcome.ERROR, detail=str(failure), failure=Failure.of(failure)))
        whole = not pair.stop_at_failure and (level > 1 or module is None)
        if whole and Outcome.worst([result.outcome for result in results]) in (Outcome.PASS, Outcome.SKIPPED):
            results.extend(requirements.checks(self.task, level, pair.occurred, tally.features))
        return LevelReport(
            level=level,
            module=module if level == 1 else None,
            checks=tuple(results),
            seed=pair.seed,
            episodes=tally.episodes,
            steps=tally.steps,
            features=tally.features,
            notes=_notes(pair, level),
            duration_s=time.monotonic() - began,
            evidence=pair.evidence,
            transfer=measured or None,
            occurred=pair.occurred.table(),
            deviations=pair.off.table(),
            resynchronised=pair.resynchronised,
            open_loop=tally.open_loop,
        )


def _contract_report(broken: BrokenContract, seed: int, seconds: float) -> LevelReport:
    """What level 1 says of a candidate whose functions do not have the form that the task demands."""
    divergences = tuple(
        Divergence(
            None, 0, mistake.get("path") or "candidate", mistake.get("expected", ""), mistake.get("actual", ""),
            mistake.get("rule", "contract"), 1, CONTRACT, cause=mistake.get("text", ""),
        )
        for mistake in broken.mistakes
    )  # fmt: skip
    why = Failure.of_contract(broken)
    check = CheckResult(CONTRACT, Outcome.FAIL, detail=broken.what, divergences=divergences, failure=why)
    return LevelReport(level=1, module=None, checks=(check,), seed=seed, duration_s=seconds)


def _notes(pair: Pair, level: int) -> tuple[str, ...]:
    """What could not be checked here, and why."""
    notes = []
    reference = pair.reference.spec.capabilities
    if not pair.paired:
        notes.append("only distributions were compared (randomness `law`): a weaker claim than equal trajectories")
    if "restore" not in reference:
        notes.append("the reference cannot restore a state: no tests from generated states, prefixes are replayed")
    if pair.task.candidate.precision == "float32":
        notes.append("the candidate computes in float32 what the task has in float64")
    if level == 1 and "probe" not in reference and pair.task.probes:
        notes.append("the reference answers no probes: modules were tested through whole steps only")
    kinds = {(facts.get("cpu"), facts.get("numpy")) for facts in nodes(pair.reference).values()}
    if len(kinds) > 1 and any(leaf.dtype.startswith("float") for leaf in pair.task.leaves.values()):
        named = "; ".join(sorted(f"{cpu} with numpy {numpy}" for cpu, numpy in kinds))
        notes.append(f"the reference ran on nodes of {len(kinds)} kinds ({named}), which may round floats otherwise")
    if level == 3 and pair.task.draws and "force_draws" not in reference:
        notes.append("the reference takes no draws: auto-reset was compared with the candidate's own single steps")
    return tuple(notes)


def copy_candidate(source: Path, destination: Path) -> None:
    """Copy what a verification reads of a directory, for a run outside any session.

    Raises:
        SetupError: there is a link in it, which would show what lies outside.
    """
    for name in ("candidate", "proposed"):
        if (source / name).is_dir():
            demand_no_links(source / name)
            shutil.copytree(source / name, destination / name, ignore=caches)


def verify_directory(
    task: Task, driver: Driver, request: LevelsRequest, progress: Progress = silent, engine: Engine | None = None
) -> Verdict:
    """Verify a task directory as it is, outside any session: nothing is committed or recorded."""
    with ExitStack() as stack:
        tree = stack.enter_context(scratch_directory("lockstep-tree-"))
        copy_candidate(task.directory, tree)
        verifier = stack.enter_context(Verifier(task, driver, progress=progress, engine=engine))
        return verifier.verify(tree, request)
