"""The life of a host: it takes the session, listens, works, and ends when it is not needed any more."""

from __future__ import annotations

import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from harness import __version__
from harness.agent_sandbox import AgentSandbox
from harness.errors import SessionError, SessionLocked
from harness.farm import VARIABLE
from harness.farm.engine import Engine
from harness.host.answering import Answering
from harness.host.calls import Calls
from harness.host.interrupts import InterruptibleVerifier, Interrupts
from harness.host.jobs import HostLock, Jobs
from harness.host.protocol import RELEASE, SOCKET, OtherVersion, address, described, is_bug, receive, send
from harness.operations.spreading import engine_on
from harness.record import directory as directories
from harness.record.directory import SessionDirectory
from harness.session.session import Session, Verifier, VerifierFactory, levels_verifier
from harness.support.files import storing
from harness.support.progress import Progress
from harness.task.load import load_task

IDLE_S = 600.0
TAKE_S = 30.0
"""How long a host waits for one that is ending, or for a reader that looks at the lock."""
PAUSE_S = 0.02
LOOK_S = 0.5
CALL_S = 60.0
"""How long a client may take to say what it wants, and to take the answer."""
CONNECTIONS = 128
AGAIN_S = 10
"""How long after SIGTERM the end is asked for again, where it was not heard."""
LOG_BYTES = 1 << 20


class Host:
    """One host, made in the main thread. `begin` takes the session and listens; `serve` works until the end."""

    def __init__(
        self, which: str, home: Path, *, idle_s: float = IDLE_S, verifier: VerifierFactory | None = None
    ) -> None:
        self._home = home
        self._found = directories.find(home, which)
        self._idle_s = idle_s
        self._make_verifier = verifier
        self._engine: Engine | None = None
        self._guard = threading.Condition()
        self._active = 0
        self._ending = False
        self._last = time.monotonic()
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._held = ExitStack()

    def begin(self) -> bool:
        """Take the session and listen. Returns False if another host serves it.

        Raises:
            SessionLocked: something else holds the session.
            SessionError, RecordError: it cannot be opened.
        """
        lock = HostLock(self._found)
        self._held.callback(lock.release)
        deadline = time.monotonic() + TAKE_S
        while not lock.take():
            if _answers(self._found):
                return False
            if time.monotonic() >= deadline:
                raise SessionLocked(
                    "another host of this session neither answers nor ends",
                    where=str(self._found.path),
                    next_step="end it; host.log says what it did last, and its record stays valid",
                )
            time.sleep(PAUSE_S)
        self._jobs = Jobs(self._found, lock.token)
        self._interrupts = Interrupts()
        self._calls = self._opened()
        self._listener = self._held.enter_context(_listen(self._found))
        self._held.callback(self._leave)
        self._held.callback(self._jobs.abandon)
        signal.signal(signal.SIGTERM, self._terminate)
        signal.signal(signal.SIGALRM, self._terminate)
        return True

    def _opened(self) -> Answering:
        """The calls of the session, which is open from now on."""

        def broken() -> None:
            self._end(forced=True)

        if self._found.specification:
            from harness.host.specification_calls import SpecificationCalls  # with it comes all that judges
            from harness.specification.record import SpecificationRecord

            record = self._held.enter_context(SpecificationRecord(self._found))
            return SpecificationCalls(record, self._home, self._jobs, self._interrupts, self._work.put, broken)
        session = self._held.enter_context(Session.open(self._found.id, self._home, verifier=self._verifier))
        task = load_task(session.task_directory)
        agent_sandbox = self._held.enter_context(AgentSandbox(session, task, session.driver()))
        return Calls(session, self._home, agent_sandbox, self._jobs, self._interrupts, self._work.put, broken)

    def serve(self) -> None:
        """Work until the host is released, or nobody has asked for long."""
        try:
            with self._held:
                self._work_on()
        finally:
            signal.alarm(0)  # while Python ends it would kill the process

    def _work_on(self) -> None:
        threading.Thread(target=self._accept, name="accept", daemon=True).start()
        while not self._ending:
            with suppress(queue.Empty):
                work = self._work.get(timeout=min(LOOK_S, self._idle_s))
                if work is not None:
                    work()
                self._last = time.monotonic()
            _cap_log()
            if time.monotonic() - self._last >= self._idle_s:
                self._end()

    def close(self) -> None:
        """Let go of everything, for a host that does not serve."""
        self._held.close()

    def _verifier(self, task_directory: Path, progress: Progress) -> Verifier:
        def make() -> Verifier:
            if self._make_verifier is not None:
                return self._make_verifier(task_directory, progress)
            with SessionView(self._found.id, self._home) as view:
                sandbox = view.driver().name
            if self._engine is None:
                self._engine = self._held.enter_context(engine_on(os.environ.get(VARIABLE)))
            return levels_verifier(task_directory, progress, sandbox, prepare=True, engine=self._engine)

        from harness.session.view import SessionView

        return InterruptibleVerifier(make, self._interrupts)

    def _end(self, *, forced: bool = False) -> None:
        """Begin the end, unless somebody needs this host."""
        with self._guard:
            if forced or (not self._active and not self._jobs.running):
                self._ending = True
                # Whoever is hung up on without an answer sees that the socket is gone, and asks the next host.
                self._leave()

    def _terminate(self, *_: object) -> None:
        """Leave at once. Where Python ignores exceptions (in a finalizer) this one is lost: `serve` sees that the end has
        begun, and work that goes on is left at the next alarm."""
        self._ending = True
        signal.alarm(AGAIN_S)
        sys.exit(0)

    def _leave(self) -> None:
        with suppress(FileNotFoundError):
            (self._found.path / SOCKET).unlink()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(CALL_S)
            try:
                message = receive(connection)
            except SessionError as error:
                send(connection, {"error": described(error)})
                return
            if message is None:
                return
            if message.get("call") == RELEASE:
                self._release(connection)
                return
            with self._guard:
                if self._ending:
                    return
                self._active += 1
            try:
                answer = self._answer(message)
                try:
                    send(connection, answer)
                except SessionError as error:
                    send(connection, {"error": described(error)})
            finally:
                with self._guard:
                    self._active -= 1
                    self._last = time.monotonic()
                    self._guard.notify_all()

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            if message.get("version") != __version__:
                raise OtherVersion(
                    f"the session is held by Lockstep {__version__}, and the call came from {message.get('version')}"
                )
            call, arguments, client = (message.get(name) for name in ("call", "arguments", "client"))
            if not (isinstance(call, str) and isinstance(arguments, dict) and isinstance(client, str)):
                raise SessionError("the message is not a call", expected="call, arguments and client")
            return {"result": self._calls.answer(call, arguments, client)}
        except Exception as error:
            if is_bug(error):
                traceback.print_exc()
            return {"error": described(error)}

    def _release(self, connection: socket.socket) -> None:
        with self._guard:
            self._guard.wait_for(lambda: not self._active, CALL_S / 2)
            running = self._jobs.running
            self._end()
            ending = self._ending
        if ending:
            send(connection, {"result": {"released": True}})
            self._work.put(None)
            return
        named = "; ".join(f"{job.operation} {job.id}" + (f" of {job.client}" if job.client else "") for job in running)
        busy = SessionLocked(
            f"the session's host is busy: {named or 'a call is being answered'}",
            where=self._found.id,
            next_step="wait until it has ended, or cancel it",
        )
        send(connection, {"error": busy.as_json()})


def _listen(found: SessionDirectory) -> socket.socket:
    """The socket, for its owner alone. The lock is held, so one that is there belongs to a host that was killed."""
    with storing(found.path / SOCKET):
        with suppress(FileNotFoundError):
            (found.path / SOCKET).unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        before = os.umask(0o177)
        try:
            with address(found) as path:
                listener.bind(path)
            listener.listen(CONNECTIONS)
        except BaseException:
            listener.close()
            raise
        finally:
            os.umask(before)
    return listener


def _answers(found: SessionDirectory) -> bool:
    """Whether a host listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as connection, address(found) as path:
        return connection.connect_ex(path) == 0


def _cap_log() -> None:
    """Standard error is the log, opened for appending."""
    with suppress(OSError):
        if os.fstat(2).st_size > LOG_BYTES:
            os.ftruncate(2, 0)
