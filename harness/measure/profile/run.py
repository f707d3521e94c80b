"""One profile: reference, candidate and peers side by side, batch size by batch size, and the spot checks behind it."""

from __future__ import annotations

import os
import secrets
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from harness.candidate.start import CandidateWorker
from harness.errors import BadAnswer, EnvironmentFailure, LockstepError, SetupError
from harness.measure.profile import machine
from harness.measure.profile.advice import advise
from harness.measure.profile.contenders import (
    CANDIDATE,
    KINDS,
    REFERENCE,
    SCAN,
    STEP,
    TRAIN,
    Cell,
    Contender,
    OnDevices,
    interleaved,
    prepare,
)
from harness.measure.profile.hot import HotStep
from harness.measure.profile.machine import Abilities
from harness.measure.profile.peers import started_peer
from harness.measure.profile.reference_rates import ReferenceRates, started_bare
from harness.measure.profile.result import Measurement, Profile, Skipped, Speed, SpotCheck
from harness.measure.profile.spotcheck import spot_check, worst
from harness.measure.profile.training import config_for, measure_training
from harness.protocol.environment import Environment, Pool
from harness.record.machine import fingerprint
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.support.document import DocumentError
from harness.support.progress import Progress, silent
from harness.task.contract import Mode, Task
from harness.verdict import Outcome
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from sandboxes import Driver, SandboxError

ROUNDS = 5
LONGEST_S = 2.0
"""How long one repetition of a run may take, where its length can be chosen."""
LONGEST_UPDATE_S = 5.0
"""The reference is trained in as well, unless one update would take longer."""
LENGTHS = {SCAN: (64 << 20, 128, 1024), STEP: (4 << 20, 16, 256)}
"""For each kind of run: bytes of a repetition's outputs, which are all there at once, and its least and greatest length."""
CHECK_SECONDS = 0.5
"""How long the reference may take to play a run's sub-environments again."""
FEWEST_CHECKED = 200


@dataclass(frozen=True)
class Settings:
    """What to measure.

    Attributes:
        batches: batch sizes; None takes the task's.
        kinds: some of `step`, `scan` and `train`.
        train_at: batch sizes to train at, which takes longest; None takes the middle one of the batch sizes. Scans are
            measured there in any case: they say how much of the time the environment takes, and can be checked.
        seconds_per: how long each is measured, over all rounds, without compiling it.
        rounds: readings of each, interleaved with those of all others.
        peers: names of the peers to measure beside; None takes all.
        trace: whether to look where a step's time goes.
        devices: how many devices a candidate in JAX is measured on beside one; 1 measures it on one alone.
    """

    batches: tuple[int, ...] | None = None
    kinds: tuple[str, ...] = (*KINDS, TRAIN)
    train_at: tuple[int, ...] | None = None
    seconds_per: float = 0.5
    rounds: int = ROUNDS
    peers: tuple[str, ...] | None = None
    trace: bool = True
    devices: int = 1


def profile(
    task: Task,
    tree: Path,
    driver: Driver,
    settings: Settings = Settings(),
    *,
    seed: int | None = None,
    progress: Progress = silent,
) -> Profile:
    """Measure the candidate in an exported tree beside its reference and its peers.

    The candidate runs in a fresh sandbox, under seeds that are drawn now. Nothing is raised for what a worker does: that
    becomes the outcome ERROR, or a contender that was skipped.

    Args:
        seed: from which the seeds of the runs are derived; by default it is drawn.
    """
    chosen = secrets.randbits(62) if seed is None else seed
    run = _Run(task, tree, driver, settings, chosen, progress)
    began = time.monotonic()
    try:
        with ExitStack() as stack:
            result = run.result(stack)
    except (LockstepError, SandboxError) as failure:
        result = run.partial(Outcome.ERROR, error=str(failure))
    return replace(result, duration_s=time.monotonic() - began)


class _Run:
    """What the parts of one profile share."""

    def __init__(
        self, task: Task, tree: Path, driver: Driver, settings: Settings, seed: int, progress: Progress
    ) -> None:
        self._task, self._tree, self._driver, self._settings = task, tree, driver, settings
        self._seed, self._progress = seed, progress
        self._rng = np.random.default_rng(seed)
        self._batches = settings.batches or task.batch_sizes
        middle = sorted(self._batches)[len(self._batches) // 2]
        self._train_at = (settings.train_at or (middle,)) if TRAIN in settings.kinds else ()
        self._cores = len(os.sched_getaffinity(0))
        self._cells: list[Cell] = []
        self._rates: ReferenceRates | None = None
        self._trained: list[Measurement] = []
        self._checks: list[SpotCheck] = []
        self._skipped: list[Skipped] = []
        self._abilities: Abilities | None = None
        self._hot: HotStep | None = None

    def result(self, stack: ExitStack) -> Profile:
        """Measure everything.

        Raises:
            LockstepError, SandboxError: the candidate, the reference or the machine cannot be measured.
        """
        self._tell("measuring the machine")
        self._abilities = machine.measure(self._driver)
        pool = self._reference(stack)
        devices = self._settings.devices
        if devices > 1 and self._task.candidate.kind != "jax":
            raise SetupError("only a candidate in JAX is spread over devices", where=self._task.name)
        worker = CandidateWorker(self._task, self._driver, devices=devices)
        stack.callback(worker.close)
        candidate = worker.open(self._tree)
        contenders = [Contender(CANDIDATE, CANDIDATE, candidate, worker.pid)]
        if devices > 1:
            spread = OnDevices(candidate, devices)
            contenders.append(
                Contender(f"{CANDIDATE}, {devices} devices", CANDIDATE, spread, worker.pid, divides=devices)
            )
        contenders += self._peers(stack)
        for number, batch in enumerate(self._batches):
            self._measure(contenders, batch, number)
        self._train(pool, [each for each in contenders if each.role != CANDIDATE])
        self._check(pool, candidate)
        if self._settings.trace and STEP in self._settings.kinds and self._task.candidate.kind == "jax":
            self._tell("tracing a step")
            self._hot = _hot_step(candidate.ask("bench_trace", batch=max(self._batches)))
        return self.partial(worst(self._checks))

    def partial(self, outcome: Outcome, error: str = "") -> Profile:
        """What there is so far."""
        settings, abilities = self._settings, self._abilities
        own = [cell for cell in self._cells if cell.contender.role == CANDIDATE]
        advice = None
        state_bytes = max((int(cell.facts.get("state_bytes", 0)) for cell in own), default=0)
        if self._hot is not None:
            advice = advise(
                self._hot,
                x64=self._task.candidate.x64,
                compile_s=max(cell.compile_s for cell in own),
                compile_added=max((cell.compile_added or 0 for cell in own), default=0),
                state_bytes=state_bytes,
            )
        facts = dict(fingerprint())
        if abilities is not None:
            facts |= {
                "cores_used": self._cores,
                "device": abilities.device,
                "operations_per_s": round(abilities.operations_per_s),
                "bytes_per_s": round(abilities.bytes_per_s),
            }
        return Profile(
            task=self._task.name,
            task_digest=self._task.digest,
            outcome=outcome,
            seed=self._seed,
            machine=facts,
            method={
                "batch_sizes": list(self._batches),
                "kinds": list(settings.kinds),
                "train_at": sorted({measured.batch for measured in self._trained}),
                "rounds": settings.rounds,
                "seconds_per": settings.seconds_per,
                **({"devices": settings.devices} if settings.devices > 1 else {}),
            },
            sandbox={"driver": self._driver.name, "isolated": self._driver.isolated},
            measurements=tuple(self._measurements()),
            checks=tuple(self._checks),
            skipped=tuple(self._skipped),
            state_bytes=state_bytes,
            hot=self._hot,
            advice=advice,
            notes=tuple(self._notes(outcome)),
            error=error,
            divergence=next((check.divergence for check in self._checks if check.divergence is not None), None),
        )

    # --- who is measured ----------------------------------------------------------------------------------------------

    def _reference(self, stack: ExitStack) -> Pool:
        self._tell("starting the reference")
        installed = setup(self._task, self._tell)
        pool = start_references(self._task, installed)
        stack.callback(pool.close)
        bare = stack.enter_context(started_bare(self._task, installed, self._seed, self._skipped.append))
        seconds = self._settings.seconds_per / 2
        self._rates = ReferenceRates(self._task, pool, bare, seconds, self._next, self._skipped.append)
        return pool

    def _peers(self, stack: ExitStack) -> Iterator[Contender]:
        wanted = self._settings.peers
        known = [peer.name for peer in self._task.peers]
        for name in wanted or ():
            if name not in known:
                raise SetupError(
                    f"there is no peer {name!r}",
                    where=f"task {self._task.name}",
                    expected=f"one of {', '.join(known) or 'none'}: [[peers]] in task.toml",
                )
        for peer in self._task.peers:
            if wanted is not None and peer.name not in wanted:
                continue
            self._tell(f"starting the peer {peer.name}")
            try:
                yield stack.enter_context(started_peer(self._task, peer, self._tell))
            except (LockstepError, SandboxError) as failure:
                self._skipped.append(Skipped(peer.name, str(failure)))

    @property
    def _reference_rates(self) -> ReferenceRates:
        assert self._rates is not None, "the reference is started before anything is measured"
        return self._rates

    # --- measuring ----------------------------------------------------------------------------------------------------

    def _measure(self, contenders: Sequence[Contender], batch: int, number: int) -> None:
        """All contenders at one batch size."""
        settings = self._settings
        per_reading = settings.seconds_per / settings.rounds
        cells = []
        for contender in contenders:
            length: dict[str, int] = {kind: run_length(self._task, kind, batch) for kind in KINDS}
            if batch % contender.divides:
                self._skipped.append(Skipped(f"{contender.name}, batch {batch}", "it cannot be shared out equally"))
                continue
            for kind in KINDS:
                if kind not in contender.kinds or not self._wanted(kind, batch, contender):
                    continue
                self._tell(f"compiling {contender.name}, {kind} at batch {batch}")
                try:
                    cell = prepare(
                        contender,
                        kind,
                        batch,
                        length[kind],
                        seconds=per_reading,
                        longest_s=LONGEST_S,
                        seed=self._next(),
                    )
                except EnvironmentFailure as failure:
                    if contender.role == CANDIDATE:
                        raise
                    self._skipped.append(Skipped(f"{contender.name}, {kind} at batch {batch}", str(failure)))
                    continue
                cells.append(cell)
                if kind == STEP:
                    # What one step takes tells how long a scan may be, before one is compiled that never ends.
                    each = self.each(cell)
                    length[SCAN] = max(1, min(length[SCAN], int(LONGEST_S / each)))
        self._tell("measuring the reference")
        self._reference_rates.read()

        def reported(done: int) -> None:
            total = len(self._batches) * settings.rounds
            self._progress(f"measuring at batch {batch}", number * settings.rounds + done, total)

        interleaved(cells, settings.rounds, self._next, reported)
        self._cells += cells

    def _wanted(self, kind: str, batch: int, contender: Contender) -> bool:
        beside_training = kind == SCAN and contender.role == CANDIDATE and batch in self._train_at
        return kind in self._settings.kinds or beside_training

    @staticmethod
    def each(cell: Cell) -> float:
        """Seconds that one step of the whole batch takes, from the warm-up: an upper bound."""
        return cell.warm_up_s / max(1, min(cell.length, 2))

    def _next(self) -> int:
        return int(self._rng.integers(1 << 62))

    def _train(self, pool: Pool, peers: Sequence[Contender]) -> None:
        """Training, in a worker of its own; where the task's hyper-parameters do not fit, that is said."""
        settings = self._settings
        for batch in self._train_at:
            self._tell(f"training at batch {batch}")
            scan = next(
                (c for c in self._cells if (c.contender.role, c.kind, c.batch) == (CANDIDATE, SCAN, batch)), None
            )
            try:
                measured = measure_training(
                    self._task, self._tree, self._driver, batch,
                    seconds=settings.seconds_per / settings.rounds, rounds=settings.rounds, scan=scan, cores=self._cores,
                    reference=self._trainable(pool, batch), peers=[peer for peer in peers if TRAIN in peer.kinds],
                    skip=partial(self._skip_training, batch),
                )  # fmt: skip
            except (ValueError, SetupError) as failure:
                self._skip_training(batch, CANDIDATE, str(failure))
            else:
                self._trained += measured

    def _trainable(self, pool: Pool, batch: int) -> Pool | None:
        """The reference, unless it is so slow that training in it for a few updates would take minutes."""
        each = config_for(self._task, batch).steps_per_update / statistics.median(self._reference_rates.all_workers)
        if each <= LONGEST_UPDATE_S:
            return pool
        self._skip_training(batch, REFERENCE, f"one update would take {each:.0f} s")
        return None

    def _skip_training(self, batch: int, contender: str, because: str) -> None:
        self._skipped.append(Skipped(f"{contender}, {TRAIN} at batch {batch}", because))

    # --- what stands behind it ----------------------------------------------------------------------------------------

    def _check(self, pool: Pool, candidate: Environment) -> None:
        """Spot-check every cell of the candidate; the first one that fails ends it."""
        pair = Pair(self._task, Suite(), pool, candidate, self._seed, self._progress)
        own = [cell for cell in self._cells if cell.contender.role == CANDIDATE]
        most = max(FEWEST_CHECKED, int(CHECK_SECONDS * statistics.median(self._reference_rates.all_workers)))
        rng = np.random.default_rng(secrets.randbits(128))
        for number, cell in enumerate(own):
            self._progress("checking what was measured against the reference", number, len(own))
            self._checks.append(spot_check(pair, cell, rng, most))
            if self._checks[-1].outcome is not Outcome.PASS:
                return

    def _measurements(self) -> Iterator[Measurement]:
        if self._rates is not None:
            yield from self._rates.measurements(self._cores)
        for cell in self._cells:
            if not cell.readings:
                continue
            limit = None if self._abilities is None else machine.bound(self._task, cell, self._abilities)
            yield Measurement(
                contender=cell.contender.name,
                role=cell.contender.role,
                kind=cell.kind,
                batch=cell.batch,
                speed=Speed.of(cell.rates, cell.contender.cores or self._cores),
                length=cell.length,
                compile_s=cell.compile_s,
                warm_up_s=cell.warm_up_s,
                compile_peak=cell.compile_peak,
                compile_added=cell.compile_added,
                bound=limit,
                suspicious=machine.suspicious(statistics.median(cell.rates), limit),
            )

        yield from self._trained

    def _notes(self, outcome: Outcome) -> Iterator[str]:
        if outcome is Outcome.FAIL:
            yield "no figure of the candidate counts: what was timed is not what the reference does"
        for each in self._measurements():
            if each.suspicious and each.bound is not None:
                yield (
                    f"suspicious: {each.kind} at batch {each.batch} makes {each.speed.median:,.0f} steps/s, its own "
                    f"{each.bound.by} allow {each.bound.steps_per_s:,.0f} on this machine"
                )
        if self._task.mode is Mode.LAW and any(check.outcome is Outcome.PASS for check in self._checks):
            yield "randomness `law`: runs could not be played again by the reference, only bounds were checked"

    def _tell(self, what: str) -> None:
        self._progress(what, 0, 0)


def _hot_step(answer: object) -> HotStep:
    """What a candidate's worker answered to `bench_trace`. Raises BadAnswer if it has another form."""
    try:
        return HotStep.from_json(answer)
    except DocumentError as error:
        raise BadAnswer(str(error), where=f"{CANDIDATE}, bench_trace") from error


def run_length(task: Task, kind: str, batch: int) -> int:
    """Steps in one repetition of a run."""
    size, shortest, longest = LENGTHS[kind]
    return max(shortest, min(longest, size // (batch * machine.output_bytes(task))))
