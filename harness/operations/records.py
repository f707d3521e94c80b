"""Beginning a session, and everything that is read from its record without a lock."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.assurance.audit import AuditReport, Gate
from harness.assurance.audit import audit as check
from harness.candidate.skeleton import write_skeleton
from harness.errors import RecordError
from harness.record import directory as directories
from harness.record.directory import all_sessions
from harness.record.keyring import Keyring
from harness.record.log import read_events
from harness.record.received import opened
from harness.session.begin import demand_no_workspace
from harness.session.coverage import known
from harness.session.session import Session
from harness.session.view import SessionView
from harness.support.embedded import find_task
from harness.support.home import lockstep_home
from harness.task.contract import TASK_FILE, caches
from harness.task.load import load_task, with_candidate
from sandboxes.removal import scratch_directory


def start(
    task: str,
    workspace: Path | None = None,
    home: Path | None = None,
    *,
    fresh: bool = False,
    candidate: str | None = None,
    sandbox: str | None = None,
    ssh_key: Path | None = None,
    owner: str | None = None,
) -> dict[str, Any]:
    """Begin a session on a task and give its status, with the record's place as `record`.

    Args:
        task: the path of a task directory, or the name of an embedded one.
        workspace: where the agent will work; by default `<task>-session` in the current directory.
        fresh: begin with a candidate whose functions have yet to be written, not with the one that comes with the task.
        candidate: the kind of candidate to write (`jax`, `rust`), where the task has several; by default its first.
        sandbox: the driver in which the session's commands and candidates run; by default the best that works.
        ssh_key: file of an SSH key that signs the verified commits besides (`Session.start`).
        owner: the client whose session it is; by default it is the operator's.

    Raises:
        TaskError, SessionError, RecordError: as `Session.start`; SandboxUnavailable: that driver does not work here.
    """
    with ExitStack() as stack:
        source = find_task(task)
        demand_no_workspace(home or lockstep_home(), source)  # before a copy of it is prepared
        if fresh or candidate is not None:
            scratch = stack.enter_context(scratch_directory("lockstep-"))
            source = _prepared(source, scratch, fresh, candidate)
        session = stack.enter_context(
            Session.start(source, workspace, home, sandbox=sandbox, ssh_key=ssh_key, owner=owner)
        )
        reached = known(session.events).to_json()
        return session.status() | {"coverage": reached, "record": str(session.directory.path)}


def status(session: str, *, home: Path | None = None) -> dict[str, Any]:
    """Where a session stands, and under `coverage` what its levels reached of the reference so far.

    Raises:
        SessionError, RecordError: as `history`.
    """
    with SessionView(session, home or lockstep_home()) as view:
        if view.directory.specification:
            from harness.operations import specification  # imports all that judges

            return specification.status(view)
        return view.status() | {"coverage": known(view.events).to_json()}


def history(session: str, *, home: Path | None = None, after: int = -1, limit: int | None = None) -> dict[str, Any]:
    """What happened in a session, oldest first: `limit` events after event `after`, and how many `more` there are.

    Raises:
        SessionError, RecordError: there is no such session, or its record is damaged.
    """
    with SessionView(session, home or lockstep_home()) as view:
        rows = [row for row in view.history() if row["seq"] > after]
        shown = rows if limit is None else rows[: max(limit, 0)]
        return {"session": view.id, "events": shown, "more": len(rows) - len(shown)}


def sessions(home: Path | None = None, *, seen: Callable[[str], bool] = lambda _: True) -> list[dict[str, Any]]:
    """Every session: id, task, workspace, when it was `created`, and its `state`; `damaged` where that cannot be read.

    `seen` says by its id whether whoever asks may see it.
    """
    rows = []
    for found in (each for each in all_sessions(home or lockstep_home()) if seen(each.id)):
        row = {"session": found.id, "task": found.task, "workspace": str(found.workspace), "created": found.created}
        try:
            with SessionView(found.id, home) as view:
                described: Mapping[str, Any] = view.status()
            row |= {name: described[name] for name in ("state", "next", "commit", "attempts")}
        except RecordError:
            row |= {"state": "damaged", "next": None, "commit": None, "attempts": 0}
        rows.append(row)
    return rows


def audit(
    record: str | Path,
    *,
    home: Path | None = None,
    key: Path | None = None,
    known_event: str | None = None,
    gate: Gate | None = None,
) -> AuditReport:
    """What a record proves: that of a session (its id or workspace), or any git directory, clone or bundle of one.

    Where it lies as a session of this home, it must be the record of that session.

    Raises:
        SessionError, RecordError: there is no such session, or nothing that could be read.
    """
    home = home or lockstep_home()
    path = Path(record).expanduser()
    named = isinstance(record, str) and (home / directories.SESSIONS / record).is_dir()
    at_work = any(found.workspace == path.resolve() for found in all_sessions(home))
    location = directories.find(home, record).repository if named or at_work or not path.exists() else path
    owner = location.resolve().parent
    session = owner.name if owner.parent == (home / directories.SESSIONS).resolve() else None
    unisolated = Keyring(home, isolated=False).public
    return check(location, key, known_event=known_event, session=session, gate=gate, unisolated=unisolated)


def bundle(record: Path, file: Path) -> dict[str, Any]:
    """Write a whole record into one file: a document with the `session`, the `file`, its size in `bytes`, and how many
    `events` it holds up to the digest `last_event`.

    Raises:
        RecordError: the record cannot be read, or the file cannot be written.
    """
    with opened(record) as store:
        events = read_events(store)
        store.bundle(file)
    return {
        "session": events[0].detail.get("session", ""),
        "file": str(file),
        "bytes": file.stat().st_size,
        "events": len(events),
        "last_event": events[-1].digest,
    }


def _prepared(source: Path, scratch: Path, fresh: bool, candidate: str | None) -> Path:
    """A copy of a task with one candidate: that of a name where one is chosen, yet to be written where `fresh`."""
    task = load_task(source)
    copy = scratch / task.name
    shutil.copytree(source, copy, ignore=lambda location, names: caches(location, names) | {".git"})
    if candidate is not None:
        task = task.with_candidate(candidate)
        text = (copy / TASK_FILE).read_text(encoding="utf-8")
        (copy / TASK_FILE).write_text(with_candidate(text, candidate), encoding="utf-8")
    if fresh:
        write_skeleton(task, copy)
    return copy
