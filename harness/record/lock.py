"""One writer for each session."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from harness.errors import SessionLocked
from harness.support.durations import in_words
from harness.support.files import storing
from harness.support.text import one_line

GRACE_S = 10.0
"""How long to wait for a git process that a killed holder left behind: its one write takes milliseconds."""
INTERVAL_S = 0.01


class Lock:
    """An exclusive lock on a file, held until `release` or the end of the process.

    The kernel holds it (`flock`), so a killed process never leaves it behind. The file says which process has it, and
    since when, for the error that a second one gets. `descriptor` may be handed to child processes: a child that outlives
    a killed parent then still keeps others out until its own write is done.

    Raises:
        SessionLocked: another process, or another session object of this one, holds it.
    """

    def __init__(self, path: Path, what: str) -> None:
        with storing(path):
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            self._take(path, what)
            with storing(path):
                os.ftruncate(self.descriptor, 0)
                os.pwrite(self.descriptor, f"{os.getpid()}\n".encode(), 0)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let others in; further calls do nothing."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _take(self, path: Path, what: str) -> None:
        deadline = time.monotonic() + GRACE_S
        while True:
            try:
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                holder = os.pread(self.descriptor, 32, 0).decode(errors="replace").strip()
            if _lives(holder) or time.monotonic() >= deadline:
                raise SessionLocked(
                    f"{what} is in use by process {holder or 'unknown'}{_doing(holder)}{self._since()}",
                    where=str(path),
                    next_step="wait for that process, or end it; its record stays valid",
                )
            time.sleep(INTERVAL_S)

    def _since(self) -> str:
        """For how long it is held: the holder wrote its name into the file when it took it."""
        return f", for {in_words(time.time() - os.fstat(self.descriptor).st_mtime)}"


def _doing(holder: str) -> str:
    """The program that the holder runs, with its first argument, as ` (lockstep certify)`; empty where that is not known."""
    try:
        words = Path("/proc", holder, "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    # An interpreter says nothing of what it runs, and further arguments are not for others.
    words = [word for word in words if word and word != "-m"]
    if words and Path(words[0]).name.startswith("python"):
        words = words[1:]
    if not words or words[0].startswith("-"):
        return ""
    first = [word for word in words[1:2] if word.isalpha()]
    return f" ({one_line(' '.join([Path(words[0]).name, *first]))})"


def _lives(holder: str) -> bool:
    """Whether the process that the lock file names is there; one that is about to write its name counts as there."""
    return not holder.isdigit() or Path("/proc", holder).exists()
