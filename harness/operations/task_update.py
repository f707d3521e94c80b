"""A changed task for a session that goes on: shown first, then brought in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.assurance.replay.changes import changes
from harness.policy.trust import remember
from harness.session.session import Session


def show(session: Session, directory: Path) -> dict[str, Any]:
    """What `update` would change; nothing is changed.

    The document has `session`, the digests `before` and `after`, the `changes` of the workspace's files (path, kind, diff),
    the cases that are `dropped`, the `stubs` that are made anew, and the steps that had `passed` and must pass again.

    Raises:
        TaskError, SessionError, TrustedFileChanged, RecordError: as `Session.update_task`.
    """
    update, status = session.task_update(directory), session.status()
    return {
        "session": session.id,
        "before": update.before,
        "after": update.after,
        "changes": [each.to_json() for each in changes(session.store, update.present.tree, update.workspace.tree)],
        "dropped": list(update.dropped),
        "stubs": list(update.stubs),
        "passed": status["passed"],
    }


def update(session: Session, directory: Path, reason: str, digest: str) -> dict[str, Any]:
    """Bring in the task with this digest, whose changes a person saw; gives the session's status, and the `event`.

    Raises:
        TaskError, SessionError, TrustedFileChanged, RecordError: as `Session.update_task`.
    """
    remember(session.directory.home, digest, session.directory.task)
    event = session.update_task(directory, reason, digest)
    return {"event": event.seq, **session.status()}
