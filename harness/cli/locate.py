"""What a name on the command line means: a task, a session, or the session that works where the command was given."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import NoSuchSession, SessionLocked
from harness.record.directory import SessionDirectory, all_sessions
from harness.support.home import lockstep_home

if TYPE_CHECKING:
    from harness.session.session import Session, VerifierFactory
    from harness.support.progress import Progress

AGAIN_S = 1.0
"""How often a session that somebody works on is asked for again."""


def session_at(path: Path) -> SessionDirectory | None:
    """The session whose workspace is this directory, or one above it."""
    return _working_at(path.resolve(), all_sessions(lockstep_home()))


def session_named(which: str | None) -> SessionDirectory:
    """The session with this id or at this path; None stands for the one of the current directory.

    Raises:
        NoSuchSession: there is none.
    """
    sessions = all_sessions(lockstep_home())
    path = Path(which or ".").expanduser().resolve()
    found = next((s for s in sessions if s.id == which), None) or _working_at(path, sessions)
    # What is not there names nothing, unless it is a workspace that was lost.
    if found is not None and (found.id == which or path == found.workspace or path.exists()):
        return found
    known = ", ".join(session.id for session in sessions) or "none"
    raise NoSuchSession(
        "there is no session here" if which is None else f"there is no session {which!r}",
        where=str(path) if which is None else str(lockstep_home()),
        expected=f"the id or the workspace of a session; there are: {known}",
        next_step="go to a session's workspace or name its id; `lockstep start TASK` begins one",
    )


def session_rather_than_task(where: str) -> SessionDirectory | None:
    """The session that `where` means, by its id or a directory of its workspace; None where it is a task, or nothing."""
    if Path(where).is_dir():
        return session_at(Path(where))
    try:
        return None if Path(where).exists() else session_named(where)
    except NoSuchSession:
        return None  # then it is the name of a task, or `find_task` says what there is


def record_named(which: str | None) -> Path:
    """Where a record lies: that of a session (by default the one of the current directory), a git directory, a clone or a
    bundle.

    Raises:
        NoSuchSession: there is no such session, and no such file or directory.
    """
    path = Path(which or ".").expanduser()
    if which is None or not path.exists() or session_at(path) is not None:
        return session_named(which).repository
    return path


def _working_at(path: Path, sessions: Sequence[SessionDirectory]) -> SessionDirectory | None:
    around = (session for session in sessions if path.is_relative_to(session.workspace))
    return max(around, key=lambda session: len(session.workspace.parts), default=None)  # the innermost


def opened(identifier: str, verifier: VerifierFactory | None = None) -> Session:
    """A session for this process to work on; its host, which an agent's tools may have started, is asked to let go.

    Raises:
        NoSuchSession: there is none.
        SessionLocked: another process works on it, or its host is busy with a job, which is named.
    """
    from harness.host.client import release
    from harness.session.session import Session

    release(identifier)
    return Session.open(identifier, verifier=verifier)


def opened_when_free(identifier: str, progress: Progress) -> Session:
    """As `opened`, but waits for whoever works on the session, and tells who that is.

    Raises:
        NoSuchSession: there is none.
    """
    while True:
        try:
            return opened(identifier)
        except SessionLocked as busy:
            progress(f"waiting: {busy.what}", 0, 0)
            time.sleep(AGAIN_S)
