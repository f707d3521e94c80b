"""Reaching recorded verdicts again: the recorded tree, judged by the task as it was then, from the recorded seed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from harness.assurance.replay.reproduction import Match, Reproduction, reproduction, verdict_digest
from harness.errors import RecordError
from harness.policy import floor
from harness.policy.trust import Trust
from harness.record.event import CONDITIONS, START, VERDICT_FILE, Event
from harness.record.export import check_out, exported
from harness.record.log import cases_added, event_file
from harness.record.machine import conditions
from harness.record.snapshot import task_digest
from harness.record.store import Store
from harness.record.task_update import TASK_UPDATED, trusted_files
from harness.session.recipe import VERDICT
from harness.support.files import write_below
from harness.support.foreign import json_of
from harness.support.progress import Progress, silent
from harness.task.contract import TRAINING_LEVEL
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from sandboxes import Driver, SandboxUnavailable
from sandboxes.removal import scratch_directory

ALL = "all"


@dataclass(frozen=True)
class Repeated:
    """One recorded verdict and what became of it.

    Attributes:
        seq, commit: the event, and the commit that it verified (None for most).
        outcome, outcome_again: both outcomes; the second is empty where it was not repeated.
        found: how the two relate.
        recorded_s, duration_s: seconds that it took then, and now.
    """

    seq: int
    commit: str | None
    level: int
    module: str | None
    seed: int
    outcome: str
    outcome_again: str
    found: Reproduction
    recorded_s: float
    duration_s: float

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the recorded verdict."""
        return self.found.match is not Match.DIFFERENT

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        named = ("seq", "commit", "level", "module", "seed", "outcome", "outcome_again")
        times = {"recorded_s": round(self.recorded_s, 3), "duration_s": round(self.duration_s, 3)}
        return {name: getattr(self, name) for name in named} | self.found.to_json() | times


def chosen(events: Sequence[Event], which: str) -> list[Event]:
    """The verdicts that `which` names: `all`, the number of an event, or a commit (its first characters will do).

    Raises:
        RecordError: there is none of that name.
    """
    verdicts = [event for event in events if event.kind == VERDICT]
    if which == ALL:
        return verdicts
    found = [event for event in verdicts if which == str(event.seq)]
    found = found or [event for event in verdicts if len(which) >= 4 and (event.commit or "").startswith(which)]
    if not found:
        numbers = ", ".join(f"{e.seq}{f' ({e.commit[:10]})' if e.commit else ''}" for e in verdicts[-12:]) or "none"
        raise RecordError(
            f"the record has no verdict {which!r}", expected=f"all, a verified commit, or a verdict's event: {numbers}"
        )
    return found


def sample(events: Sequence[Event], count: int) -> list[Event]:
    """Some verdicts, drawn at random: nobody who made the record could know which. The newest that verified a commit is
    always among them."""
    verdicts = chosen(events, ALL)
    newest = [event for event in verdicts if event.commit][-1:]
    others = [event for event in verdicts if event not in newest]
    return newest + secrets.SystemRandom().sample(others, min(max(count - len(newest), 0), len(others)))


def driver_for(recorded: str, wanted: str | None = None) -> Driver:
    """The driver to repeat something in: the one that is wanted; else the recorded one, or the best that works here.

    A record is never followed to a driver that does not isolate, whatever it says.

    Raises:
        SandboxUnavailable: the one that is wanted does not work here or is not allowed, or none is.
    """
    if wanted is not None:
        return floor.permitted(wanted)
    try:
        return floor.permitted(floor.recorded(recorded))
    except SandboxUnavailable:
        return floor.permitted(None)


class Rerun:
    """Reaches verdicts of one record again. The reference's workers stay warm from one to the next.

    Args:
        store: the record.
        events: its log.
        progress: called with what goes on.
        levels: the highest level that is repeated; level 4 trains for minutes.
        sandbox: the driver to use; by default the recorded one, or the best that works here.
        trust: whose tasks may run here.
    """

    def __init__(
        self,
        store: Store,
        events: Sequence[Event],
        trust: Trust,
        progress: Progress = silent,
        *,
        levels: int = TRAINING_LEVEL,
        sandbox: str | None = None,
    ) -> None:
        self._store = store
        self._events = events
        self._trust = trust
        self._progress = progress
        self._levels = levels
        self._sandbox = sandbox
        self._stack = ExitStack()
        self._scratch = self._stack.enter_context(scratch_directory("lockstep-replay-"))
        self._task = self._scratch / "task"
        self._reported = 0
        self._verifiers: dict[str, Verifier] = {}

    def __enter__(self) -> Rerun:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers and remove what was exported."""
        self._end_verifiers()
        self._stack.close()

    def _end_verifiers(self) -> None:
        for verifier in self._verifiers.values():
            verifier.close()
        self._verifiers.clear()

    def repeat(self, verdicts: Sequence[Event]) -> Iterator[Repeated]:
        """Reach these verdicts again, in the order of the log.

        Raises:
            RecordError: the record is damaged.
            TaskError: the recorded task cannot be read by this version.
        """
        for event in sorted(verdicts, key=lambda each: each.seq):
            yield self._repeat(event)

    def _repeat(self, event: Event) -> Repeated:
        began = time.monotonic()
        again: dict[str, Any] | None = None
        try:
            recorded = json_of(event_file(self._store, event.id, VERDICT_FILE))
            levels, module = list(event.arguments["levels"]), event.arguments["module"]
            # What ran decides, not what was asked for: a level above one that failed did not.
            highest = max((int(report["level"]) for report in recorded["levels"]), default=0)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RecordError(
                f"the verdict is malformed: {type(error).__name__}: {error}", where=f"event {event.seq}, {VERDICT_FILE}"
            ) from error
        if highest > self._levels:
            digest = verdict_digest(recorded)
            why = f"it reached level {highest}, and levels above {self._levels} are not repeated here"
            found = Reproduction(Match.NOT_REPEATED, digest, "", {}, because=why)
        elif event.workspace is None:
            raise RecordError("a verdict names no tree", where=f"event {event.seq}")
        else:
            self._go_to(event.seq)
            driver = driver_for(recorded["sandbox"]["driver"], self._sandbox)
            with exported(self._store, event.workspace["gitTree"], self._scratch / f"tree-{event.seq}") as tree:
                judged = self._verifier(driver).verify(tree, LevelsRequest(levels, recorded["seed"], module))
            again = judged.to_json()
            then = {**event.detail.get(CONDITIONS, {}), "sandbox": recorded["sandbox"]}
            found = reproduction(recorded, again, then, {**conditions(), "sandbox": again["sandbox"]})
        return Repeated(
            seq=event.seq,
            commit=event.commit,
            level=event.arguments["level"],
            module=module,
            seed=recorded["seed"],
            outcome=recorded["outcome"],
            outcome_again=again["outcome"] if again else "",
            found=found,
            recorded_s=event.duration_s,
            duration_s=time.monotonic() - began,
        )

    def _go_to(self, seq: int) -> None:
        """Make the task directory what it was before this event: the task in force, and the cases found since."""
        for event in self._events[self._reported : seq]:
            if event.kind in (START, TASK_UPDATED):
                self._take_task(event)
            else:
                for path, entry in cases_added(self._store, event).items():
                    write_below(self._task, path, self._store.blob(entry.id))
        self._reported = max(self._reported, seq)

    def _take_task(self, event: Event) -> None:
        """Go on with the task that an event brought; what ran for the one before ends."""
        trusted = trusted_files(self._store, self._events[: event.seq + 1])
        self._trust.demand(task_digest(self._store, trusted), str(self._events[0].arguments.get("task", "")))
        self._end_verifiers()
        check_out(self._store, trusted, self._task)

    def _verifier(self, driver: Driver) -> Verifier:
        if driver.name not in self._verifiers:
            self._verifiers[driver.name] = Verifier(load_task(self._task), driver, progress=self._progress)
        return self._verifiers[driver.name]
