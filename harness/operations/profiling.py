"""One profile of a task directory or of a session's workspace."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from harness.measure.profile import text
from harness.measure.profile.result import ProfileReport
from harness.measure.profile.run import Settings, profile
from harness.session import recipe
from harness.session.session import Session
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.directory import copy_candidate
from sandboxes import Driver
from sandboxes.removal import scratch_directory

PROFILE = "profile"
"""The kind of event that a profile leaves in a session's record."""
MAX_SUMMARY = 4000


def profile_directory(
    task: Task, driver: Driver, settings: Settings, seed: int | None = None, progress: Progress = silent
) -> ProfileReport:
    """Profile the candidate in a task directory, outside any session: nothing is recorded."""
    with scratch_directory("lockstep-tree-") as tree:
        copy_candidate(task.directory, tree)
        measured = profile(task, tree, driver, settings, seed=seed, progress=progress)
    return ProfileReport(profile=measured)


def profile_session(
    session: Session,
    settings: Settings,
    *,
    seed: int | None = None,
    client: str = "",
    job: str | None = None,
    driver: str | None = None,
    progress: Progress = silent,
    interruptible: AbstractContextManager[None] | None = None,
) -> ProfileReport:
    """Profile the workspace of a session as it is now, from an export of its snapshot, and record it.

    Args:
        interruptible: entered while it measures and at no other moment: an interruption then loses nothing, where one in
            the middle of the record would.

    Raises:
        SessionError: the workspace cannot be recorded, or changes trusted files.
        RecordError: it cannot be recorded.
    """
    began = time.monotonic()
    task = load_task(session.task_directory)
    arguments = {
        "batches": list(settings.batches or task.batch_sizes),
        "kinds": list(settings.kinds),
        "seconds_per": settings.seconds_per,
    }
    with session.exported_workspace(arguments) as (taken, tree), interruptible or nullcontext():
        measured = profile(task, tree, session.driver(driver), settings, seed=seed, progress=progress)
    head = session.head
    same = head is not None and head.workspace is not None and head.workspace["gitTree"] == taken.tree
    finished = recipe.next_step(session.state) is None
    found = measured.divergence
    detail: dict[str, Any] = {
        "figures": text.compact(measured),
        "summary": text.summary(measured)[:MAX_SUMMARY],
        "finding": measured.error[:MAX_SUMMARY] if found is None else found.cause,
    }
    detail |= ({"client": client} if client else {}) | ({"job": job} if job else {})
    event = session.record(
        PROFILE,
        arguments=arguments,
        outcome=str(measured.outcome),
        detail=detail,
        duration_s=time.monotonic() - began,
        taken=taken,
    )
    verified = head.commit if head and same and finished else None
    return ProfileReport(profile=measured, session=session.id, event=event.seq, verified=verified)
