"""The engine that every machine has: each member is a process here."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Self

from harness.farm.engine import CLOSE_S, Holds, Lost, Member, Recipe, hold
from harness.farm.place import HERE

SHOWN = 2000
"""So many bytes of what a lost process had said are told."""


class Processes:
    """Members are processes of this machine.

    Args:
        slots: how many work at once; 0 takes one for each processor.
    """

    name, apart, nodes = "processes", False, 1

    def __init__(self, slots: int = 0) -> None:
        self.slots = slots or len(os.sched_getaffinity(0))
        self._members: list[_Process] = []

    def start(self, recipe: Recipe, holds: Holds = hold) -> Member:
        """As `Engine.start`."""
        member = _Process()
        self._members.append(member)
        try:
            if not holds(member):
                raise Lost("nobody waits for it any more")
            member.make(recipe)
        except BaseException:
            member.kill()
            member.forget()
            raise
        return member

    def close(self) -> None:
        """End all members."""
        for member in self._members:
            member.kill()
            member.forget()
        self._members = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Process:
    node = HERE
    facts: Mapping[str, Any]

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        with theirs:
            self._process = subprocess.Popen(
                # Not where this is started: an agent may have written there.
                [sys.executable, "-P", "-m", "harness.farm.place", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,  # an interrupt from the keyboard is for the process that asks
            )
        self._connection = Connection(ours.detach())
        self._killed = False

    def make(self, recipe: Recipe) -> None:
        """Make what it is asked for."""
        self.facts = self._answer("make", recipe)

    def ask(self, method: str, *arguments: Any, within: float | None = None) -> Any:
        return self._answer("ask", method, arguments, within=within)

    def kill(self) -> None:
        if not self._killed:
            self._killed = True  # its number may be another's soon
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # it leads a group of its own
        self._process.wait()

    def forget(self) -> None:
        """Close what leads to it, once nobody waits for it any more."""
        self._connection.close()
        self._said.close()

    def close(self) -> None:
        try:
            self._answer("close", within=CLOSE_S)
        except Lost:
            pass  # it is gone already
        self.kill()
        self.forget()

    def _answer(self, call: str, *arguments: Any, within: float | None = None) -> Any:
        if self._connection.closed:
            raise Lost("its process is gone")
        try:
            self._connection.send((call, arguments))
            if not self._connection.poll(within):
                raise self._lost(f"its process said nothing for {within} s")
            answered, answer = self._connection.recv()
        except (EOFError, OSError):
            self._process.wait()
            raise self._lost(f"its process ended with {self._process.returncode}") from None
        if answered:
            return answer
        raise answer

    def _lost(self, why: str) -> Lost:
        self.kill()
        lost = Lost(why + self._last_words())
        self.forget()
        return lost

    def _last_words(self) -> str:
        length = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, length - SHOWN))
        said = self._said.read().decode(errors="replace").strip()
        return f"; its standard error ends with:\n{said}" if said else ""
