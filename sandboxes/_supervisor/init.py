"""The first process of a container: it starts a supervisor for each command, and ends with the harness.

The harness holds the other end of a socket. Over it come the pipes of each command as descriptors, so that bytes
never pass through the engine; and when it closes, however the harness ended, this process exits and the kernel ends
everything in the container with it.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket

from . import main as supervisor
from . import tree

DOOR = "/run/lockstep/door/socket"
"""Where the harness waits for this process, once."""
PIPES = 6
"""Descriptors that come with a start: stdin, stdout, stderr, control, report, and one that is closed at the end."""

_MESSAGE_BYTES = 4096
_PR_SET_DUMPABLE = 4
_SWEEP_MS = 2


def main() -> None:
    """Serve the harness until it is gone. Never returns."""
    # Commands run as this very user: they must neither trace this process nor read its memory.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(DOOR)
    top = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    socket.send_fds(connection, [b"ready"], [top])
    os.close(top)
    _Init(connection).serve()


class _Init:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._numbers: dict[int, int] = {}  # pid of a living supervisor: number of its command
        self._ends: dict[int, int] = {}  # number: the descriptor to close when nothing is left of the command
        self._over: list[int] = []  # commands whose supervisor is dead while others may still need ending

    def serve(self) -> None:
        woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        poller = select.poll()
        poller.register(self._connection, select.POLLIN)
        poller.register(woken, select.POLLIN)
        while True:
            for fd, _ in poller.poll(_SWEEP_MS if self._over else None):
                if fd == woken:
                    os.read(woken, 4096)
                else:
                    self._obey()
            self._reap()

    def _obey(self) -> None:
        try:
            data, fds, _, _ = socket.recv_fds(self._connection, _MESSAGE_BYTES, PIPES, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            data, fds = b"", []
        if not data:
            os._exit(0)
        message = json.loads(data)
        if "start" in message:
            self._start(message["start"], fds)
        else:
            for pid, number in self._numbers.items():
                if number == message["kill"]:
                    tree.kill([pid])

    def _start(self, number: int, fds: list[int]) -> None:
        *pipes, end = fds
        pid = os.fork()
        if pid == 0:
            _become_supervisor(pipes)
        for fd in pipes:
            os.close(fd)
        self._numbers[pid] = number
        self._ends[number] = end

    def _reap(self) -> None:
        """Collect the dead. A supervisor that was killed leaves its tree to this process, which then ends that."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self._numbers:
                self._over.append(self._numbers.pop(pid))
        if self._over:
            strays = self._strays()
            tree.kill(strays)
            if not strays:
                for number in self._over:
                    os.close(self._ends.pop(number))
                self._over.clear()

    def _strays(self) -> list[int]:
        """Everything here that no living supervisor answers for."""
        processes = {process.pid: process for process in tree.descendants(os.getpid())}
        found = []
        for pid in processes:
            top = pid
            while top not in self._numbers and top in processes and processes[top].parent in processes:
                top = processes[top].parent
            if top not in self._numbers:
                found.append(pid)
        return found


def _become_supervisor(pipes: list[int]) -> None:
    """In the child: hold the five pipes and nothing else, and supervise. Never returns."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        # Clear of the places where they go, or one dup2 could close what the next one needs.
        high = [os.dup(fd) for fd in pipes]
        while min(high) < PIPES:
            high = [os.dup(fd) for fd in high]
        for target, fd in enumerate(high):
            os.dup2(fd, target)
        os.closerange(len(high), os.sysconf("SC_OPEN_MAX"))
        supervisor.main(3, 4)
    finally:
        os._exit(0)
