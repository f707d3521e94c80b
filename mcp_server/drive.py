"""Feeds a recorded session's trees and calls through a fresh server, which must reach the same verdicts.

The fresh session draws seeds of its own, as every session does: with the recorded ones nothing would count, and nothing
would be committed. So what has to be the same is the claim: the outcome, the level that failed, and whether there is a
commit. Another divergence may be found first.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from harness.assurance.replay.changes import agents_files
from harness.cli.locate import opened
from harness.errors import RecordError
from harness.policy.floor import recorded
from harness.policy.trust import FORGETTING, Trust
from harness.record.event import Event
from harness.record.export import check_out
from harness.record.log import snapshot_of
from harness.record.objects import Entry
from harness.record.snapshot import task_digest, trusted_part
from harness.record.store import Store
from harness.record.task_update import TASK_UPDATED, trusted_files
from harness.session.recipe import ATTEMPT, RESUMED, VERDICT
from harness.session.view import SessionView
from harness.support.home import lockstep_home
from harness.support.progress import Progress
from harness.task.contract import TRAINING_LEVEL
from mcp_server.file_results import FileWritten
from mcp_server.toolbox import Tools, begun, connected
from sandboxes.removal import scratch_directory


@dataclass(frozen=True)
class Driven:
    """One recorded verdict beside what the fresh server said to the same tree and the same call.

    Attributes:
        seq: the recorded event.
        outcome, outcome_again: both outcomes.
        failed, failed_again: the level that did not pass, None where all did.
        commit, commit_again: both commits, or None.
        found, found_again: the first divergence's address, or empty: these may differ.
    """

    seq: int
    step: str
    outcome: str
    outcome_again: str
    failed: int | None
    failed_again: int | None
    commit: str | None
    commit_again: str | None
    found: str
    found_again: str

    @property
    def same(self) -> bool:
        """Whether the server came to the same verdict."""
        claims = (self.outcome, self.failed, self.commit is None)
        return claims == (self.outcome_again, self.failed_again, self.commit_again is None)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"same": self.same, **vars(self)}


@dataclass(frozen=True)
class Drive:
    """A whole session, driven: the fresh session's id, and one line for each verdict."""

    session: str
    verdicts: tuple[Driven, ...]
    duration_s: float

    @property
    def same(self) -> bool:
        """Whether every verdict was reached again."""
        return all(each.same for each in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "session": self.session,
            "same": self.same,
            "verdicts": [each.to_json() for each in self.verdicts],
            "duration_s": round(self.duration_s, 3),
        }


def drive(
    store: Store,
    events: Sequence[Event],
    trust: Trust,
    tell: Callable[[Driven], None],
    progress: Progress,
    *,
    levels: int = TRAINING_LEVEL,
    sandbox: str | None = None,
) -> Drive:
    """Play a recorded session on a fresh server.

    Calls that judge nothing (commands, comparisons, profiles) are not made again: what they changed is in the trees.

    Args:
        trust: whose tasks may run here.
        tell: called with each verdict as it is reached.
        levels: the drive ends before the first attempt at a higher level.
        sandbox: the driver; by default the recorded session's.

    Raises:
        LockstepError: a tool reported an error, or the session cannot be written.
        RecordError: the record is damaged, or nobody vouched for its task.
    """
    began = time.monotonic()
    task = str(events[0].arguments["task"])
    sandbox = sandbox or recorded(events[0].detail.get("sandbox")) or ""
    files = store.files(snapshot_of(events[:1]))
    trust.demand(task_digest(store, trusted_part(files)), task)
    with scratch_directory("lockstep-drive-") as scratch:
        # Not by the name that the record gives it: that is any text, a path to somewhere else included.
        directory = scratch / "tasks" / "recorded"
        check_out(store, files, directory)

        async def driven() -> tuple[str, tuple[Driven, ...]]:
            # A digest that was given for this command is not to be known to the home afterwards.
            async with connected(directory.parent, scratch, progress, {FORGETTING: "1"}) as tools:
                called = {"task": str(directory), "workspace": "workspace", "sandbox": sandbox}
                async with begun(tools, **called) as session:
                    player = _Player(store, trust, tools, session.session, Path(session.workspace))
                    return session.session, await player.play(events, levels, tell)

        identifier, verdicts = anyio.run(driven)
    return Drive(identifier, verdicts, time.monotonic() - began)


class _Player:
    """Makes the recorded calls, with the recorded files in the workspace."""

    def __init__(self, store: Store, trust: Trust, tools: Tools, session: str, workspace: Path) -> None:
        self._store = store
        self._trust = trust
        self._tools = tools
        self._session = session
        self._workspace = workspace
        self._files_put: dict[str, Entry] | None = None

    async def play(self, events: Sequence[Event], levels: int, tell: Callable[[Driven], None]) -> tuple[Driven, ...]:
        reached: list[Driven] = []
        attempt: Event | None = None
        for event in events:
            if event.kind == RESUMED:
                await anyio.to_thread.run_sync(self._resume, str(event.arguments.get("reason", "")))
            elif event.kind == TASK_UPDATED:
                await anyio.to_thread.run_sync(self._update_task, events[: event.seq + 1])
            elif event.kind == ATTEMPT:
                attempt = event
            elif event.kind == VERDICT and attempt is not None and event.workspace is not None:
                if event.arguments["level"] > levels:
                    break
                await self._put_files(agents_files(self._store, event.workspace["gitTree"]))
                reached.append(await self._judge(attempt, event))
                tell(reached[-1])
                attempt = None
        return tuple(reached)

    async def _judge(self, attempt: Event, recorded: Event) -> Driven:
        arguments, detail = recorded.arguments, recorded.detail
        asked: dict[str, Any] = {"level": arguments["level"], "module": arguments["module"] or ""}
        if attempt.detail.get("drawn") is False:  # whoever asked chose the seed, and nothing counted
            asked["seed"] = attempt.seeds["run"]
        done = await self._tools.verify(self._session, str(arguments.get("message", "")), **asked)
        failed = next((level.level for level in done.levels if level.outcome != "PASS"), None)
        return Driven(
            seq=recorded.seq,
            step=f"level {arguments['level']}" + (f" of {arguments['module']}" if arguments["module"] else ""),
            outcome=recorded.outcome,
            outcome_again=done.outcome or "",
            failed=detail.get("failed_level"),
            failed_again=failed,
            commit=recorded.commit,
            commit_again=done.commit,
            found=_address(detail.get("finding", "")),
            found_again=done.found.address if done.found else "",
        )

    async def _put_files(self, files: Mapping[str, Entry]) -> None:
        """Make the agent's files of the workspace the recorded ones, through the tools that an agent has."""
        before = await self._present() if self._files_put is None else self._files_put
        for path, entry in files.items():
            if before.get(path) != entry:
                try:
                    text = self._store.blob(entry.id).decode()
                except UnicodeDecodeError as error:
                    raise RecordError("a recorded file is not text, and no tool writes it", where=path) from error
                written = await self._tools.call("write_file", session=self._session, path=path, text=text)
                FileWritten.model_validate(written)
        if gone := sorted(set(before) - set(files)):
            await self._tools.call("run_command", session=self._session, command=f"rm -- {shlex.join(gone)}")
        self._files_put = dict(files)

    async def _present(self) -> dict[str, Entry]:
        """What is in the fresh session's workspace where nothing was put since, from its own record."""
        with SessionView(self._session, lockstep_home()) as view:
            return agents_files(view.store, snapshot_of(view.events))

    def _update_task(self, events: Sequence[Event]) -> None:
        """Bring the task of the last of these events into the fresh session."""
        trusted = trusted_files(self._store, events)
        self._trust.demand(task_digest(self._store, trusted), str(events[0].arguments["task"]))
        with scratch_directory("lockstep-drive-") as scratch, opened(self._session) as held:
            check_out(self._store, trusted, scratch / "task")
            held.update_task(scratch / "task", str(events[-1].arguments.get("reason", "")))
        self._files_put = None

    def _resume(self, reason: str) -> None:
        with opened(self._session) as held:
            held.resume(reason)


def _address(finding: str) -> str:
    """The address in the line that an event keeps of a divergence: `check: address at step n: ...`."""
    leaf = finding.split(" at step ", 1)[0]
    return leaf.rpartition(": ")[2] if " at step " in finding else ""
