"""The record of a specification: a session whose workspace is the `specification/` of a task directory.

It has the lock, the log and the key of any other session; what is missing is a candidate, a trusted task and the recipe.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.authoring.scaffold import check_name
from harness.errors import SessionError
from harness.policy.budgets import demand_budget
from harness.record.directory import SessionDirectory, all_sessions
from harness.record.directory import find as find_session
from harness.record.event import Event
from harness.record.export import check_out
from harness.record.keys import SigningKey
from harness.record.snapshot import Snapshot, snapshot, task_digest, trusted_part
from harness.record.specification import DRAWN, ENDS, RULED, SEED, WORKFLOW, begun
from harness.record.store import Store
from harness.session.begin import publish_session
from harness.session.recipe import Plan
from harness.session.recorder import Recorder
from harness.session.session import USAGE
from harness.session.spending import client_of
from harness.session.view import OpenSession
from harness.specification.place import DIRECTORY, Place, Specification, demand_plain, find, read
from sandboxes.removal import scratch_directory

Interruptible = AbstractContextManager[Any]
"""While it lasts, work may be cut short: a host cancels a job there, and at no other moment."""


@dataclass(frozen=True)
class Judging:
    """What is being judged: one copy of the files, recorded before, and the seed that was drawn then.

    Attributes:
        kind: of the event with which it ends.
        arguments: what was asked.
        taken: the files as they were recorded.
        specification: read from a copy of just these; it may be written to.
        seed: from which everything random is derived.
        drawn: whether it was drawn here.
        sandbox: where the readings run (`driver`, `isolated`); `began` when, by `time.monotonic()`.
    """

    kind: str
    arguments: Mapping[str, Any]
    taken: Snapshot
    specification: Specification
    seed: int
    drawn: bool
    sandbox: Mapping[str, Any]
    began: float


class SpecificationRecord(OpenSession):
    """The record of a specification, open to be written. Methods may be called from any thread.

    Attributes:
        place: the files.

    Raises:
        SessionLocked: another process works on it.
        RecordError: it is damaged, or cannot be written.
    """

    def __init__(self, found: SessionDirectory) -> None:
        if not found.specification:
            raise SessionError(
                f"the session {found.id} is not on a specification",
                where=str(found.workspace),
                next_step="`lockstep verify` and what belongs to it work on a candidate",
            )
        self._recorder = Recorder(found, found.home)
        self._attach(found, self._recorder.store, self._recorder.history)
        self.place = Place(found.workspace)

    @property
    def key(self) -> SigningKey:
        """What signs the events, and what is stated about a frozen commit."""
        return self._recorder.key

    def record(
        self,
        kind: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        outcome: str = "",
        detail: Mapping[str, Any] | None = None,
        duration_s: float = 0.0,
        seeds: Mapping[str, int] | None = None,
        attached: Mapping[str, bytes] | None = None,
        with_tree: bool = False,
        taken: Snapshot | None = None,
        commit: str | None = None,
    ) -> Event:
        """Record something that happened (`EventLog.append`); `taken` are the files as they were then, and
        `with_tree` has it keep those of now, where they can be recorded.

        Raises:
            RecordError: it cannot be written.
        """
        return self._recorder.append(
            kind,
            arguments=arguments,
            outcome=outcome,
            detail=detail,
            duration_s=duration_s,
            seeds=seeds,
            attached=attached,
            workspace=taken or (self._recorder.snapshot_if_sound() if with_tree else None),
            commit=commit,
        )

    def report_usage(
        self, *, arguments: Mapping[str, Any] | None = None, detail: Mapping[str, Any] | None = None, **usage: float
    ) -> None:
        self._recorder.append(USAGE, arguments=arguments, detail=detail, usage=usage)

    def read(self) -> Specification:
        """The specification as it is now; mistakes are named by their places in its files. Raises TaskError."""
        demand_plain(self.place)
        return read(self.place)

    def take(self, arguments: Mapping[str, Any]) -> Snapshot:
        """The files as they are now, recorded. Raises SessionError where they cannot be."""
        return self._recorder.take_snapshot(arguments)

    def reworded(self, specification: Specification) -> list[str]:
        """The rulings of this record that the text has not, or has in other words."""
        texts = {one.number: one.text for one in specification.statements}
        ruled = {
            int(event.detail["statement"]): str(event.detail["text"]) for event in self.events if event.kind == RULED
        }
        return [
            f"ruling {number} was recorded as {text!r}, and the text has "
            + (f"{texts[number]!r}" if number in texts else "no such statement")
            + ": put its words back; a ruling is changed by another one on it"
            for number, text in ruled.items()
            if texts.get(number) != text
        ]

    @contextmanager
    def copied(self, arguments: Mapping[str, Any]) -> Iterator[tuple[Snapshot, Place]]:
        """The files as they are now, recorded, and a copy of just these for as long as the context lasts.

        Raises:
            SessionError: they cannot be recorded.
        """
        taken = self.take(arguments)
        with scratch_directory("lockstep-specification-") as scratch:
            directory = scratch / self.place.name / DIRECTORY
            check_out(self.store, taken.files, directory)
            yield taken, Place(directory)

    @contextmanager
    def judging(self, kind: str, arguments: Mapping[str, Any], seed: int | None, client: str) -> Iterator[Judging]:
        """Record that something begins to be judged.

        Args:
            kind: of the event with which it will end, one of `ENDS`.
            seed: repeats a run; None draws one, or goes on from that of the same, which was interrupted.

        Raises:
            TaskError: the files are wrong.
            SessionError: they cannot be recorded, or a budget is used up.
        """
        self.read()
        self.demand_budget()
        sandbox = self.sandbox_of_readings()
        began = time.monotonic()
        with self.copied(arguments) as (taken, place):
            start = begun(self.events, kind, arguments)
            same = start is not None and (start.workspace or {}).get("gitTree") == taken.tree
            if start is not None and same and seed is None and start.detail.get(DRAWN):
                drawn, seed = True, start.seeds[SEED]
            else:
                # Drawn only now: no reading can have been written for it.
                drawn, seed = seed is None, secrets.randbits(62) if seed is None else seed
                detail = {DRAWN: drawn, "client": client}
                self.record(ENDS[kind], arguments=arguments, detail=detail, seeds={SEED: seed}, taken=taken)
            yield Judging(kind, dict(arguments), taken, read(place), seed, drawn, sandbox, began)

    def conclude(
        self,
        judging: Judging,
        outcome: str,
        attached: Mapping[str, bytes],
        *,
        finding: str = "",
        commit: str | None = None,
    ) -> Event:
        """Record what it came to."""
        return self.record(
            judging.kind,
            arguments=judging.arguments,
            outcome=outcome,
            detail={"finding": finding, DRAWN: judging.drawn, "sandbox": dict(judging.sandbox)},
            seeds={SEED: judging.seed},
            duration_s=time.monotonic() - judging.began,
            attached=attached,
            taken=judging.taken,
            commit=commit,
        )

    def changed(self, judging: Judging) -> list[str]:
        """The files that are not any more what is being judged, by their paths. Raises SessionError as `copied`."""
        before, after = judging.taken.files, self.take(judging.arguments).files
        return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))

    def sandbox_of_readings(self) -> dict[str, Any]:
        """The driver in which readings run, and whether it isolates.

        Raises:
            SessionError: it isolates and the session does not, or the other way about.
            SandboxUnavailable: none works here.
        """
        from harness.policy.floor import permitted_here  # a status needs no sandboxes

        driver = permitted_here()
        if driver.isolated != self.isolated:
            raise SessionError(
                f"readings would run in {driver.name!r}, and the key of this session stands for "
                f"{'isolation' if self.isolated else 'none'}",
                where=self.id,
                next_step="make `lockstep doctor` find what the session began with, or begin another specification",
            )
        return {"driver": driver.name, "isolated": driver.isolated}

    def demand_budget(self) -> None:
        """Refuse what takes this machine's time where a budget is used up. Raises SessionError."""
        demand_budget(self.directory.home, client_of(self.directory), self.directory.task)

    def close(self) -> None:
        """Pack the record if it has grown, and let others in; further calls do nothing."""
        try:
            self._recorder.pack()
        finally:
            self._recorder.release()


def begin_record(
    home: Path, place: Place, *, owner: str | None = None, look: Callable[[], None] = lambda: None
) -> SessionDirectory:
    """Begin the record of a specification.

    Args:
        look: refuses by raising, once no other session can begin meanwhile.

    Raises:
        SetupError: the task's directory has a name that no task can have.
        SessionError: a budget is used up, or another session works there.
        RecordError: it cannot be written.
    """
    from harness.policy.floor import kind_of

    check_name(place.name)
    demand_plain(place)
    sandbox, isolated = kind_of(None)

    def first(store: Store) -> tuple[Snapshot, dict[str, Any]]:
        taken = snapshot(place.directory, store)
        digest = task_digest(store, trusted_part(taken.files))
        stated = {"workflow": WORKFLOW, "plan": Plan((), ()).to_json(), "task_digest": digest}
        return taken, stated | {"sandbox": sandbox}

    described = SessionDirectory(Path(), place.directory.resolve(), place.name, "", specification=True)
    return publish_session(home, described, first, isolated=isolated, owner=owner, look=look)


def record_of(home: Path, place: Place) -> SessionDirectory | None:
    """The session on a specification, the newest where it was begun anew; None where there is none yet."""
    workspace = place.directory.resolve()
    there = [found for found in all_sessions(home) if found.specification and found.workspace == workspace]
    return max(there, key=lambda found: found.created, default=None)


def located(home: Path, which: Path) -> SessionDirectory:
    """The session on the specification in a task directory, which begins where there is none.

    Raises:
        NoSuchTask: there is no specification.
        SetupError, SessionError, RecordError: as `begin_record`.
    """
    place = find(which)

    def demand_first() -> None:
        if record_of(home, place) is not None:
            raise _BegunMeanwhile

    with suppress(_BegunMeanwhile):
        return record_of(home, place) or begin_record(home, place, look=demand_first)
    return located(home, which)


class _BegunMeanwhile(Exception):
    """Another process began the record of the same specification."""


def opened(home: Path, which: str) -> SpecificationRecord:
    """A specification's record by the id of its session.

    Raises:
        NoSuchSession: there is none; and as `SpecificationRecord`.
    """
    return SpecificationRecord(find_session(home, which))
