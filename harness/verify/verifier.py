"""Verification of one exported tree: the levels in order, the reference trusted, the candidate in a fresh sandbox.

A level above one that failed does not run. Whatever goes wrong with a worker becomes an ERROR in the report of the level
in which it happened; only PASS verifies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Self

from harness.candidate.as_user import User
from harness.candidate.crates.runtime import compiled
from harness.candidate.crates.toolchain import toolchain
from harness.candidate.start import CandidateWorker, start_judge
from harness.errors import BrokenContract, Failure, LockstepError
from harness.farm.engine import Engine
from harness.model import Array
from harness.policy import device
from harness.protocol.environment import Environment, Pool
from harness.reference.elsewhere import FarPool, nodes, reference_recipe
from harness.reference.install import setup
from harness.reference.start import start_reference, start_references
from harness.support import memory
from harness.support.progress import Progress, silent
from harness.task.contract import TASK_FILE, TRAINING_LEVEL, Task
from harness.task.require import demand_features
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict
from harness.verify import pictures
from harness.verify.level_run import LevelRuns, Transfer
from harness.verify.levels import as_used, known, property, proposed, rollout
from harness.verify.pair import Pair
from harness.verify.questions import Questions
from harness.verify.request import LevelsRequest
from harness.verify.suite.client import Suite, start_suite
from harness.verify.watch import Watch
from sandboxes import Driver, SandboxError

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
                nodes={**nodes(self._pool), **self._trained_on},
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
                        second = rollout.SecondProcess(pair, partial(self._another, pair, tree, stack))
                        beside.callback(second.close)
                        if use.starts_early:  # levels 1 and 2 leave a core idle
                            use.start()
                            if not self._records_candidate:  # what it is asked belongs to level 3
                                use.then(second.begin)  # a third program at once would slow down the levels
                    runs = LevelRuns(
                        pair=pair,
                        request=request,
                        tree=tree,
                        cases=cases,
                        use=use,
                        second=second,
                        stack=stack,
                        another=partial(self._another, pair, tree, stack),
                        apart=self._renderer,
                        judge=lambda file: start_judge(self.driver, file, stack),
                        transfer=self._transfer(pair, tree, stack),
                    )
                    for level in sorted(request.levels):
                        self._record_questions(reference, candidate, level)
                        reports.append(runs.run(level))
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
        verdict = judged()  # as long as the pool is there, which knows its nodes
        made_up = any(  # it was played to be drawn, too
            proposed.begins_in_a_made_up_state(each) or (doubted and each.check == known.NAME)
            for each in verdict.divergences
        )
        if self._pool is not None and (made_up or not all(each.alive for each in self._pool.environments)):
            self._pool.close()
            self._pool = None
        if self._suite is not None and not self._suite.alive:
            self._suite.close()
            self._suite = None
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

    def make_ready(self) -> None:
        """Have all that this machine must bring, before a tree comes: the reference's workers, and for a crate the compiler
        and what it is linked with.

        Raises:
            SetupError, Refused, EnvironmentFailure: one of these cannot be had here.
        """
        self.reference()
        if self.task.candidate.kind == "rust":
            compiled(self.driver, toolchain(self.driver), lambda line: self.progress(line, 0, 1))

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

    def _transfer(self, pair: Pair, tree: Path, stack: ExitStack) -> Transfer:
        """The checks of level 4."""

        def checks(tally: rollout.Tally, measured: dict[str, Any]) -> Iterator[CheckResult]:
            from harness.verify.levels import transfer  # with it comes JAX, which no other level needs
            from harness.verify.levels.transfer_elsewhere import Elsewhere

            elsewhere = None
            if self._engine is not None:
                elsewhere = Elsewhere(pair, self._engine, self.driver, tree)
                self._trained_on = elsewhere.nodes
            training = partial(self._another, pair, tree, stack, training=True)
            return transfer.checks(
                pair, transfer.Trainer(pair, training, tree, self._policies, elsewhere), tally, measured
            )

        return checks


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
