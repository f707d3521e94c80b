"""Measures what the questions of each level reach of a reference, in workers that count.

Each level has a worker of its own, started for it and ended after it, so that nothing that one level reached can be
taken for what another did.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import harness.protocol.worker
from harness.errors import BadAnswer, EnvironmentFailure, Raised
from harness.measure.coverage import reading
from harness.measure.coverage.asking import ASKING_SECONDS, SLOWER, ask_again, finish, teller
from harness.measure.coverage.assembled import assembled
from harness.measure.coverage.reading import Reach
from harness.measure.coverage.result import Coverage, Level
from harness.measure.coverage.sources import NODE, PYTHON, C, Location, locations, names_locations
from harness.model import Case, Trajectory
from harness.protocol.environment import Environment
from harness.reference.install import START, Installed, reference_command, setup
from harness.reference.start import Command, start_reference
from harness.support.progress import Progress
from harness.task.contract import Task
from harness.verify.questions import Question, Questions
from harness.verify.suite.client import Suite, start_suite
from harness.verify.suite.features import FeatureCount
from sandboxes import SandboxError
from sandboxes.removal import scratch_directory


def measure(
    task: Task,
    questions_by_level: Mapping[int, Questions],
    progress: Progress = lambda what, done, total: None,
    *,
    seconds: float = ASKING_SECONDS,
) -> Coverage:
    """What these questions reach of the places that the modules of a task name.

    Args:
        questions_by_level: what was asked, as `harness.verify.verifier.Verifier.questions` keeps it.
        progress: called with what is being done.
        seconds: for so long at most the questions of one level are asked.

    A level whose worker fails is in the result with its `error`; what cannot be measured at all is under `not_measured`.

    Raises:
        SetupError: the environment cannot be built.
        TaskError, EnvironmentFailure: the task's features cannot be loaded.
    """
    environment = setup(task, lambda line: progress(line, 0, 1), coverage=True)
    found, unmeasured = locations(task, environment)
    if task.reference.adapter is None and any(location.language == PYTHON for location in found):
        named = dict.fromkeys(location.name for location in found if location.language == PYTHON)
        unmeasured += [f"{name}: a reference given by a `command` is not run under coverage.py" for name in named]
        found = [location for location in found if location.language != PYTHON]
    reaches: dict[int, dict[Path, Reach]] = {}
    levels: dict[int, Level] = {}
    # Where places are named of which no line can be counted, features still can.
    asked = sorted(questions_by_level.items() if names_locations(task) else ())
    with closing(start_suite(task)) as suite:
        suite.open()
        for level, questions in asked:
            tell = teller(progress, f"level {level}: what it reaches of the reference", questions.kept)
            levels[level], reaches[level], problems = _level(task, environment, found, questions, suite, seconds, tell)
            unmeasured += [problem for problem in problems if problem not in unmeasured]
    return assembled(found, levels, reaches, unmeasured)


def _level(
    task: Task,
    environment: Installed,
    found: Sequence[Location],
    questions: Questions,
    suite: Suite,
    seconds: float,
    tell: Callable[[int], None],
) -> tuple[Level, dict[Path, Reach], list[str]]:
    """One level: its figures that are about no line, what was reached by file, and what could not be read."""
    began = time.monotonic()
    counts = dict.fromkeys(suite.features, 0)
    repeated = 0
    reaches: dict[Path, Reach] = {}
    problems: list[str] = []
    error = ""

    def ask(question: Question) -> None:
        counting.add(_ask(worker, question))

    with scratch_directory("lockstep-coverage-") as out, closing(FeatureCount(suite)) as counting:
        try:
            worker = start_reference(
                task,
                environment,
                command=_command(task, environment, found, out),
                out=out,
                shown=(tracer_file(),),
                timeout_s=SLOWER * task.reference.timeout_s,
            )
            try:
                repeated = ask_again(questions, ask, seconds, tell)
                finish(worker, "the reference")
                counts = counting.total()
            finally:
                worker.close()
            reaches, problems = _read(task, environment, found, out)
        except (EnvironmentFailure, SandboxError, OSError, ValueError, RecursionError) as failure:
            error = str(failure)
    # Where not all could be asked again, the level itself may have seen more.
    counts = {name: max(count, questions.features.get(name, 0)) for name, count in counts.items()}
    took = time.monotonic() - began
    level = Level(features=counts, asked=questions.asked, repeated=repeated, seconds=took, error=error)
    return level, reaches, problems


def _command(task: Task, environment: Installed, found: Sequence[Location], out: Path) -> Command:
    """How the reference's worker is started so that it counts, in all languages of its places at once."""
    command, variables = reference_command(task, environment)
    variables = variables | {"NODE_V8_COVERAGE": str(out / "node"), "GCOV_PREFIX": str(out / "c")}
    files = sorted({str(location.path) for location in found if location.language == PYTHON})
    if files:
        assert task.reference.adapter is not None
        adapter = str(task.directory / task.reference.adapter)
        traced = [str(out / "python.json"), *files, "--", str(harness.protocol.worker.__file__), adapter]
        command = [str(environment.python), "-c", START, str(tracer_file()), *traced]
    return command, variables


def tracer_file() -> Path:
    """The file that runs a worker under coverage.py."""
    return Path(__file__).with_name("tracer.py")


def _ask(worker: Environment, question: Question) -> list[Trajectory]:
    """Ask again; the trajectories of whole cases and episodes. What the reference refuses it had refused before."""
    played: list[Trajectory] = []
    for call, arguments in question:
        try:
            if call == "drive":
                played += _driven(worker, **arguments)
            elif call == "rollout":
                played += worker.rollout([_case(worker, each) for each in arguments["cases"]])
            else:
                worker.ask(call, **arguments)
        except (Raised, BadAnswer):
            if not worker.alive:
                raise
    return played


def _driven(
    worker: Environment,
    policy: str,
    seeds: Sequence[int],
    horizon: int,
    stickiness: float,
    after: Sequence[Mapping[str, object]] | None = None,
) -> list[Trajectory]:
    if after is None:
        return worker.drive(policy, seeds, horizon, stickiness)
    begun = [(seed, _case(worker, wire)) for seed, wire in zip(seeds, after, strict=True)]
    return worker.drive_after(begun, policy, horizon, stickiness)


def _case(worker: Environment, wire: Mapping[str, object]) -> Case:
    """A case as it went over the wire, as it was before."""
    tape = wire.get("draws")
    draws = None if not isinstance(tape, list) else worker.tape(tape, len(tape), "rollout")
    return Case(wire["seed"], wire["actions"], wire.get("start"), draws)  # type: ignore[arg-type]


def _read(
    task: Task, environment: Installed, found: Sequence[Location], out: Path
) -> tuple[dict[Path, Reach], list[str]]:
    """What the worker left behind. Raises OSError, ValueError or SandboxError where it cannot be read."""
    try:
        return _read_each(task, environment, found, out)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"what was counted cannot be read: {type(error).__name__}: {error}") from error


def _read_each(
    task: Task, environment: Installed, found: Sequence[Location], out: Path
) -> tuple[dict[Path, Reach], list[str]]:
    reaches: dict[Path, Reach] = {}
    problems: list[str] = []
    by_language = {
        language: {p.name: p.path for p in found if p.language == language} for language in (PYTHON, NODE, C)
    }
    if by_language[PYTHON]:
        reported, missing = reading.python(out / "python.json", list(by_language[PYTHON].values()))
        reaches, problems = reaches | reported, problems + missing
    if by_language[NODE]:
        reported, missing = reading.node(out / "node", list(by_language[NODE].values()))
        reaches, problems = reaches | reported, problems + missing
    if by_language[C]:
        reported, missing = reading.native(task, environment, out / "c", by_language[C])
        reaches, problems = reaches | reported, problems + missing
    return reaches, problems
