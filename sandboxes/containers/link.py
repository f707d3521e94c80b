"""The harness's end of the socket to a container's first process (`_supervisor/init.py`).

Commands are started through it with their pipes passed as descriptors, so their bytes never pass through the engine,
and a container goes on while the engine restarts. Closing it ends the container; so does the death of this process.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import socket
import struct
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from .._supervisor import tree
from .._supervisor.job import Job
from ..errors import SandboxFailed
from ..launch import Ends

DOOR = "socket"
"""Name of the socket in the directory that the container sees."""

_READY = b"ready"
_LOOK_MS = 200
_CREDENTIALS = struct.Struct("iII")


class Door:
    """A listening socket in a directory of the host, for one visitor."""

    def __init__(self, directory: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        held = os.open(directory, os.O_PATH | os.O_DIRECTORY)
        try:
            # Through the descriptor: a socket's address is short, and the directory's path need not be.
            self._listener.bind(f"/proc/self/fd/{held}/{DOOR}")
        finally:
            os.close(held)
        # Whoever reaches the directory may knock: that is its container, and its owner.
        (directory / DOOR).chmod(0o666)
        self._listener.listen(1)

    def answer(self, patience_s: float, gone: Callable[[], str | None]) -> Link:
        """The link to the first process that comes, after which nobody else can.

        Raises SandboxFailed when nobody comes within `patience_s`, or when `gone` says that nobody will.
        """
        deadline = time.monotonic() + patience_s
        with self._listener:
            poller = select.poll()
            poller.register(self._listener, select.POLLIN)
            while not poller.poll(_LOOK_MS):
                reason = gone()
                if reason is None and time.monotonic() > deadline:
                    reason = f"it did not answer within {patience_s:.0f} s"
                if reason is not None:
                    raise SandboxFailed(f"docker: the container was started, but {reason}")
            connection, _ = self._listener.accept()
        return Link(connection)

    def close(self) -> None:
        """Take no visitor any more."""
        self._listener.close()


class Link:
    """The connection to a container. Safe to use from any thread."""

    def __init__(self, connection: socket.socket) -> None:
        """Take over an accepted connection. Raises SandboxFailed if the other end is already gone."""
        self._connection = connection
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        said, fds, _, _ = socket.recv_fds(connection, len(_READY), 1, socket.MSG_CMSG_CLOEXEC)
        if said != _READY:
            connection.close()
            raise SandboxFailed("docker: the container ended as soon as it was started")
        self.top = fds[0]
        """A descriptor of the container's root directory, until `close`."""
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self.pid: int = _CREDENTIALS.unpack(raw)[0]
        """The host's number for the container's first process; 0 where this process cannot see it."""

    def launch(self, ends: Ends, job: Job) -> InContainer:
        """Start a supervisor. Raises SandboxFailed when the container is gone."""
        number = next(self._numbers)
        end, far = os.pipe()
        try:
            fds = [ends.stdin, ends.stdout, ends.stderr, ends.control, ends.report, far]
            with self._lock:
                socket.send_fds(self._connection, [json.dumps({"start": number}).encode()], fds)
        except OSError as error:
            os.close(end)
            raise SandboxFailed(f"docker: {self.GONE}; nothing was started ({error})") from error
        finally:
            os.close(far)
        return InContainer(self, number, end)

    GONE = "the container was ended from outside: its engine was stopped, or somebody removed it"

    def kill(self, number: int) -> None:
        """Have a supervisor killed."""
        with contextlib.suppress(OSError), self._lock:
            self._connection.send(json.dumps({"kill": number}).encode())

    def alive(self) -> bool:
        """Whether the container's first process still holds its end."""
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """End the container with everything in it. Idempotent."""
        with self._lock:
            if self._connection.fileno() >= 0:
                self._connection.close()
                os.close(self.top)

    def host_pid(self, pid: int) -> int:
        """The host's number for the container's process `pid`; its first process's if that one is gone already."""
        wanted = str(pid)
        for process in tree.descendants(self.pid):
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                    if line.startswith("NSpid:") and line.split()[-1] == wanted:
                        return process.pid
        return self.pid


class InContainer:
    """A supervisor in a container; see `Launched`."""

    def __init__(self, link: Link, number: int, end: int) -> None:
        self._link = link
        self._number = number
        # The first process holds the other end until nothing is left of the command.
        self._end = end
        weakref.finalize(self, os.close, end)

    def ended(self) -> bool:
        """See `Launched`."""
        return self._poll(0)

    def wait(self, timeout: float | None) -> None:
        """See `Launched`."""
        self._poll(None if timeout is None else max(0.0, timeout) * 1000)

    def kill(self) -> None:
        """See `Launched`."""
        self._link.kill(self._number)

    def watchable(self) -> int | None:
        """See `Launched`."""
        return None if self.ended() else os.dup(self._end)

    def host_pid(self, pid: int) -> int:
        """See `Launched`."""
        return self._link.host_pid(pid)

    def lost(self) -> str:
        """See `Launched`. The first process has ended what was left."""
        if self._link.alive():
            return "the supervisor was lost before the command ended"
        return f"{Link.GONE}, before the command ended"

    def _poll(self, timeout_ms: float | None) -> bool:
        poller = select.poll()
        poller.register(self._end, select.POLLIN)
        return bool(poller.poll(timeout_ms))
