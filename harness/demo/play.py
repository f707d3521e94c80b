"""Plays the demo: a real session, a real verifier, and a scripted agent in between."""

from __future__ import annotations

import difflib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.audit import AuditReport, audit
from harness.data import find_task
from harness.demo import agent
from harness.demo.agent import Diagnosis
from harness.demo.faults import Fault, faulty
from harness.errors import SetupError
from harness.model import Divergence, Outcome
from harness.recipe import DONE, NEEDS_HUMAN, Step
from harness.session import Progress, Session, Verification
from harness.task import TASK_FILE, Task
from harness.taskfile import load_task
from harness.verify import Verifier
from sandboxes import choose

TASK = "cartpole"
MAX_ATTEMPTS = 40
BUDGETS = {"examples": 60, "sequences": 24, "episodes": 64}
"""The demo's budgets where they are smaller than the task's own, so that it ends within a minute."""


@dataclass(frozen=True)
class Started:
    """The session has begun: its id, its workspace, the faults that were put in, and the budgets that were made smaller."""

    session: str
    workspace: Path
    faults: tuple[Fault, ...]
    budgets: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Attempt:
    """One verification: what was asked, how it ended, and the first divergence where there was one."""

    number: int
    step: str
    outcome: Outcome
    found: Divergence | None
    error: str
    commit: str | None
    duration_s: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "number": self.number,
            "step": self.step,
            "outcome": str(self.outcome),
            "divergence": None if self.found is None else self.found.to_json(),
            "error": self.error,
            "commit": self.commit,
            "duration_s": round(self.duration_s, 3),
        }


@dataclass(frozen=True)
class Repair:
    """What the agent made of a divergence, and what it changed."""

    diagnosis: Diagnosis
    fault: Fault
    diff: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "kind": self.fault.kind,
            "fault": self.fault.title,
            "because": self.diagnosis.because,
            "repair": self.fault.repair,
            "diff": list(self.diff),
        }


@dataclass(frozen=True)
class Played:
    """How the demo went. `state` is `done`, or `needs_human` where a report led the agent to no repair."""

    session: str
    workspace: Path
    record: Path
    events: tuple[Attempt | Repair, ...]
    state: str
    audit: AuditReport
    duration_s: float

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, in the order in which they were made."""
        return tuple(event for event in self.events if isinstance(event, Repair))

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "session": self.session,
            "workspace": str(self.workspace),
            "record": str(self.record),
            "state": self.state,
            "events": [{"event": type(event).__name__.lower(), **event.to_json()} for event in self.events],
            "audit": self.audit.to_json(),
            "duration_s": round(self.duration_s, 3),
        }


Tell = Callable[[Started | Attempt | Repair], None]


def play(faults: Sequence[Fault], *, workspace: Path | None, tell: Tell, progress: Progress) -> Played:
    """Play a whole session.

    Args:
        faults: what is put into the candidate, one of each kind. The verifier's seeds are drawn fresh as always.
        workspace: where the agent works; by default a new temporary directory, which stays.
        tell: told what happens, as it happens.
        progress: told how far a verification is.

    Raises:
        LockstepError: the task cannot be set up, or the session cannot be written.
    """
    began = time.monotonic()
    workspace = workspace or Path(tempfile.mkdtemp(prefix="lockstep-demo-")) / "workspace"
    verified = (find_task(TASK) / "candidate" / "env.py").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="lockstep-demo-task-") as scratch:
        prepared, budgets = _prepare(Path(scratch), faulty(verified, faults))
        session = Session.start(prepared, workspace, verifier=_verifier)
    with session:
        tell(Started(session.id, session.workspace, tuple(faults), budgets))
        task = load_task(session.task_directory)
        events, state = _work(session, task, verified, tuple(faults), tell, progress)
        record = session.directory.repository
    return Played(session.id, workspace, record, tuple(events), state, audit(record), time.monotonic() - began)


def _verifier(task_directory: Path, progress: Progress) -> Verifier:
    """As in any session, but with the next candidate's worker always started ahead: this agent thinks fast."""
    return Verifier(load_task(task_directory), choose(None), progress=progress, prepare=True)


def _work(
    session: Session, task: Task, verified: str, faults: tuple[Fault, ...], tell: Tell, progress: Progress
) -> tuple[list[Attempt | Repair], str]:
    """The agent's work: verify, read what was found, repair, until everything has passed or a report means nothing to it."""
    events: list[Attempt | Repair] = []
    entry = session.workspace / task.candidate.entry
    message, asked = "A first translation", None
    for number in range(1, MAX_ATTEMPTS + 1):
        still_open = _open_modules(session)
        if asked is None:
            done = session.verify(message=message, progress=progress)
        else:
            done = session.verify(asked.level, asked.module, message=message, progress=progress)
        attempt = _attempt(number, done)
        events.append(attempt)
        tell(attempt)
        if attempt.outcome is Outcome.PASS and done.next is None:
            return events, DONE
        if attempt.outcome is Outcome.PASS:
            message, asked = f"Pass {done.next}", None
            continue
        diagnosis = None if attempt.found is None else agent.diagnose(attempt.found)
        left = agent.remaining_after(diagnosis, faults)
        if diagnosis is None or left is None:
            return events, NEEDS_HUMAN
        [fault] = set(faults) - set(left)
        diff = _rewrite(entry, faulty(verified, left))
        faults, message = left, fault.repair
        # The step that failed is asked for again, up to its level; with the last open module, all modules at once.
        asked = Step(1) if done.step.level == 1 and still_open == {done.step.module} else done.step
        repair = Repair(diagnosis, fault, diff)
        events.append(repair)
        tell(repair)
    return events, NEEDS_HUMAN


def _open_modules(session: Session) -> set[str | None]:
    state = session.state
    return {step.module for step in state.plan.steps if step.level == 1 and step not in state.passed}


def _attempt(number: int, done: Verification) -> Attempt:
    verdict = done.verdict
    errors = [check.detail for report in verdict.reports for check in report.checks if check.outcome is Outcome.ERROR]
    return Attempt(
        number=number,
        step=str(done.step),
        outcome=verdict.outcome,
        found=next(iter(verdict.divergences), None),
        error="; ".join(filter(None, [verdict.error, *errors])),
        commit=done.commit,
        duration_s=verdict.duration_s,
    )


def _rewrite(entry: Path, source: str) -> tuple[str, ...]:
    """Write a file anew; returns the lines that went (`-`) and came (`+`)."""
    before = entry.read_text(encoding="utf-8")
    entry.write_text(source, encoding="utf-8")
    lines = difflib.unified_diff(before.splitlines(), source.splitlines(), n=0, lineterm="")
    return tuple(line for line in lines if line[:1] in "+-" and not line.startswith(("+++", "---")))


def _prepare(scratch: Path, source: str) -> tuple[Path, dict[str, tuple[int, int]]]:
    """A copy of the task with a faulty candidate and the demo's budgets; also which budgets changed, from what to what."""
    task = load_task(find_task(TASK))
    prepared = scratch / TASK
    shutil.copytree(task.directory, prepared, ignore=shutil.ignore_patterns("__pycache__"))
    (prepared / task.candidate.entry).write_text(source, encoding="utf-8")
    text = (prepared / TASK_FILE).read_text(encoding="utf-8")
    changed = {}
    for name, smaller in BUDGETS.items():
        usual = int(getattr(task.budgets, name))
        if smaller >= usual:
            continue
        text, count = re.subn(rf"(?m)^{name} = {usual}\b", f"{name} = {smaller}", text)
        if count != 1:
            raise SetupError(
                f"the demo cannot make `budgets.{name}` smaller",
                where=TASK_FILE,
                expected=f"one line `{name} = {usual}`",
            )
        changed[name] = (usual, smaller)
    (prepared / TASK_FILE).write_text(text, encoding="utf-8")
    return prepared, changed
