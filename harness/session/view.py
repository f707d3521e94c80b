"""A session as its record tells it, for whoever only wants to look."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from harness.errors import LockstepError, SessionError
from harness.policy.budgets import used_up
from harness.record import directory as directories
from harness.record.attest import Subject
from harness.record.directory import SessionDirectory
from harness.record.event import Event
from harness.record.export import exported
from harness.record.isolation import isolates
from harness.record.log import read_events
from harness.record.specification import last_frozen
from harness.record.store import Store
from harness.record.task_update import stating_task
from harness.session import recipe
from harness.session.history import History
from harness.session.recipe import State
from harness.session.spending import client_of
from harness.support.home import lockstep_home

if TYPE_CHECKING:
    from sandboxes import Driver


class SessionView:
    """Reads a session's record without its lock, also while another process works on it, and changes nothing.

    Args:
        which: the session's id, or its workspace.
        home: where sessions are kept; by default `lockstep_home()`.

    Raises:
        SessionError: there is no such session.
        RecordError: its record is damaged.
    """

    def __init__(self, which: str | Path, home: Path | None = None) -> None:
        found = directories.find(home or lockstep_home(), which)
        store = Store(found.repository)
        try:
            self._attach(found, store, History(read_events(store)))
        except BaseException:
            store.close()
            raise

    def _attach(self, found: SessionDirectory, store: Store, history: History) -> None:
        self.directory = found
        self.store = store
        self._history = history

    @property
    def id(self) -> str:
        """The session's name."""
        return self.directory.id

    @property
    def workspace(self) -> Path:
        """Where the agent works."""
        return self.directory.workspace

    @property
    def task_directory(self) -> Path:
        """The trusted copy of the task, with every case found so far."""
        return self.directory.trusted

    @property
    def sandbox(self) -> str | None:
        """The sandbox driver that was asked for at the start; None for the best that works."""
        return self._history.events[0].detail.get("sandbox")

    @property
    def isolated(self) -> bool:
        """Whether its sandboxes isolate, which was fixed at the start."""
        return isolates(self._history.events)

    def driver(self, asked: str | None = None) -> Driver:
        """What runs the session's code: the driver that is asked for, or the session's.

        Raises:
            SessionError: it isolates and the session does not, or the other way about.
            SandboxUnavailable: it does not work here, or is not allowed.
        """
        from harness.policy.floor import permitted, without_isolation  # a status needs no sandboxes

        named = asked or self.sandbox
        driver = permitted(named if named or self.isolated else without_isolation())
        if driver.isolated != self.isolated:
            kind = (
                "isolates, so that nothing of it runs" if self.isolated else "does not isolate, so that all of it runs"
            )
            raise SessionError(
                f"the session {kind} in {driver.name!r}: the key that signs it stands for that",
                where=self.id,
                expected="a driver that isolates" if self.isolated else "the driver `process`",
                next_step=f"begin another session, with `--sandbox {driver.name}`",
            )
        return driver

    @property
    def events(self) -> tuple[Event, ...]:
        """The whole log, oldest first."""
        return tuple(self._history.events)

    @property
    def state(self) -> State:
        """Where the recipe stands."""
        return self._history.state

    @property
    def head(self) -> Event | None:
        """The event that made the newest verified commit."""
        return self._history.head

    def verified(self) -> tuple[Event, Subject]:
        """The event that made the newest verified commit, and that commit, as attestations speak of it.

        Raises:
            SessionError: nothing is verified yet by the task in force.
        """
        head = self.head
        if head is None or head.commit is None or head.workspace is None:
            raise SessionError(
                "this session has no verified commit yet",
                where=self.id,
                next_step="run `lockstep verify` until a level passes",
            )
        update = stating_task(self._history.events)
        if head.seq < update.seq:
            raise SessionError(
                f"event {update.seq} changed the task, and nothing is verified by the changed one yet",
                where=self.id,
                next_step="run `lockstep verify` until a level passes",
            )
        return head, Subject(head.commit, head.workspace["gitTree"], head.workspace["dirHash"])

    @contextmanager
    def exported_head(self) -> Iterator[tuple[Event, Path]]:
        """The event that made the newest verified commit, and a read-only export of its tree while the context lasts.

        Raises:
            SessionError: nothing is verified yet.
            RecordError: the tree is damaged.
        """
        from sandboxes.removal import scratch_directory  # a status needs no sandboxes

        head, subject = self.verified()
        with (
            scratch_directory("lockstep-tree-") as scratch,
            exported(self.store, subject.tree, scratch / "tree") as tree,
        ):
            yield head, tree

    def budgets_used_up(self) -> list[str]:
        """Which budgets of the session's client and task are used up, each in a few words, or why that is unknown."""
        try:
            return used_up(self.directory.home, client_of(self.directory), self.directory.task)
        except LockstepError as error:
            return [error.what]

    def status(self) -> dict[str, Any]:
        """The recipe's status, the newest verified commit, and how the last attempt ended; JSON-ready."""
        state, head = self.state, self.head
        described = recipe.status(state, self.budgets_used_up())
        if self.directory.specification:  # it has no recipe: it works until it is frozen
            described["state"] = recipe.DONE if last_frozen(self.events) is not None else recipe.WORKING
        return {
            "session": self.id,
            "task": self.directory.task,
            "workspace": str(self.workspace),
            "commit": head.commit if head else None,
            "last_attempt": state.attempts[-1].to_json() if state.attempts else None,
            **described,
        }

    def history(self) -> list[dict[str, Any]]:
        """One JSON-ready row for each event, oldest first."""
        return [
            {
                "seq": event.seq,
                "time": event.time,
                "kind": event.kind,
                "arguments": dict(event.arguments),
                "outcome": event.outcome,
                "finding": event.detail.get("finding", ""),
                "tree": event.workspace["gitTree"] if event.workspace else None,
                "commit": event.commit,
                "duration_s": event.duration_s,
                "usage": dict(event.usage),
                "dollars_reported": recipe.reported_dollars(event.arguments, event.usage),
            }
            for event in self._history.events
        ]

    def bundle(self, path: Path) -> None:
        """Write the whole record into one file, which the audit reads and `git clone --mirror` unpacks.

        Raises:
            RecordError: the file cannot be written.
        """
        self.store.bundle(path)

    def close(self) -> None:
        """Let go of everything; further calls do nothing."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OpenSession(SessionView, ABC):
    """A session that this process may write, whatever it is on."""

    @abstractmethod
    def report_usage(
        self, *, arguments: Mapping[str, Any] | None = None, detail: Mapping[str, Any] | None = None, **usage: float
    ) -> None:
        """Record what an agent spent since the last report: `dollars`, and counts of tokens under names of their own.

        Args:
            arguments: who reported, and in which call.
            detail: what was counted, as far as it is worth keeping.

        Raises:
            SessionError: a number is negative or none.
        """
