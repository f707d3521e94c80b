"""Measures what the questions of each level reach of a candidate's own code, where that is a crate.

As with a reference, what is judged never counts: what a level asked it is asked again of the crate compiled with counters.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.candidate.crates.build import build
from harness.candidate.crates.counting import COUNTED, NO_RUNTIME
from harness.candidate.crates.toolchain import Toolchain, toolchain
from harness.candidate.start import CandidateWorker, demand_no_links
from harness.errors import BadAnswer, BrokenContract, EnvironmentFailure, Lack, Raised, SetupError
from harness.measure.coverage import llvm
from harness.measure.coverage.asking import ASKING_SECONDS, SLOWER, ask_again, finish, teller
from harness.measure.coverage.assembled import assembled
from harness.measure.coverage.llvm import Function
from harness.measure.coverage.reading import Reach
from harness.measure.coverage.result import Coverage, Level
from harness.measure.coverage.sources import Location
from harness.protocol.environment import Environment
from harness.support.progress import Progress
from harness.task.contract import CANDIDATE_DIRECTORY, Task
from harness.verify.questions import Question, Questions
from sandboxes import Driver, SandboxError
from sandboxes.removal import scratch_directory

_FUNCTION = re.compile(r"\bfn\s+([\w$]+)")


def measure_crate(
    task: Task,
    driver: Driver,
    tree: Path,
    questions_by_level: Mapping[int, Questions],
    progress: Progress = lambda what, done, total: None,
    *,
    seconds: float = ASKING_SECONDS,
) -> Coverage:
    """What these questions reach of all crates of the candidate in an exported tree; its functions stand for modules.

    Args:
        questions_by_level: what was asked, as `harness.verify.verifier.Verifier.put_to_candidate` keeps it.
        progress: called with what is being done.
        seconds: for so long at most the questions of one level are asked.

    A level whose worker fails is in the result with its `error`; where nothing can be counted, `not_measured` says why.
    """
    patient = replace(task, candidate=replace(task.candidate, timeout_s=SLOWER * task.candidate.timeout_s))
    try:
        measured = _Measured(patient, driver, tree)
    except (SetupError, EnvironmentFailure, SandboxError) as failure:
        return Coverage(not_measured=(f"{CANDIDATE_DIRECTORY}/: {_why(failure)}",))
    levels: dict[int, Level] = {}
    reaches: dict[int, dict[Path, Reach]] = {}
    locations: list[Location] = []
    for level, questions in sorted(questions_by_level.items()):
        tell = teller(progress, f"level {level}: what it reaches of the candidate", questions.kept)
        levels[level], reaches[level], functions = measured.level(questions, seconds, tell)
        locations = locations or measured.locations(functions)
    return assembled(locations, levels, reaches, ())


def _why(failure: Exception) -> str:
    if isinstance(failure, BrokenContract) and failure.lack is Lack.COUNTERS:
        return f"this Rust was built without LLVM's runtime (`{NO_RUNTIME}`); one that rustup installs has it"
    return " ".join(str(failure).split())


class _Measured:
    """A crate that is compiled so that it counts, and what is needed to read that."""

    def __init__(self, task: Task, driver: Driver, tree: Path) -> None:
        self._task, self._driver, self._tree = task, driver, tree
        self._rust: Toolchain = toolchain(driver)
        self._tools = llvm.tools(driver, self._rust)
        self._module = build(task, driver, tree, counting=True)
        root = tree / CANDIDATE_DIRECTORY
        demand_no_links(root)
        self._names = {f"{COUNTED}/{path.relative_to(root).as_posix()}": path for path in sorted(root.rglob("*.rs"))}
        self._texts = {name: _lines(path) for name, path in self._names.items()}

    def level(
        self, questions: Questions, seconds: float, tell: Callable[[int], None]
    ) -> tuple[Level, dict[Path, Reach], list[Function]]:
        """One level, in a worker of its own: its figures that are about no line, what it reached, and all functions."""
        began = time.monotonic()
        repeated, error = 0, ""
        reaches: dict[Path, Reach] = {}
        functions: list[Function] = []
        with scratch_directory("lockstep-coverage-") as scratch:
            counts = scratch
            try:
                worker = CandidateWorker(self._task, self._driver, counts=counts)
                try:
                    candidate = worker.open(self._tree)
                    repeated = ask_again(questions, lambda question: _ask(candidate, question), seconds, tell)
                    finish(worker, "the candidate")
                finally:
                    worker.close()
                document = llvm.exported(self._driver, self._rust, self._tools, self._module, counts)
                reported, functions = llvm.reached(document, {name: len(text) for name, text in self._texts.items()})
                reaches = {self._names[name]: reach for name, reach in reported.items()}
            except (EnvironmentFailure, SetupError, SandboxError, OSError, ValueError) as failure:
                error = str(failure)
        took = time.monotonic() - began
        return Level(asked=questions.asked, repeated=repeated, seconds=took, error=error), reaches, functions

    def locations(self, functions: Sequence[Function]) -> list[Location]:
        """The functions as places, and the closures that lie in none of these, as in a table."""
        found: list[Location] = []
        for function in functions:
            path, text = self._names[function.file], self._texts[function.file]
            named = _FUNCTION.search(text[function.first - 1]) if 0 < function.first <= len(text) else None
            if named or not any(location.path == path and location.holds(function.last) for location in found):
                short = path.relative_to(self._tree / CANDIDATE_DIRECTORY).as_posix()
                title = f"{short}:{function.first} {named[1] if named else 'closure'}"
                name = f"{CANDIDATE_DIRECTORY}/{short}"
                found.append(Location(title, name, path, function.first, function.last))
        return found


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", "replace").split("\n")  # as the compiler counts them: `\r` alone ends none


def _ask(candidate: Environment, question: Question) -> None:
    """Ask again. What the candidate refuses it had refused before."""
    for call, arguments in question:
        try:
            candidate.ask(call, **arguments)
        except (Raised, BadAnswer):
            if not candidate.alive:
                raise
