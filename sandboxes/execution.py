"""The harness's end of one supervised command: start the supervisor, feed it, read it, end it.

    harness ──control, report──▶ supervisor (_supervisor/) ──▶ the command and all that it starts
       └──────────────stdin, stdout, stderr──────────────────────────┘

Closing the control pipe ends the tree; so does the death of this process, since the kernel closes it then.
The supervisor answers on the report pipe, and its exit says that nothing of the tree is left.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
import time
from dataclasses import dataclass
from fcntl import F_SETPIPE_SZ, fcntl
from io import FileIO
from typing import cast

from ._supervisor.job import OWNER, Job
from .base import CALLER, Finished
from .errors import SandboxFailed
from .launch import Ends, Here, Launch

END_GRACE_S = 30.0
"""How long ending a tree may take before the supervisor counts as lost: freeing an accelerator's or a very
large process's memory can take the kernel seconds."""

_DRAIN_GRACE_S = 2.0
"""How long a pipe is still read after the tree is gone; it only stays open if someone outside was handed
it."""

_WALL = "wall_seconds"
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """How a supervised tree ended: exactly one of the three is set."""

    exit_code: int | None = None
    killed_by: str | None = None
    failure: str | None = None


class Supervised:
    """One command under its supervisor, with the near ends of its pipes. Safe to end from any thread."""

    def __init__(self, job: Job, *, stdin: bool, launch: Launch = Here) -> None:
        """Start it; without `stdin` the command reads an empty input. Raises SandboxFailed."""
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._outcome: Outcome | None = None
        self._report = b""
        far: list[int] = []
        # Objects, not numbers: dropped without `end`, the control pipe closes and so ends the tree.
        self.stdin = _pipe(far, "w") if stdin else _empty(far)
        self.stdout = _pipe(far, "r")
        self.stderr = _pipe(far, "r")
        self._control = _pipe(far, "w", wide=False)
        self._reports = _pipe(far, "r", wide=False)
        try:
            self._launched = launch(Ends(*far), job)
        except SandboxFailed:
            self.close_pipes()
            self._control.close()
            self._reports.close()
            raise
        finally:
            for fd in far:
                os.close(fd)
        # A supervisor that is gone already says why, or leaves no report, which is found in `outcome`.
        with contextlib.suppress(BrokenPipeError):
            _write_all(self._control, job.packed())

    def started(self) -> int | None:
        """Wait for the command to be started: the host's pid of its outermost process, or None if it was
        not."""
        while b"\n" not in self._report:
            chunk = self._reports.read(4096)
            if not chunk:
                return None
            self._report += chunk
        status, _, pid = self._report.split(b"\n")[0].partition(b" ")
        return self._launched.host_pid(int(pid)) if status == b"started" else None

    def outcome(self) -> Outcome | None:
        """How it ended, or None while anything of it is left."""
        with self._lock:
            if self._outcome is None and self._launched.ended():
                self._report += self._reports.read()
                self._reports.close()
                self._control.close()
                self._outcome = self._read_report()
            return self._outcome

    def wait(self, timeout: float | None) -> Outcome | None:
        """`outcome`, after waiting for it at most `timeout` seconds."""
        self._launched.wait(timeout)
        return self.outcome()

    def ask_to_end(self, reason: str) -> None:
        """Have the tree ended, without waiting; `reason` is what its outcome then says. The first call
        counts."""
        with self._lock:
            if self._reason is None and self._outcome is None:
                self._reason = reason
                self._control.close()

    def end(self, reason: str) -> Outcome:
        """Have the tree ended and wait until it is gone."""
        self.ask_to_end(reason)
        outcome = self.wait(END_GRACE_S)
        return self.abandon() if outcome is None else outcome

    def abandon(self) -> Outcome:
        """Kill a supervisor that does not answer; what that says about the tree is in the outcome's
        failure."""
        self._launched.kill()
        outcome = self.wait(None)
        assert outcome is not None
        return outcome

    def close_pipes(self) -> None:
        """Close the near ends."""
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()

    def watchable(self) -> int | None:
        """A descriptor, to be closed by the caller, that becomes readable at the end; None if that was
        before."""
        return self._launched.watchable()

    def _read_report(self) -> Outcome:
        last = self._report.decode(errors="replace").splitlines()[-1:] or [""]
        status, _, rest = last[0].partition(" ")
        if status == "exit":
            return Outcome(exit_code=int(rest))
        if status == "killed":
            return Outcome(killed_by=(self._reason or CALLER) if rest == OWNER else rest)
        lost = self._launched.lost()
        return Outcome(failure=rest if status == "failed" else lost)


def communicate(running: Supervised, stdin: bytes, *, timeout: float, keep: int) -> Finished:
    """Feed and drain a command until its end or for `timeout` seconds; keep `keep` bytes of each output.

    Raises SandboxFailed when the sandbox, not the command, was at fault.
    """
    began = time.monotonic()
    outputs = {running.stdout: _Capped(keep), running.stderr: _Capped(keep)}
    try:
        _pump(running, stdin, outputs, began + timeout)
        outcome = running.end(CALLER)
    finally:
        # Also on the way out of an exception (Ctrl-C in the harness): nothing may be left running.
        running.end(CALLER)
        running.close_pipes()
    stdout, stderr = outputs.values()
    if outcome.failure is not None:
        tail = bytes(stderr.kept[-500:]).decode(errors="replace").strip()
        raise SandboxFailed(f"{outcome.failure}: {tail}" if tail else outcome.failure)
    return Finished(
        exit_code=outcome.exit_code,
        stdout=bytes(stdout.kept),
        stderr=bytes(stderr.kept),
        timed_out=outcome.killed_by == _WALL,
        killed_by=outcome.killed_by,
        stdout_truncated=stdout.truncated,
        stderr_truncated=stderr.truncated,
        duration_s=time.monotonic() - began,
    )


class _Capped:
    """The first `room` bytes of a stream."""

    def __init__(self, room: int) -> None:
        self.kept = bytearray()
        self.truncated = False
        self._room = room

    def add(self, data: bytes) -> None:
        room = self._room - len(self.kept)
        self.kept += data[:room]
        self.truncated = self.truncated or len(data) > room


def _pump(running: Supervised, stdin: bytes, outputs: dict[FileIO, _Capped], deadline: float) -> None:
    """Move bytes until the tree is gone and both outputs are at their end."""
    unsent = memoryview(stdin)
    asked = False
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        ended = running.watchable()
        if ended is not None:
            stack.callback(os.close, ended)
            selector.register(ended, selectors.EVENT_READ)
        else:
            deadline = time.monotonic() + _DRAIN_GRACE_S
        alive = ended is not None
        for stream in outputs:
            selector.register(stream, selectors.EVENT_READ)
        flowing = len(outputs)
        pipe = running.stdin
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_WRITE)
        while alive or flowing:
            for key, _ in selector.select(max(0.0, deadline - time.monotonic())):
                if key.fileobj == ended:
                    selector.unregister(key.fileobj)
                    alive = False
                    deadline = time.monotonic() + _DRAIN_GRACE_S
                elif pipe is not None and key.fileobj is pipe:
                    unsent = _feed(pipe, unsent)
                    if not unsent:
                        selector.unregister(pipe)
                        pipe.close()
                else:
                    stream = cast(FileIO, key.fileobj)
                    data = stream.read(_CHUNK)
                    if data:
                        outputs[stream].add(data)
                    else:
                        selector.unregister(stream)
                        flowing -= 1
            if time.monotonic() >= deadline:
                if not alive:
                    return
                if asked:
                    running.abandon()
                running.ask_to_end(_WALL)
                asked = True
                deadline = time.monotonic() + END_GRACE_S


def _feed(pipe: FileIO, unsent: memoryview) -> memoryview:
    """Write what fits; nothing is left to send when the reader is gone, which is the command's own choice."""
    try:
        return unsent[pipe.write(unsent[:_CHUNK]) or 0 :]
    except BrokenPipeError:
        return unsent[:0]


def _write_all(pipe: FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[pipe.write(view) :]


def _pipe(far: list[int], mode: str, *, wide: bool = True) -> FileIO:
    """The near end of a new pipe, which is read from or written to; the far one is added to `far`."""
    reader, writer = os.pipe()
    near, other = (reader, writer) if mode == "r" else (writer, reader)
    far.append(other)
    if wide:
        with contextlib.suppress(OSError):  # Room for a large write, where the kernel allows that.
            fcntl(near, F_SETPIPE_SZ, _CHUNK)
    return FileIO(near, mode)


def _empty(far: list[int]) -> None:
    far.append(os.open(os.devnull, os.O_RDONLY))
