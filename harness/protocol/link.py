"""The way to a worker and back: the bytes of a request go there, and those of its answer come, or what became of it is told.

What the bytes mean is `harness.protocol.channel`'s business. `Pipes` leads to a process of this machine.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import threading
import time
from typing import Protocol

from harness.protocol.worker import MAX_FRAME
from sandboxes import Running, SandboxError
from sandboxes.base import CALLER

PIPE_BYTES = 1 << 20
STDERR_SHOWN = 2000
LOOK_SECONDS = 0.5
"""How often a silent worker is looked at: a process that it left behind may hold the pipe open after its own end."""
LAST_OUTPUT_SECONDS = 3.0
"""How long a worker that closed its pipe may take to end."""
RETURN_SECONDS = 3 * LAST_OUTPUT_SECONDS
"""How long the end of a worker waits for the thread that asks it, which comes back as soon as the worker is gone."""


class Late(Exception):
    """No answer came within the limit."""


class Gone(Exception):
    """The worker ended before it answered; `how`, in words, and its exit `status`, None where it was killed."""

    def __init__(self, how: str, status: int | None = None) -> None:
        super().__init__(how, status)
        self.how, self.status = how, status


class TooLong(Exception):
    """The worker announced an answer of so many bytes, over `MAX_FRAME`."""

    def __init__(self, announced: int) -> None:
        super().__init__(announced)
        self.announced = announced


class Link(Protocol):
    """The way to one worker, used by one thread at a time; `kill` may come from another."""

    def exchange(self, request: bytes, call: str, limit: float) -> bytes:
        """Send a request, and return the answer, both without their length. `call` is what the request asks for.

        Raises:
            Late, Gone, TooLong: there is no answer, and there will be none: the worker has to be killed.
        """
        ...

    def said(self) -> str:
        """The end of what the worker wrote to its standard error, as it came."""
        ...

    @property
    def alive(self) -> bool:
        """Whether the worker still runs."""
        ...

    def kill(self) -> None:
        """End the worker at once."""
        ...


class Pipes:
    """The pipes of a process of this machine, as a sandbox started it."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._asking = threading.Lock()
        self._stdin = running.stdin.fileno()
        self._stdout = running.stdout.fileno()
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream, False)
            try:
                fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            except OSError:
                pass  # a smaller pipe is only slower; the system limits what an ordinary user may take

    def exchange(self, request: bytes, call: str, limit: float) -> bytes:
        """As `Link.exchange`."""
        deadline = time.monotonic() + limit
        with self._asking:
            self._send(struct.pack(">I", len(request)) + request, deadline)
            size = struct.unpack(">I", self._receive(4, deadline))[0]
            if size > MAX_FRAME:
                raise TooLong(size)
            return self._receive(size, deadline)

    def said(self) -> str:
        """As `Link.said`."""
        return self._running.stderr_tail().strip()[-STDERR_SHOWN:]

    @property
    def alive(self) -> bool:
        """As `Link.alive`."""
        return self._status() is None and self._running.killed_by is None

    def kill(self) -> None:
        """As `Link.kill`. The pipes close only when no thread reads: their numbers become others'."""
        self._running.ask_to_end()
        came_back = self._asking.acquire(timeout=RETURN_SECONDS)
        try:
            self._running.kill()
        finally:
            if came_back:
                self._asking.release()

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._stdin, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._stdin, view) :]
            except BrokenPipeError:
                raise self._gone() from None

    def _receive(self, count: int, deadline: float) -> bytes:
        chunks: list[bytes] = []
        while count:
            self._wait(self._stdout, select.POLLIN, deadline)
            chunk = os.read(self._stdout, min(count, PIPE_BYTES))
            if not chunk:
                raise self._gone()
            chunks.append(chunk)
            count -= len(chunk)
        return b"".join(chunks)

    def _wait(self, stream: int, event: int, deadline: float) -> None:
        """Return when the stream is ready. Raises Late, or Gone when the process has ended."""
        poller = select.poll()
        poller.register(stream, event)
        while True:
            left = deadline - time.monotonic()
            if poller.poll(1000 * max(0.0, min(left, LOOK_SECONDS))):
                return
            if self._status() is not None or self._running.killed_by:
                if poller.poll(0):
                    return  # its last words came in between
                raise self._gone()
            if left <= 0:
                raise Late

    def _status(self) -> int | None:
        try:
            return self._running.poll()
        except SandboxError:
            return -1  # the sandbox lost it: gone, one way or another

    def _gone(self) -> Gone:
        try:
            status = self._running.wait(LAST_OUTPUT_SECONDS)
        except SandboxError as error:
            return Gone(f"was lost by its sandbox: {error}")
        killed_by = self._running.killed_by
        return Gone(_ending(status, killed_by), None if killed_by else status)


def _ending(status: int | None, killed_by: str | None) -> str:
    if killed_by == CALLER:
        return "was ended by its owner"
    if killed_by:
        return f"was killed for exceeding its limit on {killed_by}"
    if status is None:
        return "closed its answer stream and went on running"
    if status > 128:
        number = status - 128
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return f"was ended by {name}"
    return f"ended with exit status {status}"
