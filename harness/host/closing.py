"""What is kept of a call once it is done: its event in the record, and the end of its job."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Protocol

from harness.errors import RecordError, SessionError
from harness.host.jobs import VERIFY, Job, Jobs
from harness.host.protocol import described, is_bug
from harness.record.event import Event

MAX_ARGUMENT = 2000
"""Longer texts are cut in events, with the digest of the whole."""


class Recording(Protocol):
    """A session, as far as calls are recorded in it."""

    def record(
        self,
        kind: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        outcome: str = "",
        detail: Mapping[str, Any] | None = None,
        duration_s: float = 0.0,
        with_tree: bool = False,
    ) -> Event:
        """Record what was done."""
        ...


class Closing:
    """Writes how calls ended.

    Args:
        session: whose record gets the events.
        jobs: where jobs are kept.
        broken: called when a job's end could not be written; the host then ends, and the job counts as lost.
    """

    def __init__(self, session: Recording, jobs: Jobs, broken: Callable[[], None]) -> None:
        self._session = session
        self._jobs = jobs
        self._broken = broken

    def record(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        outcome: str,
        client: str,
        began: float,
        *,
        job: str | None = None,
        tree: bool = False,
    ) -> None:
        """An event of what was done. It is done: that it cannot be recorded is said in the log, and undoes nothing.

        Args:
            began: when, by `time.monotonic()`.
            tree: keep the workspace as it is now with it.
        """
        detail = {"client": client} | ({} if job is None else {"job": job})
        duration_s = time.monotonic() - began
        try:
            self._session.record(
                kind,
                arguments=shortened(arguments),
                outcome=outcome,
                detail=detail,
                duration_s=duration_s,
                with_tree=tree,
            )
        except Exception:  # a bug, too: the job's end has still to be written
            traceback.print_exc()

    def end(self, job: Job, state: str, **how: Any) -> None:
        """The end of a job (`Jobs.end`)."""
        try:
            self._jobs.end(job, state, **how)
        except RecordError:
            traceback.print_exc()
            self._broken()


def shortened(value: Any) -> Any:
    """Arguments for a job or an event: long texts are cut, with the digest of the whole."""
    if isinstance(value, str):
        if len(value) <= MAX_ARGUMENT:
            return value
        digest = sha256(value.encode(errors="replace")).hexdigest()
        return f"{value[:MAX_ARGUMENT]}[cut: {len(value)} characters, SHA-256 {digest}]"
    if isinstance(value, Mapping):
        whole = json.dumps(value)
        return value if len(whole) <= MAX_ARGUMENT else {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        whole = json.dumps(value)
        return value if len(whole) <= MAX_ARGUMENT else shortened(whole)
    return value


def cancellation(job: Job) -> dict[str, str]:
    """What a job that was cancelled says."""
    explained = (
        "the attempt stands in the log as interrupted"
        if job.operation == VERIFY
        else "it was ended with all its processes"
    )
    return SessionError(f"this {job.operation} was cancelled: {explained}", where=job.id).as_json()


def failure(error: Exception) -> dict[str, str]:
    """What a job that failed says; a bug of Lockstep goes to the log with its traceback."""
    if is_bug(error):
        traceback.print_exc()
    return described(error)
