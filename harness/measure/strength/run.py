"""One measurement of strength: mutants are planted in a verified candidate, and the levels are run on each."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import LockstepError
from harness.farm.crew import Crew, DeadlyPiece, Piece
from harness.farm.engine import Engine
from harness.farm.processes import Processes
from harness.measure.strength.explanations import explained, load_explanations
from harness.measure.strength.journal import BEGUN, FINISHED, Journal, key
from harness.measure.strength.judging import Finding
from harness.measure.strength.mutants import Mutant, enumerate_mutants, sampled
from harness.measure.strength.python_faults import same_bytecode
from harness.measure.strength.result import Judged, Strength
from harness.measure.strength.statuses import BYTECODE, DETECTED, ERROR, STILLBORN, SURVIVED
from harness.measure.strength.unreached import RunLines
from harness.measure.strength.worker import recipe
from harness.record.judge import source_digest
from harness.record.machine import conditions
from harness.support.contents import contents_key
from harness.support.durations import left
from harness.support.files import make_writable
from harness.support.home import lockstep_home
from harness.support.progress import Progress, silent
from harness.task.contract import CANDIDATE_DIRECTORY, TRAINING_LEVEL, Task, directory_digest
from harness.verify.directory import copy_candidate
from harness.verify.streams import Streams
from sandboxes import Driver
from sandboxes.removal import scratch_directory

BASELINE, REACHED, FOUND, PROGRAM = "baseline", "reached", "found", "program"
ORIGINAL = "the candidate itself"
OF_ORIGINAL = "original"
"""The name of its seed."""


class StrengthError(LockstepError):
    """Strength cannot be measured: says nothing of the tests."""


@dataclass(frozen=True)
class Settings:
    """What to measure.

    Attributes:
        level: the highest level to run. Level 4 trains for minutes, so without `every_level` it only judges what survives
            the levels below.
        every_level: run each level alone on every mutant, instead of the lowest ones first until one kills.
        sample: so many mutants, at random and by operator in proportion; None takes all.
        only: the ids of the mutants to judge, for someone who has written a test against them; none takes all.
        jobs: how many mutants are judged at once; None takes as many as the engine has slots.
        fresh: start from the beginning where an interrupted measurement of the same things could go on.
        by_coverage: judge all from the one seed of the candidate's own run, and run no level on those whose fault lies in a
            function that this run does not reach: they survive. Up to level 3.
    """

    level: int = 3
    every_level: bool = False
    sample: int | None = None
    only: tuple[str, ...] = ()
    jobs: int | None = None
    fresh: bool = False
    by_coverage: bool = False


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
) -> Strength:
    """Plant mutants in the candidate in `tree` and run the task's levels on each.

    What is found is kept as it comes: after an interruption the same call goes on, with the seed of the run that was
    interrupted where none is given.

    Args:
        tree: a directory with the candidate; nothing else of it is used. It is not changed.
        seed: from which the sample and the seed of every run are derived; by default it is drawn.
        journals: the directory in which it is kept; by default `strength` in `lockstep_home()`.
        engine: where mutants are judged; by default in processes of this machine.

    Raises:
        StrengthError: the task has no such level, its candidate has no such mutant or is none whose code is counted, or it
            does not pass itself.
        TaskError: `survivors.toml` is wrong, or speaks of no mutant of the task's own candidate.
        SetupError, SandboxError: the reference or a sandbox cannot be set up, or what the candidate runs cannot be counted.
    """
    if settings.level not in task.levels:
        raise StrengthError(
            f"the task has no level {settings.level}", where=task.name, expected=f"one of {list(task.levels)}"
        )
    if settings.by_coverage and (task.candidate.kind != "rust" or settings.level == TRAINING_LEVEL):
        raise StrengthError(
            "what is run cannot be counted",
            where=task.name,
            expected="a candidate in Rust and levels 1 to 3 for --by-coverage",
        )
    began = time.monotonic()
    with ExitStack() as stack:
        original = stack.enter_context(scratch_directory("lockstep-strength-"))
        copy_candidate(tree, original)
        make_writable(original)  # an exported tree is read-only, and so are copies of it
        shutil.rmtree(original / "proposed", ignore_errors=True)  # what an agent proposes is no test of the task
        kept = journals or lockstep_home() / "strength"
        chosen = engine or stack.enter_context(Processes())
        run = _Run(task, original, driver, settings, seed, progress, kept, stack, chosen)
        result = run.result()
    return replace(result, duration_s=time.monotonic() - began)


class _Run:
    """One measurement: which questions there are about each mutant, and what was answered."""

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
        engine: Engine,
    ) -> None:
        self._task, self._original, self._driver, self._settings = task, original, driver, settings
        self._progress, self._engine = progress, engine
        # What an interrupted measurement had judged takes no time now, so it says nothing of how long the rest takes.
        self._unknown: set[str] = set()
        self._nodes: dict[str, Any] = {}
        self._begun: set[str] = set()
        self._settled = 0
        self._ended: list[str] = []
        self._judging_since = 0.0
        candidate = original / CANDIDATE_DIRECTORY
        self._mutants = enumerate_mutants(candidate, task.candidate.kind)
        self._candidate = directory_digest(candidate)
        own = task.directory / CANDIDATE_DIRECTORY
        speaks_of_it = own.is_dir() and directory_digest(own) == self._candidate
        self._explained = explained(
            self._mutants,
            load_explanations(task.directory, task.candidate.kind),
            where=task.directory if speaks_of_it else None,
        )
        wanted = _only(self._mutants, settings.only)
        self._arguments = {name: value for name, value in asdict(settings).items() if name not in ("jobs", "fresh")}
        name = key(task.digest, contents_key(candidate), self._arguments, seed, driver.name, source_digest(__name__))
        self._journal = Journal(journals / f"{name}.jsonl", fresh=settings.fresh)
        stack.callback(self._journal.close)
        begun = next((each for each in self._journal.known if each["kind"] == BEGUN), None)
        self.seed = int(begun["seed"]) if begun else secrets.randbits(62) if seed is None else seed
        self._streams = Streams(self.seed)
        if begun is None:
            self._journal.write(BEGUN, [{"seed": self.seed, "task": task.name}])
        self._chosen = sampled(wanted, settings.sample, self.seed)
        self._levels = [level for level in task.levels if level <= settings.level]
        self._found: dict[str, dict[int, Finding]] = {mutant.id: {} for mutant in self._chosen}
        self._proofs: dict[str, dict[str, Any]] = {}
        self._baseline: dict[int, float] = {}
        self._run_lines: RunLines | None = None
        self._take_known()

    def result(self) -> Strength:
        """Judge every mutant that is not yet judged."""
        resumed = sum(bool(findings) for findings in self._found.values())
        for mutant in self._chosen if self._task.candidate.kind == "jax" else ():
            source = (self._original / CANDIDATE_DIRECTORY / mutant.file).read_bytes()
            if same_bytecode(source, mutant.apply(source)):
                self._proofs[mutant.id] = {"proof": BYTECODE, "seconds": 0.0}
        self._judge_all()
        self._journal.write(FINISHED, [{}])
        return Strength(
            task=self._task.name,
            task_digest=self._task.digest,
            candidate=self._candidate,
            seed=self.seed,
            settings=self._arguments,
            sandbox=self._driver.name,
            isolated=self._driver.isolated,
            baseline=self._baseline,
            judged=tuple(self._judged(mutant) for mutant in self._chosen),
            enumerated=len(self._mutants),
            resumed=resumed,
            machine=conditions() | ({"nodes": self._nodes} if self._engine.apart else {}),
        )

    def _take_known(self) -> None:
        for each in self._journal.known:
            if each["kind"] == BASELINE:
                self._baseline[each["level"]] = each["seconds"]
            elif each["kind"] == FOUND and each["mutant"] in self._found and each["outcome"] != ERROR:
                self._found[each["mutant"]][each["level"]] = Finding.from_json(each)
            elif each["kind"] == REACHED:
                self._run_lines = RunLines.from_json(each["lines"])
            elif each["kind"] == PROGRAM:
                self._proofs[each["mutant"]] = {name: each[name] for name in ("proof", "seconds")}

    def _judge_all(self) -> None:
        self._unknown = {each.id for each in self._chosen if not self._found[each.id] and each.id not in self._proofs}
        waiting = self._waiting()
        self._settled = len(self._chosen) - len(waiting)
        by_key = {mutant.id: mutant for mutant in self._chosen}
        missing = [level for level in self._levels if level not in self._baseline]
        jobs = self._settings.jobs or self._engine.slots
        crew = Crew(
            self._engine, recipe(self._task, self._original, self._driver), min(jobs, max(1, len(waiting))), self._began
        )

        self._nodes = crew.facts

        def done(piece: Piece, answer: Any) -> Iterable[Piece]:
            if piece.key == ORIGINAL:
                self._passed(*answer)
                self._judging_since = time.monotonic()
                return self._waiting()
            mutant = by_key[piece.arguments[0].id]
            self._note(mutant, piece, answer)
            following = self._next(mutant)
            if not following and mutant.id in self._unknown:
                self._ended.append(mutant.id)
            return following

        def hopeless(piece: Piece, why: Exception) -> Iterable[Piece]:
            if piece.key == ORIGINAL or not isinstance(why, DeadlyPiece):
                raise why
            said = str(why).replace("\n", " ")
            if piece.method == "prove":
                return done(piece, {"proof": "", "differ": [said], "seconds": 0.0})
            return done(piece, [Finding(piece.arguments[1][0], ERROR, 0.0, why=said).to_json()])

        self._judging_since = time.monotonic()
        counts = self._settings.by_coverage and self._run_lines is None
        if not missing and not counts:
            crew.work(waiting, done, hopeless)
            return
        # Strength is measured on a candidate that passes: a test that fails anyway kills everything.
        self._progress(ORIGINAL, 0, len(self._chosen))
        asked = (self._levels if counts else missing, self._streams.derive(OF_ORIGINAL))
        crew.work([Piece(ORIGINAL, "reach_original" if counts else "pass_original", asked)], done, hopeless)

    def _waiting(self) -> list[Piece]:
        return [piece for mutant in self._chosen for piece in self._next(mutant)]

    def _began(self, piece: Piece) -> None:
        if piece.key == ORIGINAL or (mutant := piece.arguments[0]).id in self._begun:
            return
        total, done = len(self._chosen), self._settled + len(self._begun)
        self._begun.add(mutant.id)
        remains = left(time.monotonic() - self._judging_since, len(self._ended), len(self._unknown))
        self._progress(f"mutant {done + 1} of {total}{remains}: {mutant.file}:{mutant.line}", done, total)

    def _passed(self, seconds: dict[int, float], why: str, lines: Any = None) -> None:
        if why:
            raise StrengthError(
                f"the candidate itself does not pass ({why})",
                where=self._task.name,
                expected="a verified candidate",
                next_step="run `lockstep verify` on it first",
            )
        for level, took in seconds.items():
            self._baseline[level] = took
            self._journal.write(BASELINE, [{"level": level, "seconds": took}])
        if lines is not None:
            self._run_lines = RunLines.from_json(lines)
            self._journal.write(REACHED, [{"lines": lines}])

    def _next(self, mutant: Mutant) -> list[Piece]:
        """What is to be asked next of a mutant; nothing where all is known."""
        known, proof = self._found[mutant.id], self._proofs.get(mutant.id)
        prove = [Piece(f"{mutant.name} ({mutant.id}), its programs", "prove", (mutant,))]
        if proof is not None and proof["proof"] == BYTECODE:
            return []
        if not known and self._looks_equal(mutant):
            if proof is None:
                return prove
            if proof["proof"]:
                return []
        for levels in self._rounds():
            ended = any(finding.outcome == STILLBORN for finding in known.values())
            if not self._settings.every_level:
                ended = ended or any(finding.outcome != SURVIVED for finding in known.values())
            if ended or known.keys() >= set(levels):
                continue
            if levels == [TRAINING_LEVEL] and not self._settings.every_level:
                if proof is None:
                    return prove
                if proof["proof"]:
                    continue  # training for minutes would show nothing
            named = " and ".join(map(str, levels))
            seed = self._streams.derive(OF_ORIGINAL if self._settings.by_coverage else mutant.id)
            arguments = (mutant, levels, seed, self._is_unreached(mutant))
            return [Piece(f"{mutant.name} ({mutant.id}), level {named}", "judge", arguments)]
        whole = known.keys() >= set(self._levels) and all(f.outcome not in DETECTED for f in known.values())
        return prove if whole and proof is None else []

    def _is_unreached(self, mutant: Mutant) -> bool:
        if self._run_lines is None:
            return False
        return self._run_lines.leave_out(mutant, (self._original / CANDIDATE_DIRECTORY / mutant.file).read_bytes())

    def _note(self, mutant: Mutant, piece: Piece, answer: Any) -> None:
        if piece.method == "prove":
            self._journal.write(PROGRAM, [{"mutant": mutant.id, **answer}])
            self._proofs[mutant.id] = answer
            return
        self._journal.write(FOUND, [{"mutant": mutant.id, **each} for each in answer])
        self._found[mutant.id] |= {each["level"]: Finding.from_json(each) for each in answer}

    def _looks_equal(self, mutant: Mutant) -> bool:
        """Whether its programs are asked for before any test. In JAX that takes as long as one level, and most mutants are
        killed; a crate is compiled anyway, and its module only looked at.
        """
        if self._task.candidate.kind == "rust":
            return True
        return mutant.operator == "dtype" and not self._task.candidate.x64  # JAX has only narrow types then

    def _rounds(self) -> list[list[int]]:
        """Which levels are run together, in one process of the candidate."""
        if self._settings.every_level:
            return [[level] for level in self._levels]
        below = [level for level in self._levels if level < TRAINING_LEVEL]
        return [below, [TRAINING_LEVEL]] if TRAINING_LEVEL in self._levels else [below]

    def _judged(self, mutant: Mutant) -> Judged:
        proof = self._proofs.get(mutant.id, {"proof": "", "seconds": 0.0})
        findings = self._found[mutant.id]
        judged = Judged(mutant, tuple(findings[level] for level in sorted(findings)), proof["proof"], proof["seconds"])
        return judged.explained_by(self._explained.get(mutant.id))


def _only(mutants: Sequence[Mutant], ids: Sequence[str]) -> list[Mutant]:
    if unknown := sorted(set(ids) - {mutant.id for mutant in mutants}):
        raise StrengthError(
            f"there is no mutant {', '.join(unknown)}",
            expected="the id of a mutant of this very candidate, as `lockstep strength --json` gives it",
        )
    return [mutant for mutant in mutants if not ids or mutant.id in ids]
