"""A spawned command that talks over its pipes while its standard error is drained beside it."""

from __future__ import annotations

import threading
from io import FileIO

from .base import CALLER, STDERR_TAIL_BYTES
from .errors import SandboxFailed
from .execution import Outcome, Supervised

_DRAIN_GRACE_S = 2.0


class Worker:
    """`Running` for drivers that use a supervisor. Methods may be called from any thread."""

    def __init__(self, supervised: Supervised) -> None:
        """Take over a command that was just started. Raises SandboxFailed when it could not be."""
        self._supervised = supervised
        self._tail = bytearray()
        self._tail_lock = threading.Lock()
        self._drain = threading.Thread(target=self._drain_stderr, name="sandbox-stderr", daemon=True)
        self._drain.start()
        try:
            pid = supervised.started()
        except BaseException:
            # An interruption while we wait: nobody else knows of the command yet, so nobody else would end it.
            supervised.end(CALLER)
            raise
        if pid is None:
            outcome = supervised.end(CALLER)
            supervised.close_pipes()
            raise SandboxFailed(outcome.failure or "the supervisor ended before it had started the command")
        self.pid = pid
        assert supervised.stdin is not None
        self.stdin: FileIO = supervised.stdin
        self.stdout: FileIO = supervised.stdout

    @property
    def killed_by(self) -> str | None:
        """The limit that ended it, `"caller"`, or None."""
        outcome = self._supervised.outcome()
        return None if outcome is None else outcome.killed_by

    def stderr_tail(self) -> str:
        """The last `STDERR_TAIL_BYTES` of standard error, undecodable bytes replaced."""
        if self._supervised.outcome() is not None:
            self._drain.join(_DRAIN_GRACE_S)
        with self._tail_lock:
            return self._tail.decode(errors="replace")

    def poll(self) -> int | None:
        """The exit code, or None; see `Running.poll`. Raises SandboxFailed."""
        return self._exit_code(self._supervised.outcome())

    def wait(self, timeout: float | None = None) -> int | None:
        """`poll` after waiting at most `timeout` seconds for the end. Raises SandboxFailed."""
        return self._exit_code(self._supervised.wait(timeout))

    def ask_to_end(self) -> None:
        """Begin what `kill` completes, so that many can be ended at once."""
        self._supervised.ask_to_end(CALLER)

    def kill(self) -> None:
        """End it with everything that it started, wait until that is gone, and close the pipes."""
        self._supervised.end(CALLER)
        self._drain.join(_DRAIN_GRACE_S)
        self._supervised.close_pipes()

    def _exit_code(self, outcome: Outcome | None) -> int | None:
        if outcome is None:
            return None
        if outcome.failure is not None:
            raise SandboxFailed(f"{outcome.failure}: {self.stderr_tail().strip()[-500:]}")
        return outcome.exit_code

    def _drain_stderr(self) -> None:
        while chunk := self._supervised.stderr.read(STDERR_TAIL_BYTES):
            with self._tail_lock:
                self._tail += chunk
                del self._tail[:-STDERR_TAIL_BYTES]
