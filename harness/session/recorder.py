"""Keeping the record, the trusted copy of the task and the workspace together.

The event log is the only one of the three that decides. What it gained goes into the other two, and what a killed
process left half done is put right from it when the session is opened again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.errors import RecordError, SessionError, TrustedFileChanged
from harness.policy.quota import demand_room
from harness.record.bounds import LAST_EVENTS, MAX_EVENTS
from harness.record.directory import SessionDirectory
from harness.record.event import Event
from harness.record.export import check_out, discard, exported
from harness.record.keyring import Keyring
from harness.record.keys import SigningKey
from harness.record.lock import Lock
from harness.record.log import FULL, EventLog, cases_added, snapshot_of
from harness.record.objects import EXECUTABLE, Entry
from harness.record.snapshot import (
    Changes,
    Snapshot,
    is_blank,
    refuse_changes,
    snapshot,
    trusted_changes,
)
from harness.record.store import Store
from harness.record.task_update import TASK_UPDATED, trusted_files
from harness.session import recipe
from harness.session.history import History
from harness.session.spending import Spending
from harness.session.task_update import TaskUpdate, content_digest
from harness.support.files import (
    clear_temporaries,
    remove_below,
    remove_empty_directories,
    storing,
    write_below,
    write_durably,
)
from harness.task.contract import CASES_DIRECTORY, PROPOSED_DIRECTORY


class Recorder:
    """The one who writes a session's record, and holds its lock until `release`. `append` may be called in any thread.

    Making one puts right whatever a killed process, or a person, left behind: locks and half-written files are removed,
    refs follow the log, the trusted copy and a lost workspace are restored, and an attempt without a verdict is recorded
    as interrupted.

    Attributes:
        directory: where the session lies.
        store: its objects and refs.
        history: its events and the state after them.
        trusted: every trusted file, by path, with the cases found so far; nothing in a session on a specification.

    Raises:
        SessionLocked: another process works on the session.
        RecordError: its record is damaged, its key is not in this home, or it cannot be written.
    """

    def __init__(self, found: SessionDirectory, home: Path) -> None:
        self.directory = found
        self._writing = threading.RLock()
        self._owed: set[str] = set()
        self._lock = Lock(found.lock, f"the session {found.id}")
        try:
            self.store = Store(found.repository, self._lock.descriptor)
        except BaseException:
            self._lock.release()
            raise
        try:
            self.store.clear_leftovers()
            self._log = EventLog(self.store, Keyring(home))
            self.history = History(self._log.events)
            self._spending = Spending(found, self.history.events)
            self.trusted = {} if found.specification else trusted_files(self.store, self.history.events)
            self._recover()
        except BaseException:
            self.release()
            raise

    @property
    def key(self) -> SigningKey:
        """What signs events and attestations."""
        return self._log.key

    # Events

    def append(self, kind: str, **fields: Any) -> Event:
        """Record an event (`EventLog.append`) and take it into the history.

        Raises:
            RecordError: it cannot be written.
        """
        with self._writing:
            self._spending.expect(kind, fields)
            known = len(self.history.events)
            try:
                return self._log.append(kind, **fields)
            finally:
                # Also where an error followed the append: what the log has is what happened.
                for event in self.history.not_applied:
                    if event.kind != TASK_UPDATED:
                        added = cases_added(self.store, event)
                        self.trusted |= added
                        self._owed |= added.keys()
                    self.history.advance(event)
                    self._spending.recorded(event)
                if len(self.history.events) == known:
                    self._spending.take_back()

    def demand_events(self) -> None:
        """Refuse what would be recorded in a log that is nearly as long as one may be.

        Raises:
            SessionError: it is.
        """
        if len(self.history.events) >= MAX_EVENTS - LAST_EVENTS:
            raise SessionError(
                f"the record of this session is full: {len(self.history.events)} events",
                where=self.directory.id,
                expected=f"fewer than {MAX_EVENTS - LAST_EVENTS}",
                next_step=FULL,
            )

    def settle(self, why: str, duration_s: float = 0.0) -> None:
        """Record that an attempt without a verdict will never have one, and what it took where that is known."""
        if self.history.state.pending is not None:
            arguments = {"attempt": self.history.state.pending.seq}
            self.append(recipe.INTERRUPTED, arguments=arguments, detail={"finding": why}, duration_s=duration_s)

    # Snapshots of the workspace

    def take_snapshot(self, arguments: Mapping[str, Any]) -> Snapshot:
        """The workspace as it is now, in the store; a refusal is recorded with the `arguments` of the call.

        Raises:
            SessionError: it cannot be recorded, or changes files that belong to the verifier (TrustedFileChanged).
            RecordError: it cannot be written.
        """
        try:
            taken = snapshot(self.directory.workspace, self.store, admit=self._admit)
            refuse_changes(self._changes(taken), self.directory.workspace)
        except SessionError as refusal:
            kind = "trusted files" if isinstance(refusal, TrustedFileChanged) else "workspace"
            self.append(recipe.REFUSED, arguments=arguments, outcome=kind, detail={"finding": refusal.what})
            raise
        return taken

    def snapshot_if_sound(self) -> Snapshot | None:
        """The workspace as it is now, if it can be recorded and changes nothing trusted."""
        with suppress(SessionError):
            taken = snapshot(self.directory.workspace, self.store, admit=self._admit)
            return None if self._changes(taken) else taken
        return None

    def _changes(self, taken: Snapshot) -> Changes:
        """What of the task a workspace changes; a specification has nothing that is not there to be written."""
        return Changes() if self.directory.specification else trusted_changes(taken.files, self.trusted)

    def _admit(self, total_bytes: int) -> None:
        demand_room(self.directory.path, total_bytes)

    @contextmanager
    def exported(self, taken: Snapshot, name: str) -> Iterator[Path]:
        """A read-only export of a snapshot, in a directory of this name, for as long as the context lasts."""
        with exported(self.store, taken.tree, self.directory.exports / name) as tree:
            yield tree

    # The trusted copy and the workspace

    def write_cases(self) -> None:
        """Put cases that the log has gained into the trusted copy and the workspace.

        Where something in the workspace is in the way, the next snapshot is refused and names it, and `restore_trusted`
        writes them.
        """
        for path in sorted(self._owed):
            if not (self.directory.trusted / path).exists():
                self._write(self.directory.trusted, path, self.trusted[path])
            with suppress(RecordError):
                if not (self.directory.workspace / path).exists():
                    self._write(self.directory.workspace, path, self.trusted[path])
            self._owed.remove(path)

    def restore_trusted(self) -> tuple[str, ...]:
        """Put every trusted file of the workspace back, and move what was added or changed to `proposed/set-aside/`.

        Returns the paths concerned.

        Raises:
            SessionError: the workspace holds links or devices, which a person has to remove.
            RecordError: a file cannot be written.
        """
        workspace = self.directory.workspace
        found = snapshot(workspace, self.store).files
        changes = trusted_changes(found, self.trusted)
        for path in (*changes.changed, *changes.added):
            aside = f"{PROPOSED_DIRECTORY}/set-aside/{path}"
            write_below(workspace, aside, self.store.blob(found[path].id))
        for path in changes.added:
            remove_below(workspace, path)
        for path in (*changes.changed, *changes.deleted):
            remove_empty_directories(workspace / path)
            self._write(workspace, path, self.trusted[path])
        return (*changes.changed, *changes.deleted, *changes.added)

    def update_task(self, update: TaskUpdate, reason: str, attached: Mapping[str, bytes]) -> Event:
        """Record that a changed task is in force from now on, and bring it into the trusted copy and the workspace.

        A mark says until the end that this has to be finished; opening the session finishes what a killed process began.

        Raises:
            RecordError: it cannot be written.
        """
        mark = self.directory.updating
        write_durably(mark, str(len(self.history.events)).encode())
        event = self.append(
            TASK_UPDATED,
            arguments={"task": self.directory.task, "reason": reason},
            detail=update.detail,
            workspace=update.workspace,
            attached=attached,
        )
        self._finish_update()
        return event

    def _finish_update(self) -> None:
        """Put into place what the update that the mark names brought, if it was recorded at all."""
        mark = self.directory.updating
        events, seq = self.history.events, int(mark.read_text())
        if seq < len(events) and events[seq].kind == TASK_UPDATED:
            self._owed.clear()
            before = trusted_files(self.store, events[:seq])
            self.trusted = trusted_files(self.store, events)
            check_out(self.store, self.trusted, self.directory.trusted)
            stated = self.store.files(snapshot_of(events[: seq + 1]))
            workspace = self.directory.workspace
            stubs: Mapping[str, str] = events[seq].detail["stubs"]
            # A stub that was written since is the agent's by now.
            due = {path for path, digest in stubs.items() if content_digest(workspace / path) == digest}
            for path in sorted(due | before.keys() | self.trusted.keys()):
                if path in stated:
                    self._write(workspace, path, stated[path])
                elif os.path.lexists(workspace / path):  # else it was removed before a kill
                    remove_below(workspace, path)
        with storing(mark):
            mark.unlink()

    # The end

    def pack(self) -> None:
        """Pack the record if it has grown; nothing after `release`."""
        if self._lock.descriptor >= 0:
            self.store.pack()

    def release(self) -> None:
        """Let others in; further calls do nothing."""
        self.store.close()
        self._lock.release()

    def _recover(self) -> None:
        directory = self.directory
        for stale in directory.exports.glob("*"):
            discard(stale)
        for root in (directory.path, directory.trusted, directory.workspace):
            clear_temporaries(root)
        if directory.updating.exists():
            self._finish_update()
        if not directory.specification and not _holds(directory.trusted, self.trusted, self.store):
            check_out(self.store, self.trusted, directory.trusted)
        if directory.restoring.exists() or is_blank(directory.workspace):
            self._restore_workspace()
        self._owed = {path for path in self.trusted if path.startswith(f"{CASES_DIRECTORY}/")}
        self.write_cases()
        self.settle("the process ended before there was a verdict")

    def _restore_workspace(self) -> None:
        """Fill the workspace from the last snapshot; a mark says until the end that this has to be finished."""
        workspace, mark = self.directory.workspace, self.directory.restoring
        write_durably(mark, b"")
        with storing(workspace):
            workspace.mkdir(parents=True, exist_ok=True)
        for path, entry in self.store.files(snapshot_of(self.history.events)).items():
            if not (workspace / path).exists():
                self._write(workspace, path, entry)
        with storing(mark):
            mark.unlink()

    def _write(self, root: Path, path: str, entry: Entry) -> None:
        write_below(root, path, self.store.blob(entry.id), 0o755 if entry.mode == EXECUTABLE else 0o644)


def _holds(directory: Path, files: Mapping[str, Entry], store: Store) -> bool:
    """Whether a directory holds exactly these recorded files."""
    try:
        return directory.is_dir() and snapshot(directory, store).files == files
    except SessionError:
        return False
