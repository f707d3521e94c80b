"""Faults at every point at which a session writes: the process is killed there, or the disk is full there.

Nothing in the harness knows of this. In the process under test the functions of `os` that change files, and the start of a
git process, are wrapped to count. What is on disk before the n-th of them is what is there after the one before, so that
stopping before each, and after a git process has started, covers every moment.
"""

from __future__ import annotations

import errno
import os
import signal
import warnings
from collections.abc import Callable
from typing import Any

import git.cmd

WRITES = ("write", "pwrite", "ftruncate", "rename", "replace", "link", "unlink", "mkdir", "rmdir")
Fault = Callable[[int, str], None]


class Points:
    """Counts the writes of this process, and calls `fault` with the number and the name of each before it happens."""

    def __init__(self, fault: Fault) -> None:
        self.count = 0
        self._fault = fault
        self._originals: dict[str, Any] = {}

    def install(self) -> None:
        """Wrap everything that writes."""
        for name in WRITES:
            self._originals[name] = getattr(os, name)
            setattr(os, name, self._wrapped(name, self._originals[name]))
        real_open, real_popen = os.open, git.cmd.safer_popen
        self._originals["open"] = real_open

        def counted_open(path: Any, flags: int, *rest: Any, **options: Any) -> int:
            if flags & os.O_CREAT:
                self._point("open")
            return real_open(path, flags, *rest, **options)

        def counted_popen(*arguments: Any, **options: Any) -> Any:
            self._point("git")
            started = real_popen(*arguments, **options)
            self._point("git runs")
            return started

        os.open = counted_open
        git.cmd.safer_popen = counted_popen
        self._popen = real_popen

    def remove(self) -> None:
        """Put everything back."""
        for name, original in self._originals.items():
            setattr(os, name, original)
        git.cmd.safer_popen = self._popen

    def _wrapped(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self._point(name)
            return original(*arguments, **options)

        return counted

    def _point(self, name: str) -> None:
        number, self.count = self.count, self.count + 1
        self._fault(number, name)


def killed_at(chosen: int) -> Fault:
    """The process kills itself at one point, as `kill -9` from outside would."""

    def fault(number: int, _: str) -> None:
        if number == chosen:
            os.kill(os.getpid(), signal.SIGKILL)

    return fault


def full_from(chosen: int) -> Fault:
    """A fake of a full disk: from one point on, whatever needs room fails as the kernel would make it fail."""

    def fault(number: int, name: str) -> None:
        if number >= chosen and name in ("write", "pwrite", "open", "mkdir", "link"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return fault


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process; returns its wait status (0: it came to its end)."""
    with warnings.catch_warnings():
        # Another test of this process may have imported JAX, which warns of any fork: its threads do not live on in the
        # child. The child here runs Git and the recorder, and nothing of JAX.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]
