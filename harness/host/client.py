"""Asking the host of a session, which is started where none runs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness import operations
from harness.errors import EnvironmentFailure, LockstepError, SessionError
from harness.host import jobs
from harness.host.protocol import RELEASE, OtherVersion, address, rebuilt, receive, request, send
from harness.record import directory as directories
from harness.record.directory import SessionDirectory
from harness.support.home import lockstep_home

START_S = 60.0
"""How long a host may take to be ready: it imports the verifier, and recovers what a killed one left."""
ANSWER_S = 60.0
"""How long an answer may take. Calls are quick; a big write to a slow disk is the slowest."""
PAUSE_S = 0.02
LOG = "host.log"
LOG_TAIL = 2000


def ask(
    session: str, call: str, arguments: Mapping[str, Any] | None = None, *, home: Path | None = None, client: str = ""
) -> dict[str, Any]:
    """Ask the host of a session, starting it if none runs; API and calls: `harness.host.calls`.

    `status`, `history` and `explain` are answered from the record where no host runs.

    Raises:
        SessionLocked: something else holds the session.
        LockstepError: whatever the host answered, of the same class and with the same words; SessionError when it
            belongs to another version and is busy, EnvironmentFailure when it cannot be started or broke off.
    """
    home = (home or lockstep_home()).resolve()
    found = directories.find(home, session)
    given = dict(arguments or {})
    deadline = time.monotonic() + START_S
    replaced = False
    while True:
        try:
            answer = _exchange(found, request(call, given, client))
        except (FileNotFoundError, ConnectionRefusedError):
            if call in operations.READING:
                return operations.READING[call](found.id, home=home, **given)
            _start(found, home)
            if time.monotonic() >= deadline:
                raise _no_host(found, "no host became ready") from None
            continue
        if "error" not in answer:
            return answer["result"]
        error = rebuilt(answer["error"])
        if not isinstance(error, OtherVersion) or replaced:
            raise error
        replaced = True
        try:
            release(found.id, home)
        except SessionError as busy:
            raise SessionError(
                f"{error.what}, and it is busy: {busy.what}",
                where=found.id,
                expected="one version of Lockstep on a session at a time",
                next_step="wait until its job has ended, or cancel that with the version that began it",
            ) from error


def release(session: str, home: Path | None = None) -> bool:
    """Have an idle host end; when this returns, its lock is free.

    Returns False when none runs.

    Raises:
        SessionError: a job runs, which is named.
    """
    home = (home or lockstep_home()).resolve()
    found = directories.find(home, session)
    try:
        answer = _exchange(found, request(RELEASE, {}, ""))
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    if "error" in answer:
        raise rebuilt(answer["error"])
    deadline = time.monotonic() + ANSWER_S
    while jobs.host_token(found) is not None:
        if time.monotonic() >= deadline:
            raise _no_host(found, "the host said that it ends, and did not")
        time.sleep(PAUSE_S)
    return True


def end(session: str, home: Path | None = None) -> None:
    """Have a session's host end whatever it is at, which loses no verified commit; nothing happens where none runs.

    Raises:
        SessionError: a job did not end although it was cancelled.
    """
    home = (home or lockstep_home()).resolve()
    found = directories.find(home, session)
    deadline = time.monotonic() + ANSWER_S
    while jobs.host_token(found) is not None:
        for job in jobs.recent(found):
            if job.state == jobs.RUNNING:
                with suppress(FileNotFoundError, ConnectionRefusedError):
                    _exchange(found, request("cancel", {"job": job.id}, ""))
        try:
            release(found.id, home)
        except SessionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(PAUSE_S)


def _exchange(found: SessionDirectory, message: Mapping[str, Any]) -> dict[str, Any]:
    """One call. Raises FileNotFoundError or ConnectionRefusedError where no host takes it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as connection:
        connection.settimeout(ANSWER_S)
        with address(found) as path:
            connection.connect(path)
        try:
            send(connection, message)
            answer = receive(connection)
        except TimeoutError:
            raise EnvironmentFailure(
                f"the session's host did not answer within {ANSWER_S:.0f} s",
                where=found.id,
                next_step="ask for the session's status; if that does not answer either, end the host",
            ) from None
        except (ConnectionResetError, BrokenPipeError):
            answer = None
    if answer is None:
        if message["call"] in operations.READING or _never_taken(found):
            raise ConnectionRefusedError  # it ended before it had looked at the call: the next host takes it
        raise EnvironmentFailure(
            f"the session's host ended before it answered {message['call']}",
            where=found.id,
            next_step="look at the session's status for what was done, then ask again: that starts another host",
        )
    return answer


def _never_taken(found: SessionDirectory) -> bool:
    """Whether a host that hung up was one that was ending: it takes its socket away first."""
    with address(found) as path:
        return not os.path.exists(path)


def _start(found: SessionDirectory, home: Path) -> None:
    """Start a host and wait until one is ready: this one, or one that somebody else started meanwhile.

    Raises:
        LockstepError: why it could not begin.
    """
    log = found.path / LOG
    with open(log, "ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.host", found.id, "--home", str(home)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd="/",
            env=os.environ | {"LOCKSTEP_HOME": str(home)},
            start_new_session=True,
        )
        # The process becomes two, and the one that is our child ends at once: no zombie is left to anybody.
        process.wait()
    assert process.stdout is not None
    with process.stdout as ready:
        said = ready.readline()
    with suppress(ValueError):
        answer = json.loads(said)
        if "error" in answer:
            raise rebuilt(answer["error"])
        return
    raise _no_host(found, "the host could not be started")


def _no_host(found: SessionDirectory, what: str) -> LockstepError:
    log = found.path / LOG
    tail = ""
    with suppress(OSError):
        tail = log.read_bytes()[-LOG_TAIL:].decode(errors="replace").strip()
    return EnvironmentFailure(
        f"{what}{': ' + tail.splitlines()[-1] if tail else ''}",
        where=str(log),
        next_step="read that log; everything recorded is still there",
    )
