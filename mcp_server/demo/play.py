"""Plays the demo: the real server in a process of its own, a client of its tools, and a scripted agent behind that."""

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

import anyio

from harness.assurance.audit import AuditReport, audit
from harness.errors import SetupError
from harness.record.directory import find
from harness.support.embedded import find_task
from harness.support.home import lockstep_home
from harness.support.progress import Progress
from harness.task.contract import TASK_FILE, caches
from harness.task.load import load_task, without_training
from mcp_server.demo import agent
from mcp_server.demo.agent import Diagnosis
from mcp_server.demo.faults import Fault, faulty
from mcp_server.file_results import FileText, FileWritten
from mcp_server.results import Finding, SessionStatus, StepView
from mcp_server.toolbox import Tools, begun, connected
from sandboxes.removal import scratch_directory

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
    outcome: str
    found: Finding | None
    error: str
    commit: str | None
    duration_s: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "number": self.number,
            "step": self.step,
            "outcome": self.outcome,
            "divergence": None if self.found is None else self.found.model_dump(),
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


def play(
    faults: Sequence[Fault], *, workspace: Path | None, tell: Tell, progress: Progress, sandbox: str | None = None
) -> Played:
    """Play a whole session.

    Args:
        faults: what is put into the candidate, one of each kind. The verifier's seeds are drawn fresh as always.
        workspace: where the agent works; by default a new temporary directory, which stays.
        tell: called with what happens, as it happens.
        progress: called with how far a verification is.
        sandbox: the driver; by default the best that works.

    Raises:
        LockstepError: the task cannot be set up, the session cannot be written, or a tool reported an error.
    """
    began = time.monotonic()
    workspace = workspace or Path(tempfile.mkdtemp(prefix="lockstep-demo-")) / "workspace"
    verified = (find_task(TASK) / "candidate" / "env.py").read_text(encoding="utf-8")
    with scratch_directory("lockstep-demo-task-") as scratch:
        prepared, budgets = _prepare(scratch, faulty(verified, faults))

        async def played() -> tuple[str, list[Attempt | Repair], str]:
            asked = {"task": str(prepared), "workspace": workspace.name, "sandbox": sandbox or ""}
            async with connected(scratch, workspace.parent, progress) as tools, begun(tools, **asked) as session:
                tell(Started(session.session, Path(session.workspace), tuple(faults), budgets))
                work = _Work(tools, session.session, load_task(prepared).candidate.entry, verified, tell)
                return session.session, *await work.until_verified(tuple(faults))

        identifier, events, state = anyio.run(played)
    record = find(lockstep_home(), identifier).repository
    return Played(identifier, workspace, record, tuple(events), state, audit(record), time.monotonic() - began)


class _Work:
    """The agent's work: verify, read what was found, repair, until everything has passed or a report means nothing to it."""

    def __init__(self, tools: Tools, session: str, entry: str, verified: str, tell: Tell) -> None:
        self._tools = tools
        self._session = session
        self._entry = entry
        self._verified = verified
        self._tell = tell

    async def until_verified(self, faults: tuple[Fault, ...]) -> tuple[list[Attempt | Repair], str]:
        """What happened, and `done` or `needs_human`."""
        events: list[Attempt | Repair] = []
        message, asked = "A first translation", None
        for number in range(1, MAX_ATTEMPTS + 1):
            before = await self._status()
            wanted = {} if asked is None else {"level": asked.level, "module": asked.module or ""}
            done = await self._tools.verify(self._session, message, **wanted)
            step = done.step or before.next or StepView(level=1)
            attempt = Attempt(
                number, str(step), done.outcome or "", done.found, done.error, done.commit, done.elapsed_s
            )
            events.append(attempt)
            self._tell(attempt)
            if attempt.outcome == "PASS" and done.next is None:
                return events, "done"
            if attempt.outcome == "PASS":
                message, asked = f"Pass {done.next}", None
                continue
            diagnosis = None if attempt.found is None else agent.diagnose(attempt.found)
            left = agent.remaining_after(diagnosis, faults)
            if diagnosis is None or left is None:
                break
            [fault] = set(faults) - set(left)
            diff = await self._rewrite(faulty(self._verified, left))
            faults, message = left, fault.repair
            # The step that failed is asked for again; with the last module that is open, all modules at once.
            open_modules = {each.module for each in before.remaining if each.level == 1}
            asked = StepView(level=1) if step.level == 1 and open_modules == {step.module} else step
            repair = Repair(diagnosis, fault, diff)
            events.append(repair)
            self._tell(repair)
        return events, "needs_human"

    async def _status(self) -> SessionStatus:
        return SessionStatus.model_validate(await self._tools.call("session_status", session=self._session))

    async def _rewrite(self, source: str) -> tuple[str, ...]:
        """Write the candidate again; returns the lines that went (`-`) and came (`+`)."""
        read = FileText.model_validate(await self._tools.call("read_file", session=self._session, path=self._entry))
        FileWritten.model_validate(
            await self._tools.call(
                "write_file", session=self._session, path=self._entry, text=source, expected_sha256=read.sha256
            )
        )
        lines = difflib.unified_diff(read.text.splitlines(), source.splitlines(), n=0, lineterm="")
        return tuple(line for line in lines if line[:1] in "+-" and not line.startswith(("+++", "---")))


def _prepare(scratch: Path, source: str) -> tuple[Path, dict[str, tuple[int, int]]]:
    """A copy of the task with a faulty candidate and the demo's budgets; also which budgets changed, from what to what."""
    task = load_task(find_task(TASK))
    prepared = scratch / TASK
    shutil.copytree(task.directory, prepared, ignore=caches)
    (prepared / task.candidate.entry).write_text(source, encoding="utf-8")
    text = without_training((prepared / TASK_FILE).read_text(encoding="utf-8"))
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
