"""One command in the agent's sandbox, which can be cancelled and whose output is bounded from both ends."""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.agent_sandbox.sandbox import AgentSandbox
from sandboxes.base import STDERR_TAIL_BYTES, Running

KEPT_BYTES = 128 << 10
"""As much of standard output is kept, half of it from the beginning and half from the end."""
WALL = "wall_seconds"
CANCELLED = "cancelled"
_CHUNK = 1 << 16
_LOOK_S = 0.05
"""A command that has closed its output is looked at this often."""
_DRAIN_S = 2.0
_LAST_READS = 16


@dataclass(frozen=True)
class CommandResult:
    """How a command ended. `exit_code` is None where the sandbox ended it, and `killed_by` then says why: the name of a
    limit, `cancelled`, or `caller` where the sandbox was closed."""

    exit_code: int | None
    killed_by: str | None
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    duration_s: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return dict(vars(self)) | {"duration_s": round(self.duration_s, 3)}


class Cancel:
    """Asks for the end of one command, from any thread."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._guard = threading.Lock()
        self.asked = False

    def ask(self) -> None:
        """End it; further calls do nothing."""
        with self._guard:
            if not self.asked and self._writer >= 0:
                self.asked = True
                os.write(self._writer, b"!")

    def close(self) -> None:
        """The command has ended."""
        with self._guard:
            os.close(self.reader)
            os.close(self._writer)
            self._writer = -1


def run(
    agent_sandbox: AgentSandbox,
    command: str | Sequence[str],
    *,
    timeout_s: float,
    stdin: str = "",
    cancel: Cancel,
    progress: Callable[[str], None] = lambda line: None,
) -> CommandResult:
    """Run a command to its end, for `timeout_s` seconds at most.

    Args:
        command: a program with its arguments, or a line for `sh`.
        stdin: what it reads.
        cancel: asks for an end before its own.
        progress: called with the last line that it printed.

    Raises:
        SandboxError: the sandbox failed, which says nothing of the command.
        SessionError: the workspace cannot be mounted.
    """
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    began = time.monotonic()
    running = agent_sandbox.sandbox.spawn(argv, environment=agent_sandbox.environment)
    kept = _BothEnds(KEPT_BYTES)
    try:
        threading.Thread(target=_feed, args=(running, stdin.encode()), daemon=True).start()
        ended_by = _drain(running, kept, began + timeout_s, cancel, progress)
        exit_code = running.poll() if ended_by is None else None
        killed_by = ended_by or running.killed_by
        stderr = running.stderr_tail()
    finally:
        running.kill()
    return CommandResult(
        exit_code=exit_code if killed_by is None else None,
        killed_by=killed_by,
        stdout=kept.text(),
        stderr=stderr,
        stdout_truncated=kept.dropped > 0,
        stderr_truncated=len(stderr.encode(errors="replace")) >= STDERR_TAIL_BYTES,
        duration_s=time.monotonic() - began,
    )


class _BothEnds:
    """The beginning and the end of a stream."""

    def __init__(self, room: int) -> None:
        self._half = room // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        surplus = max(0, len(self._tail) - self._half)
        self.dropped += surplus
        del self._tail[:surplus]

    def last_line(self) -> str:
        """The newest line that is complete or not."""
        newest = bytes((self._tail or self._head)[-400:]).decode(errors="replace")
        return next((line for line in reversed(newest.splitlines()) if line.strip()), "")

    def text(self) -> str:
        note = f"\n[... {self.dropped} bytes are left out here ...]\n" if self.dropped else ""
        if note:
            return self._head.decode(errors="replace") + note + self._tail.decode(errors="replace")
        return (self._head + self._tail).decode(errors="replace")


def _drain(
    running: Running, kept: _BothEnds, deadline: float, cancel: Cancel, progress: Callable[[str], None]
) -> str | None:
    """Take what comes until the command has ended. Returns why it was ended here, or None where it ended without us."""
    flowing = True
    drained_by: float | None = None
    with selectors.DefaultSelector() as selector, contextlib.suppress(ValueError):
        selector.register(cancel.reader, selectors.EVENT_READ)
        selector.register(running.stdout.fileno(), selectors.EVENT_READ)
        while True:
            if cancel.asked or time.monotonic() >= deadline:
                # What it has said until now is worth having; more than fits into its pipe is not waited for.
                for _ in range(_LAST_READS if flowing else 0):
                    if not any(key.fd != cancel.reader for key, _ in selector.select(0)):
                        break
                    kept.add(running.stdout.read(_CHUNK) or b"")
                running.kill()
                return CANCELLED if cancel.asked else WALL
            ended = running.poll() is not None or running.killed_by is not None
            if ended and not flowing:
                return None
            if ended:
                # All of its processes are gone: what is still in the pipe comes at once, or belongs to nobody.
                drained_by = drained_by or time.monotonic() + _DRAIN_S
                if time.monotonic() >= drained_by:
                    return None
            ready = selector.select(_LOOK_S)
            if not any(key.fd != cancel.reader for key, _ in ready):
                continue
            data = running.stdout.read(_CHUNK)
            if data:
                kept.add(data)
                progress(kept.last_line())
            elif flowing:
                flowing = False
                selector.unregister(running.stdout.fileno())
    # The sandbox was closed, and with it the pipes.
    return None


def _feed(running: Running, data: bytes) -> None:
    """Write the input and close it; a command that does not read it, or has ended, is no error."""
    with contextlib.suppress(OSError, ValueError):
        view = memoryview(data)
        while view:
            view = view[running.stdin.write(view) or 0 :]
    with contextlib.suppress(OSError, ValueError):
        running.stdin.close()
