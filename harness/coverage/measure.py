"""Measures what the questions of each level reach of a reference, in workers that count.

Each level has a worker of its own, started for it and ended after it, so that nothing that one level reached can be
taken for what another did.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import harness.worker
from harness.coverage import reading
from harness.coverage.questions import Question, Questions
from harness.coverage.reading import Branches, Lines, Reach, line_of
from harness.coverage.result import Coverage, File, Level
from harness.coverage.sources import NODE, PYTHON, C, Place, places
from harness.environment import Environment
from harness.errors import BadAnswer, Crashed, EnvironmentFailure, Raised
from harness.model import Case, Trajectory
from harness.reference import Command, ReferenceWorker, start_reference
from harness.setup import START, Installed, reference_command, setup
from harness.suite import Suite, load_suite
from harness.task import Task
from sandboxes import SandboxError

Progress = Callable[[str, int, int], None]

ASKING_SECONDS = 20.0
"""Of each level so long is asked; docs/coverage.md says what that means for the figures."""
ENDING_SECONDS = 120.0
"""A worker that ends writes down what it reached."""
SLOWER = 10.0
"""A worker that counts may take so many times as long for an answer."""


def measure(
    task: Task,
    questions_by_level: Mapping[int, Questions],
    progress: Progress = lambda what, done, total: None,
    *,
    seconds: float = ASKING_SECONDS,
) -> Coverage:
    """What these questions reach of the places that the modules of a task name.

    Args:
        questions_by_level: what was asked, as `harness.verify.Verifier.questions` keeps it.
        progress: told what is being done.
        seconds: for so long at most the questions of one level are asked.

    A level whose worker fails is in the result with its `error`; what cannot be measured at all is under `not_measured`.

    Raises:
        SetupError: the environment cannot be built.
        TaskError: the task's features cannot be loaded.
    """
    environment = setup(task, lambda line: progress(line, 0, 1), coverage=True)
    found, unmeasured = places(task, environment)
    if task.reference.adapter is None and any(place.language == PYTHON for place in found):
        named = dict.fromkeys(place.name for place in found if place.language == PYTHON)
        unmeasured += [f"{name}: a reference given by a `command` is not run under coverage.py" for name in named]
        found = [place for place in found if place.language != PYTHON]
    reaches: dict[int, dict[Path, Reach]] = {}
    levels: dict[int, Level] = {}
    suite = load_suite(task)
    for level, questions in sorted(questions_by_level.items() if found else ()):
        progress(f"level {level}: what it reaches of the reference", 0, max(questions.kept, 1))
        tell = _told(progress, level, questions.kept)
        levels[level], reaches[level], problems = _level(task, environment, found, questions, suite, seconds, tell)
        unmeasured += [problem for problem in problems if problem not in unmeasured]
    return _assembled(found, levels, reaches, unmeasured)


def _told(progress: Progress, level: int, total: int) -> Callable[[int], None]:
    return lambda done: progress(f"level {level}: what it reaches of the reference", done, max(total, 1))


def _level(
    task: Task,
    environment: Installed,
    found: Sequence[Place],
    questions: Questions,
    suite: Suite,
    seconds: float,
    tell: Callable[[int], None],
) -> tuple[Level, dict[Path, Reach], list[str]]:
    """One level: its figures that are about no line, what was reached by file, and what could not be read."""
    began = time.monotonic()
    counts = {feature.name: 0 for feature in suite.features}
    repeated = 0
    reaches: dict[Path, Reach] = {}
    problems: list[str] = []
    error = ""
    with tempfile.TemporaryDirectory(prefix="lockstep-coverage-") as scratch:
        out = Path(scratch)
        try:
            worker = start_reference(
                task,
                environment,
                command=_command(task, environment, found, out),
                timeout_s=SLOWER * task.reference.timeout_s,
            )
            try:
                deadline = time.monotonic() + seconds
                for question in questions.mixed():
                    for trajectory in _ask(worker, question):
                        for feature in suite.features:
                            counts[feature.name] += feature.count(trajectory)
                    repeated += 1
                    tell(repeated)
                    if time.monotonic() > deadline:
                        break
                _finish(worker)
            finally:
                worker.close()
            reaches, problems = _read(found, out)
        except (EnvironmentFailure, SandboxError, OSError, ValueError) as failure:
            error = str(failure)
    # Where not all could be asked again, the level itself may have seen more.
    counts = {name: max(count, questions.features.get(name, 0)) for name, count in counts.items()}
    took = time.monotonic() - began
    level = Level(features=counts, asked=questions.asked, repeated=repeated, seconds=took, error=error)
    return level, reaches, problems


def _command(task: Task, environment: Installed, found: Sequence[Place], out: Path) -> Command:
    """How the reference's worker is started so that it counts, in all languages of its places at once."""
    command, variables = reference_command(task, environment)
    variables = variables | {"NODE_V8_COVERAGE": str(out / "node"), "GCOV_PREFIX": str(out / "c")}
    files = sorted({str(place.path) for place in found if place.language == PYTHON})
    if files:
        assert task.reference.adapter is not None
        adapter = str(task.directory / task.reference.adapter)
        traced = [str(out / "python.json"), *files, "--", str(harness.worker.__file__), adapter]
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
                played += worker.drive(**arguments)
            elif call == "rollout":
                played += worker.rollout([_case(worker, each) for each in arguments["cases"]])
            else:
                worker.ask(call, **arguments)
        except (Raised, BadAnswer):
            if not worker.alive:
                raise
    return played


def _case(worker: Environment, wire: Mapping[str, object]) -> Case:
    """A case as it went over the wire, as it was before."""
    tape = wire.get("draws")
    draws = None if not isinstance(tape, list) else worker.tape(tape, len(tape), "rollout")
    return Case(wire["seed"], wire["actions"], wire.get("start"), draws)  # type: ignore[arg-type]


def _finish(worker: ReferenceWorker) -> None:
    status = worker.finish(ENDING_SECONDS)
    if status != 0:
        how = f"did not end within {ENDING_SECONDS:g} s" if status is None else f"ended with exit status {status}"
        raise Crashed(
            f"the worker that counts {how}, so what it reached is not known",
            where="the reference, call `close`",
            expected="a process that ends by itself after `close`, which is when coverage is written",
        )


def _read(found: Sequence[Place], out: Path) -> tuple[dict[Path, Reach], list[str]]:
    reaches: dict[Path, Reach] = {}
    problems: list[str] = []
    by_language = {
        language: {p.name: p.path for p in found if p.language == language} for language in (PYTHON, NODE, C)
    }
    if by_language[PYTHON]:
        told, missing = reading.python(out / "python.json", list(by_language[PYTHON].values()))
        reaches, problems = reaches | told, problems + missing
    if by_language[NODE]:
        told, missing = reading.node(out / "node", list(by_language[NODE].values()))
        reaches, problems = reaches | told, problems + missing
    if by_language[C]:
        told, missing = reading.native(out / "c", by_language[C])
        reaches, problems = reaches | told, problems + missing
    return reaches, problems


def _assembled(
    found: Sequence[Place],
    levels: Mapping[int, Level],
    reaches: Mapping[int, Mapping[Path, Reach]],
    unmeasured: Sequence[str],
) -> Coverage:
    """The result: what was reached, kept to what counts."""
    named = {place.name: place.path for place in found}
    known = {path: _together(level.get(path) for level in reaches.values()) for path in named.values()}
    within: dict[str, tuple[Lines, Branches]] = {}
    for name, path in named.items():
        spans = [place for place in found if place.name == name]
        lines = frozenset(line for line in known[path].lines if any(span.holds(line) for span in spans))
        branches = frozenset(b for b in known[path].branches if any(span.holds(line_of(b)) for span in spans))
        within[name] = (lines, branches)
    files = {
        name: File(*within[name], _text(path, within[name][0])) for name, path in named.items() if known[path].lines
    }
    measured = {}
    for number, level in levels.items():
        own = {name: _complete(reaches[number].get(path, Reach()), known[path]) for name, path in named.items()}
        measured[number] = Level(
            lines={name: own[name].reached & within[name][0] for name in files},
            branches={name: own[name].taken & within[name][1] for name in files},
            features=level.features,
            asked=level.asked,
            repeated=level.repeated,
            whole={
                name: (len(own[name].reached), len(known[path].lines), len(own[name].taken), len(known[path].branches))
                for name, path in named.items()
                if name in files
            },
            seconds=level.seconds,
            error=level.error,
        )
    modules: dict[str, tuple[tuple[str, int, int], ...]] = {}
    for place in found:
        modules[place.module] = (*modules.get(place.module, ()), (place.name, place.first, place.last))
    return Coverage(files, modules, measured, tuple(dict.fromkeys(unmeasured)))


def _together(found: Iterable[Reach | None]) -> Reach:
    whole = Reach()
    for each in found:
        whole = whole if each is None else whole | each
    return whole


def _complete(own: Reach, known: Reach) -> Reach:
    """A level's own reach, with the branches that only other levels tell apart.

    V8 leaves out a block that ran as often as what surrounds it: it was reached where its line was.
    """
    silent = frozenset(branch for branch in known.branches - own.branches if line_of(branch) in own.reached)
    return Reach(known.lines, own.reached, known.branches, own.taken | silent)


def _text(path: Path, lines: Lines) -> dict[int, str]:
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    shown = {line: text[line - 1] for line in lines if line <= len(text)}
    return {n: "".join(c if c.isprintable() else " " for c in line).rstrip() for n, line in shown.items()}
