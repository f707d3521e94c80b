"""Jobs: what a host was asked to do, in one file for each, so that the answer outlives client, server and host.

::

    <session>/jobs/<n>.json     one job, replaced as a whole whenever it changes
              host.lock         locked as long as a host runs; holds the host's token

A job that says `running` is believed only while the very host that wrote it holds `host.lock`: the kernel lets go of
it however a host ends, so nothing is ever taken for running because of a file that was left behind.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import RecordError, SessionError
from harness.record import directory as directories
from harness.record.directory import SessionDirectory
from harness.record.event import now
from harness.support.document import MAX_SHOWN, Document, DocumentError, text
from harness.support.files import clear_temporaries, storing, write_durably
from harness.support.foreign import json_of
from harness.support.home import lockstep_home

VERIFY, COMPARE, PROFILE, REPLAY, RUN_COMMAND = "verify", "compare", "profile", "replay", "run_command"
SPEC = "spec"
"""What a job may be."""

RUNNING = "running"
DONE = "done"
FAILED = "failed"
CANCELLED = "cancelled"
LOST = "lost"
"""Its host ended before it did."""
STATES = (RUNNING, DONE, FAILED, CANCELLED, LOST)

JOBS = "jobs"
HOST_LOCK = "host.lock"
KEPT = 1000
"""As many finished jobs of a session are kept; older ones are forgotten when a host starts."""
PROGRESS_S = 0.25
"""Progress is written at most this often."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    Attributes:
        id: `<session>.<n>`, so that its session is found from it.
        operation, arguments: what was asked; `client` by whom.
        state: `running`, `done`, `failed`, `cancelled` or `lost`.
        what, done, total: how far it is.
        started, ended: ISO 8601 in UTC.
        result: the document that it came to; of a cancelled command, what it had printed.
        error: `LockstepError.as_json()`, unless it is running or done.
        host: the token of the host that runs it.
    """

    id: str
    session: str
    operation: str
    arguments: dict[str, Any]
    state: str
    client: str
    started: str
    what: str = ""
    done: int = 0
    total: int = 0
    ended: str | None = None
    result: dict[str, Any] | None = None
    error: dict[str, str] | None = None
    host: str = field(default="", repr=False)

    @property
    def number(self) -> int:
        """Its number in the session."""
        return int(self.id.rpartition(".")[2])

    @property
    def finished(self) -> bool:
        """Whether nothing of it will change any more."""
        return self.state != RUNNING

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description from which `from_json` makes an equal job."""
        return asdict(self)

    @classmethod
    def from_json(cls, described: object, kind: str = "job") -> Job:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        identifier, state = document.text("id"), document.text("state")
        if not re.fullmatch(r".+\.[0-9]{1,7}", identifier, re.DOTALL):
            raise DocumentError(f"{kind}.id is {identifier[:MAX_SHOWN]!r}; expected SESSION.NUMBER")
        if state not in STATES:
            raise DocumentError(f"{kind}.state is {state[:MAX_SHOWN]!r}; expected one of {', '.join(STATES)}")
        return cls(
            id=identifier,
            session=document.text("session"),
            operation=document.text("operation"),
            arguments=dict(document.object("arguments").content),
            state=state,
            client=document.text("client"),
            started=document.text("started"),
            what=document.text("what"),
            done=document.whole("done"),
            total=document.whole("total"),
            ended=document.text_or_none("ended"),
            result=dict(document.object("result").content) if document.content.get("result") is not None else None,
            error=document.mapping("error", text) if document.content.get("error") is not None else None,
            host=document.text("host"),
        )


def read(job_id: str, home: Path | None = None) -> Job:
    """A job as its file tells it; no host is needed.

    Raises:
        SessionError: there is no such session or job.
        RecordError: its file is damaged.
    """
    session, _, number = job_id.rpartition(".")
    # Seven digits are more than any session has; a longer number would only be a strange name for a file.
    if not session or not re.fullmatch(r"[0-9]{1,7}", number):
        raise SessionError(f"{job_id!r} is not a job", expected="an id such as a call has handed out: SESSION.NUMBER")
    found = directories.find(home or lockstep_home(), session)
    path = found.path / JOBS / f"{int(number)}.json"
    job = _load(path, job_id)
    if not job.finished and host_token(found) != job.host:
        # It may have ended, and its host with it, since the file was read.
        job = _load(path, job_id)
        job = job if job.finished else lost(job)
    return job


def recent(found: SessionDirectory, count: int = 20) -> list[Job]:
    """The newest jobs of a session that can be read, newest first."""
    jobs = []
    for number in sorted(_numbers(found.path / JOBS), reverse=True)[:count]:
        with suppress(SessionError, RecordError):
            jobs.append(read(f"{found.id}.{number}", found.path.parent.parent))
    return jobs


def lost(job: Job) -> Job:
    """A running job whose host is gone."""
    explained = {
        VERIFY: "the attempt stands in the log as interrupted, and every commit made before is there",
        SPEC: "everything recorded before is there, and asked for again it goes on from where it was",
        RUN_COMMAND: "the command was ended with everything that it had started; what it had written is there",
    }
    error = SessionError(
        f"the session's host ended while this {job.operation} ran",
        where=job.id,
        expected=explained.get(job.operation, "nothing was changed by it"),
        next_step="look at the session's status, and ask again: that starts another host",
    )
    return replace(job, state=LOST, ended=now(), error=error.as_json())


def host_token(found: SessionDirectory) -> str | None:
    """The token of the host that runs now; None if none does."""
    with suppress(FileNotFoundError):
        descriptor = os.open(found.path / HOST_LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.pread(descriptor, 64, 0).decode(errors="replace")
        finally:
            os.close(descriptor)
    return None


class HostLock:
    """Held by the one host of a session from its start to its end. `taken` says whether this process is it."""

    def __init__(self, found: SessionDirectory) -> None:
        self.token = secrets.token_hex(8)
        path = found.path / HOST_LOCK
        with storing(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    def take(self) -> bool:
        """Try once. A reader that looks whether a host runs holds it for a moment too, so one try proves nothing."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, self.token.encode(), 0)
        return True

    def release(self) -> None:
        """Let another host begin."""
        os.close(self._descriptor)


class Jobs:
    """The jobs of a session, for the host that writes them. Methods may be called from any thread."""

    def __init__(self, found: SessionDirectory, token: str) -> None:
        """Take over what an earlier host left: its running jobs are lost.

        Raises:
            RecordError: the directory cannot be read or written.
        """
        self._session = found.id
        self._directory = found.path / JOBS
        self._token = token
        self._guard = threading.RLock()
        self._current: dict[str, Job] = {}
        self._written: dict[str, float] = {}
        with storing(self._directory):
            self._directory.mkdir(mode=0o700, exist_ok=True)
            clear_temporaries(self._directory)
            numbers = sorted(_numbers(self._directory))
            self._next = max(numbers, default=0) + 1
            for number in numbers[:-KEPT]:
                (self._directory / f"{number}.json").unlink()
        for number in numbers[-KEPT:]:
            with suppress(RecordError, SessionError):
                job = _load(self._directory / f"{number}.json", f"{found.id}.{number}")
                if not job.finished:
                    self._write(lost(job))

    @property
    def running(self) -> list[Job]:
        """What runs now, oldest first."""
        with self._guard:
            return list(self._current.values())

    def begin(self, operation: str, arguments: Mapping[str, Any], client: str) -> Job:
        """A new running job, in its file before anything of it is done.

        Raises:
            RecordError: the file cannot be written.
        """
        with self._guard:
            job = Job(
                id=f"{self._session}.{self._next}",
                session=self._session,
                operation=operation,
                arguments=dict(arguments),
                state=RUNNING,
                client=client,
                started=now(),
                host=self._token,
            )
            self._write(job)
            self._next += 1
            self._current[job.id] = job
            return job

    def get(self, job_id: str) -> Job | None:
        """The job as it is now, if it runs."""
        with self._guard:
            return self._current.get(job_id)

    def progress(self, job: Job, what: str, done: int, total: int) -> None:
        """Say how far a job is; written now and then. A full disk does not end the job for that."""
        with self._guard:
            current = self._current.get(job.id)
            if current is None:
                return
            self._current[job.id] = current = replace(current, what=what, done=done, total=total)
            if time.monotonic() - self._written.get(job.id, 0.0) >= PROGRESS_S:
                self._written[job.id] = time.monotonic()
                with suppress(RecordError):
                    self._write(current)

    def end(
        self, job: Job, state: str, *, result: dict[str, Any] | None = None, error: dict[str, str] | None = None
    ) -> Job:
        """The end of a job; further ends of the same one change nothing.

        Raises:
            RecordError: the file cannot be written; the job counts as lost once this host ends.
        """
        with self._guard:
            current = self._current.pop(job.id, None)
            self._written.pop(job.id, None)
            if current is None:
                return job
            ended = replace(current, state=state, ended=now(), result=result, error=error)
            self._write(ended)
            return ended

    def abandon(self) -> None:
        """Leave every running job as it stands: its host ends, so it is lost, whatever its processes still say."""
        with self._guard:
            self._current.clear()
            self._written.clear()

    def _write(self, job: Job) -> None:
        content = json.dumps(job.to_json(), ensure_ascii=False).encode("utf-8", "surrogatepass")
        write_durably(self._directory / f"{job.number}.json", content, 0o600)


def _numbers(directory: Path) -> list[int]:
    return [int(path.stem) for path in directory.glob("*.json") if path.stem.isdigit()] if directory.is_dir() else []


def _load(path: Path, job_id: str) -> Job:
    try:
        return Job.from_json(json_of(path.read_bytes()))
    except FileNotFoundError:
        raise SessionError(
            f"there is no job {job_id!r}",
            expected=f"one of the session's newest {KEPT}",
            next_step="look at the session's history: what was judged stands there",
        ) from None
    except (OSError, ValueError) as error:
        raise RecordError(
            f"the job cannot be read: {error}",
            where=str(path),
            next_step="look at the session's history: what was judged stands there",
        ) from error
