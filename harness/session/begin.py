"""Making a session's directory: complete under another name first, so that no half-made session is ever seen."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import __version__
from harness.connect.workspace import workspace_files
from harness.errors import LockstepError, SessionError
from harness.policy.budgets import demand_budget
from harness.policy.owners import note_owner, owner_of
from harness.policy.spent import LOCAL
from harness.policy.trust import remember
from harness.record import ssh
from harness.record.directory import (
    SESSIONS,
    UNFINISHED,
    SessionDirectory,
    all_sessions,
    publish,
    remove_unfinished,
)
from harness.record.event import ISOLATED, SSH_KEY, START, now
from harness.record.keyring import Keyring
from harness.record.lock import Lock
from harness.record.log import EventLog
from harness.record.machine import fingerprint
from harness.record.message import check_identity
from harness.record.objects import Entry
from harness.record.snapshot import (
    Snapshot,
    is_blank,
    refuse_changes,
    snapshot,
    task_digest,
    trusted_changes,
    trusted_part,
)
from harness.record.store import Store
from harness.session.recipe import Plan
from harness.support.files import storing, write_below


def create_session(
    home: Path,
    *,
    task: str,
    task_directory: Path,
    workspace: Path,
    plan: Plan,
    author: str,
    sandbox: str | None = None,
    isolated: bool = True,
    ssh_key: Path | None = None,
    owner: str | None = None,
) -> SessionDirectory:
    """Make the directory of a new session, with a record that holds the task and the first event.

    The trusted copy is not there yet, and the workspace holds only what greets an agent: opening the session makes both
    from the record. `isolated` says whether its sandboxes isolate: that decides which key signs. `ssh_key` is what verified
    commits are to be signed with besides; the record names its public half. `owner` is the client whose session it is, None
    for the operator's own.

    Raises:
        SessionError: a budget of the client or the task is used up, the workspace, the author or the SSH key cannot be
            used, or the task directory cannot be recorded or lies in the workspace of a session.
        RecordError: the record cannot be written.
    """
    check_identity(author)
    public = None if ssh_key is None else ssh.public_half(ssh_key)

    def first(store: Store) -> tuple[Snapshot, dict[str, Any]]:
        trusted, taken = _first_snapshot(store, task_directory, workspace)
        digest = task_digest(store, trusted)
        remember(home, digest, task)
        stated = {"plan": plan.to_json(), "task_digest": digest, "author": author, "sandbox": sandbox}
        return taken, stated | ({} if public is None else {SSH_KEY: public})

    described = SessionDirectory(Path(), workspace, task, "", ssh_key)
    return publish_session(
        home,
        described,
        first,
        isolated=isolated,
        owner=owner,
        look=lambda: demand_no_workspace(home, task_directory),
        welcome=lambda name: _welcome(workspace, name, task, home),
    )


def publish_session(
    home: Path,
    described: SessionDirectory,
    first: Callable[[Store], tuple[Snapshot, Mapping[str, Any]]],
    *,
    isolated: bool,
    owner: str | None,
    look: Callable[[], None] = lambda: None,
    welcome: Callable[[str], None] = lambda name: None,
) -> SessionDirectory:
    """Make the directory of a new session, whole or not at all; `create_session` says what of.

    Args:
        described: the session; its path and time are given here.
        first: what the first event holds: the workspace, and what is stated of the session besides.
        look: refuses by raising, once no other session can begin meanwhile.
        welcome: called with the session's name before it is seen.

    Raises:
        SessionError, RecordError: as `create_session`.
    """
    task, root = described.task, home / SESSIONS
    with storing(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = Lock(root / ".start.lock", "the list of sessions")
    try:
        remove_unfinished(home)
        demand_budget(home, owner or LOCAL, task)
        look()
        _refuse_overlap(home, described, owner)
        created = now()
        stamp = created[:19].translate({ord("-"): None, ord(":"): None})
        name = f"{task}-{stamp}-{secrets.token_hex(2)}"
        session = replace(described, path=root / f"{UNFINISHED}{name}", created=created)
        try:
            with storing(session.path):
                session.path.mkdir(mode=0o700)
            Store.create(session.repository)
            with Store(session.repository) as store:
                taken, stated = first(store)
                log = EventLog(store, Keyring(home, isolated=isolated))
                detail = {
                    "session": name,
                    "key": log.key.public.to_json(),
                    ISOLATED: isolated,
                    "lockstep": __version__,
                    "machine": fingerprint(),
                    **stated,
                }
                log.append(START, time=created, arguments={"task": task}, detail=detail, workspace=taken)
            session.write()
            welcome(name)
            if owner is not None:
                note_owner(home, name, owner)
            publish(session.path, root / name)
        except BaseException:
            with suppress(LockstepError, OSError):
                remove_unfinished(home)
            raise
        return replace(session, path=root / name)
    finally:
        lock.release()


def _first_snapshot(store: Store, task_directory: Path, workspace: Path) -> tuple[Mapping[str, Entry], Snapshot]:
    """The trusted files, and the workspace as it is at the start: the task's own, or one with files that is adopted."""
    first = snapshot(task_directory, store, may_be_checkout=True)
    trusted = trusted_part(first.files)
    if not is_blank(workspace):
        first = snapshot(workspace, store)
        refuse_changes(trusted_changes(first.files, trusted), workspace)
    return trusted, first


def _welcome(workspace: Path, session: str, task: str, home: Path) -> None:
    """Put into the workspace what an agent that is started there looks for; no part of the task, so never recorded."""
    with storing(workspace):
        workspace.mkdir(parents=True, exist_ok=True)
    for path, content in workspace_files(workspace, session, task, home).items():
        write_below(workspace, path, content)


def demand_no_workspace(home: Path, task_directory: Path) -> None:
    """Refuse a task that lies where an agent works: it could have been made, or changed, by the one whom it is to judge.

    Raises:
        SessionError: it lies in the workspace of a session of this home.
    """
    for session in all_sessions(home):
        if task_directory.resolve().is_relative_to(session.workspace):
            raise SessionError(
                f"the task lies in the workspace of the session {session.id}, where an agent can change it",
                where=str(task_directory),
                expected="a task in a directory that no agent writes",
                next_step="name the task from which that session was begun; or read every file of this one, and copy it",
            )


def _refuse_overlap(home: Path, described: SessionDirectory, owner: str | None) -> None:
    workspace = described.workspace
    if home.is_relative_to(workspace) or workspace.is_relative_to(home):
        raise SessionError(
            "the record must lie outside the workspace, where an agent cannot write",
            where=str(workspace),
            expected=f"a workspace that neither holds nor lies in {home}",
            next_step="choose another workspace, or set LOCKSTEP_HOME",
        )
    for other in all_sessions(home):
        if described.specification and other.specification and other.workspace == workspace:
            continue  # it was removed, and another one begins in its place
        if other.workspace.is_relative_to(workspace) or workspace.is_relative_to(other.workspace):
            known = owner is None or owner_of(home, other.id) == owner
            raise SessionError(
                f"the session {other.id} works in {other.workspace}" if known else "this directory is in use",
                where=str(workspace),
                expected="a directory of its own for each session",
                next_step=f"{f'go on with {other.id}, or ' if known else ''}choose another workspace",
            )
