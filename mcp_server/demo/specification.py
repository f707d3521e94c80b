"""The demo of a specification: two readings of thirty rules, an open rule that tells them apart, a ruling, and a task."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from harness.assurance.audit import AuditReport, audit
from harness.errors import LockstepError
from harness.host import client as host
from harness.record.directory import find
from harness.support.home import lockstep_home
from harness.support.progress import Progress
from mcp_server.results import Specification, SpecificationBegun
from mcp_server.toolbox import Tools, connected

GAME = Path(__file__).parent / "harbour"
TASK = "harbour"
OPEN = ("loses half of its crates, rounded up.", "loses half of its crates.")
"""What the text says, and what it says in the demo: here it can be read in two ways."""
ON = 15
ANOTHER = ("sold = ship.hold // 2 if ship.storm == 3", "sold = ship.hold - ship.hold // 2 if ship.storm == 3")
"""How the second reading reads it, once it has the ruling and before."""
UNDECIDED = ('start = { "state/hold" = 5, "state/storm" = 3 }', 'start = { "state/hold" = 4, "state/storm" = 3 }')
"""A scenario that the ruling decides, and one that the open text decides."""
RULING = "half of an odd number of crates is rounded up"
SCENARIO = """
[[scenario]]
name = "three of five crates are lost"
cites = [15, {ruling}]
start = {{ "state/hold" = 5, "state/storm" = 3 }}
draws = [[], [["wind", 3]]]
actions = [1]
[[scenario.expect]]
step = 1
leaves = {{ "state/score" = 12 }}
"""


@dataclass(frozen=True)
class Step:
    """One step of the demo: who did what, what came of it, and how long it took."""

    who: str
    what: str
    outcome: str = ""
    found: Mapping[str, Any] = field(default_factory=dict)
    duration_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "who": self.who,
            "what": self.what,
            "outcome": self.outcome,
            "found": dict(self.found),
            "duration_s": round(self.duration_s, 3),
        }


@dataclass(frozen=True)
class PlayedSpecification:
    """What the demo came to.

    Attributes:
        session: the session on the specification, which is kept.
        directory: the task that was made.
        record: the record's git directory.
    """

    session: str
    directory: Path
    record: Path
    steps: tuple[Step, ...]
    audit: AuditReport
    duration_s: float

    @property
    def whole(self) -> bool:
        """Whether it went all the way."""
        return self.audit.ok and bool(self.audit.rows)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "session": self.session,
            "directory": str(self.directory),
            "record": str(self.record),
            "steps": [step.to_json() for step in self.steps],
            "audit": self.audit.to_json(),
            "duration_s": round(self.duration_s, 3),
        }


def play(*, directory: Path | None, tell: Callable[[Step], None], progress: Progress) -> PlayedSpecification:
    """Play the workflow `create` through the server, with scripts in the places of its agents and of the person.

    Args:
        directory: where the task is made; by default below a new temporary directory, which stays.
        tell: called with each step, once it is done.
        progress: called with how far a job is.

    Raises:
        LockstepError: readings cannot be set up, the record cannot be written, or a tool reported an error.
    """
    began = time.monotonic()
    directory = (directory or Path(tempfile.mkdtemp(prefix="lockstep-demo-"))).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    steps: list[Step] = []

    def done(step: Step) -> None:
        steps.append(step)
        tell(step)

    async def played() -> str:
        async with connected(directory, directory, progress) as tools:
            rules = _replaced((GAME / "RULES.md").read_text(encoding="utf-8"), OPEN)
            made = SpecificationBegun.model_validate(await tools.call("start_specification", name=TASK, rules=rules))
            try:
                await _Work(tools, made.session, done).until_frozen(len(made.statements))
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(host.end, made.session)
            return made.session

    session = anyio.run(played)
    record = find(lockstep_home(), session).repository
    seconds = time.monotonic() - began
    return PlayedSpecification(session, directory / TASK, record, tuple(steps), audit(record), seconds)


class _Work:
    """Who takes part: the author of sheet and scenarios, two readers, and a person who rules."""

    def __init__(self, tools: Tools, session: str, done: Callable[[Step], None]) -> None:
        self._tools = tools
        self._session = session
        self._done = done

    async def until_frozen(self, statements: int) -> None:
        self._done(
            Step("person", f"gives {statements} rules in words; rule {ON}: half of the crates are lost in a storm")
        )
        scenarios = (GAME / "scenarios/harbour.toml").read_text(encoding="utf-8")
        await self._write(self._session, "sheet.toml", (GAME / "sheet.toml").read_text(encoding="utf-8"))
        await self._write(self._session, "scenarios/harbour.toml", _replaced(scenarios, UNDECIDED))
        self._done(Step("author", "writes the state sheet, and scenarios from the rules alone"))
        await self._step("author", "checks them", "check")
        for part in ("first", "second"):
            text = (GAME / "readings" / part / "adapter.py").read_text(encoding="utf-8")
            text = _replaced(text, ANOTHER) if part == "second" else text
            await self._write(f"{self._session}.{part}", "reading/adapter.py", text)
            self._done(Step(part, "reads the rules and the sheet, sees nothing else, and writes its reading"))
        compared = await self._step("author", "has both readings compared", "compare")
        if compared.outcome != "FAIL" or not compared.document["divergences"]:
            raise LockstepError(
                f"the two readings should differ, and the comparison says {compared.outcome}",
                where=str(GAME),
                next_step="change mcp_server/demo/specification.py along with the game",
            )
        ruled = await self._step("person", f"rules: {RULING}", "rule", ruling=RULING, on=[ON])
        number = ruled.document["statement"]["number"]
        await self._write(self._session, "scenarios/rulings.toml", SCENARIO.format(ruling=number))
        self._done(Step("author", f"writes a scenario that cites the ruling, which is statement {number}"))
        mended = {"path": "reading/adapter.py", "old": ANOTHER[1], "new": ANOTHER[0]}
        await self._tools.call("edit_file", session=f"{self._session}.second", **mended)
        self._done(Step("second", "mends its reading by the ruling"))
        await self._step("person", "has the specification frozen", "freeze", which="first")

    async def _write(self, session: str, path: str, text: str) -> None:
        await self._tools.call("write_file", session=session, path=path, text=text)

    async def _step(self, who: str, what: str, step: str, **asked: Any) -> Specification:
        began = time.monotonic()
        done = Specification.model_validate(await self._tools.call("spec", session=self._session, step=step, **asked))
        while done.state == "running":
            job = await self._tools.wait(done.job)
            if job.specification is None:
                raise LockstepError(f"the job {done.job} ended without a result: {job.error or job.summary}")
            done = job.specification
        found = done.document.get("divergences") or [{}]
        self._done(Step(who, what, done.outcome, {"said": done.summary, **found[0]}, time.monotonic() - began))
        return done


def _replaced(text: str, change: tuple[str, str]) -> str:
    if text.count(change[0]) != 1:
        raise LockstepError(
            f"the demo's change does not fit: {change[0]!r} stands {text.count(change[0])} times in the game",
            where=str(GAME),
            expected="exactly once",
            next_step="change mcp_server/demo/specification.py along with the game",
        )
    return text.replace(*change)
