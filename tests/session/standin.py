"""A small task and a stand-in for the verifier: it compares files, and is otherwise what a session expects.

`candidate/<module>.txt` must equal `reference/expected/<module>.txt` at level 1; `candidate/whole.txt` must be long enough
at the levels above. What the file says decides the rest, so that a test can ask for any verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from harness.model import Case
from harness.session.session import Session, Verifier
from harness.support.progress import Progress
from harness.task.load import load_task
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict
from harness.verify.request import LevelsRequest

MODULES = ("start", "moves")
TRANSFER = """
[transfer]
margin = 1.0
because = "a test"
steps = 10
minimum_return = 0.0
"""
UNDECIDED = "12 trainings would decide"
MEASURED = {
    "margin": 1.0,
    "because": "a test",
    "minimum_return": 0.0,
    "noise_floor": {"spread": 2.0, "half_width": 1.5, "trainings": 6, "decidable": False},
    "policies": [{"trained_in": "candidate"}, {"trained_in": "reference"}],
    "comparisons": [
        {
            "name": "whole",
            "decision": "undecided",
            "difference": 0.5,
            "interval": [-1.0, 2.0],
            "identical": False,
            "trainings": 6,
            "trainings_to_decide": 12,
        }
    ],
}
"""What level 4 says of itself in a report (docs/levels.md), as far as anybody here reads it."""
TASK = """\
name = "walk"
summary = "a walk"
workflow = "translate"

[reference]
adapter = "reference/adapter.py:Walk"
requirements = ["numpy==2.4.6"]

[candidate]
kind = "jax"
entry = "candidate/env.py"

[leaves]
observation = { dtype = "float32" }
action = { dtype = "int64", low = 0, high = 9 }
reward = { dtype = "float64" }
terminated = { dtype = "bool" }
truncated = { dtype = "bool" }

[[modules]]
name = "start"
leaves = ["observation"]

[[modules]]
name = "moves"
leaves = ["reward"]

[randomness]
mode = "none"

[limits]
iterations = 6
seconds = 1000
dollars = 2.0
"""


def make_task(directory: Path, *, trains: bool = False) -> Path:
    """The task, with a candidate that is wrong in everything; one that `trains` has level 4."""
    files = {
        "task.toml": TASK + (TRANSFER if trains else ""),
        "README.md": "A walk.\n",
        "properties.py": "",
        "reference/adapter.py": "class Walk: ...\n",
        "reference/expected/start.txt": "start\n",
        "reference/expected/moves.txt": "moves\n",
        "candidate/env.py": "x = 1\n",
    }
    for path, content in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(content)
    return directory


@dataclass
class FileComparison:
    """The stand-in. `calls` holds what it was asked, `trees` what it saw."""

    directory: Path
    progress: Progress
    isolated: bool = True
    calls: list[tuple[tuple[int, ...], str | None, int]] = field(default_factory=list)
    trees: list[dict[str, str]] = field(default_factory=list)

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        levels, module, seed = tuple(request.levels), request.module, request.seed
        self.calls.append((levels, module, seed))
        files = {p.relative_to(tree).as_posix(): p.read_text() for p in sorted(tree.rglob("*")) if p.is_file()}
        self.trees.append(files)
        word = files.get("candidate/whole.txt", "").split(":")[0]
        if word == "raise":
            raise RuntimeError("the verifier has a bug")
        if word == "interrupt":
            raise KeyboardInterrupt
        reports: list[LevelReport] = []
        for level in sorted(levels):
            self.progress(f"level {level}", level, max(levels))
            reports.append(self._report(files, level, module, seed))
            if reports[-1].outcome is not Outcome.PASS:
                break
        return Verdict(
            tuple(reports[: 1 if word == "short" else None]),
            seed + (word == "seed"),
            load_task(self.directory).digest if word != "task" else "0" * 64,
            "standin",
            self.isolated,
            0.01,
            "no workers could be started" if word == "error" else "",
        )

    def close(self) -> None:
        """Nothing is kept running."""

    def _report(self, files: dict[str, str], level: int, module: str | None, seed: int) -> LevelReport:
        if level == 1:
            checks = tuple(self._module(files, name) for name in MODULES if module in (None, name))
            return LevelReport(level, module, checks, seed)
        kind, _, blamed = files.get("candidate/whole.txt", "").strip().partition(":")
        steps = 100 if kind in ("", f"fail{level}") else 0
        if kind == f"fail{level}":
            found = _divergence(level, blamed or None, f"{kind}{blamed}")
            checks = (CheckResult("whole", Outcome.FAIL, blamed or None, 1, divergences=(found,)),)
        elif kind in (f"law{level}", f"flaky{level}"):
            first = kind.startswith("law") or len(self.calls) == 1
            wrong = replace(_divergence(level, None, kind), case=None, rule="law")
            failed = CheckResult("whole", Outcome.FAIL, None, 1, divergences=(wrong,))
            checks = (failed if first else CheckResult("whole", Outcome.PASS, None, 10),)
        elif kind == f"undecided{level}":
            checks = (CheckResult("whole", Outcome.INCONCLUSIVE, detail=UNDECIDED),)
        else:
            checks = (CheckResult("whole", Outcome.PASS, None, 10),)
        measured = MEASURED if kind == f"undecided{level}" else None
        episodes = 20 if level == 3 else 0
        return LevelReport(level, None, checks, seed, episodes=episodes, steps=steps, transfer=measured)

    def _module(self, files: dict[str, str], name: str) -> CheckResult:
        expected = (self.directory / "reference" / "expected" / f"{name}.txt").read_text()
        actual = files.get(f"candidate/{name}.txt", "")
        if actual == expected:
            return CheckResult(name, Outcome.PASS, name, 5)
        return CheckResult(name, Outcome.FAIL, name, 5, divergences=(_divergence(1, name, actual),))


def _divergence(level: int, module: str | None, actual: str) -> Divergence:
    """A difference whose case depends on what was wrong, as a shrunk case does."""
    actions = {"action": np.frombuffer(actual.encode() or b"-", dtype=np.uint8).astype(np.int64) % 10}
    case = Case(seed=level, actions=actions, origin="shrunk")
    return Divergence(case, 0, "reward", "1.0", "0.0", "value", level, "comparison", module=module)


class Agent:
    """Somebody who works in a session: writes candidate files and verifies."""

    def __init__(self, session: Session, verifiers: list[FileComparison]) -> None:
        self.session = session
        self._verifiers = verifiers

    @property
    def verifier(self) -> FileComparison:
        """The stand-in that the session made last."""
        return self._verifiers[-1]

    def write(self, name: str, content: str) -> None:
        """Write a file of the candidate."""
        (self.session.workspace / "candidate" / name).write_text(content)

    def get_right(self, *modules: str) -> None:
        """Make modules right."""
        for name in modules or MODULES:
            self.write(f"{name}.txt", f"{name}\n")


def factory(made: list[FileComparison], *, isolated: bool = True):
    """A verifier factory that keeps what it makes."""

    def make(directory: Path, progress: Progress) -> Verifier:
        made.append(FileComparison(directory, progress, isolated))
        return made[-1]

    return make


def finished_session(task: Path, workspace: Path, home: Path) -> Session:
    """A whole session, closed: a failure, a report of usage, then a commit for each of four steps."""
    made: list[FileComparison] = []
    with Session.start(task, workspace, home, verifier=factory(made)) as session:
        agent = Agent(session, made)
        session.verify(message="A first try")
        agent.get_right()
        session.report_usage(dollars=0.25)
        for words in ("Start", "Move", "Compose", "Episodes"):
            session.verify(message=words)
    return session
