"""Where Lockstep keeps what outlives a command: reference environments, sessions, keys."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.errors import SetupError

KEY_DIGITS = 32
"""So many hexadecimal digits of a key are in the name of what is built once and found again (environments, crates, data):
nobody finds another task, or other sources, with the same ones.
"""


def lockstep_home() -> Path:
    """The directory of everything that Lockstep keeps for this user, created with mode 0700.

    `$LOCKSTEP_HOME` if it is set, else `lockstep` in the XDG data directory (`$XDG_DATA_HOME`, or `~/.local/share`).

    Raises:
        SetupError: the directory cannot be made, or a variable names a relative path.
    """
    stated = os.environ.get("LOCKSTEP_HOME")
    data = os.environ.get("XDG_DATA_HOME")
    if stated:
        home = Path(stated).expanduser()
    elif data and Path(data).is_absolute():  # the XDG specification asks that a relative value be ignored
        home = Path(data) / "lockstep"
    else:
        home = Path.home() / ".local" / "share" / "lockstep"
    if not home.is_absolute():
        raise SetupError(
            f"LOCKSTEP_HOME is the relative path {stated!r}",
            expected="an absolute path, because commands run in different directories",
            next_step="set LOCKSTEP_HOME to an absolute path, or unset it",
        )
    try:
        # Keys and sessions live here: nobody else on the machine may look.
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"the directory cannot be made ({error.strerror})",
            where=str(home),
            next_step="set LOCKSTEP_HOME to a directory that you can write",
        ) from error
    return home


@contextlib.contextmanager
def locked(location: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of what is built at a place: two processes that need the same build it once."""
    location.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{location}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another process that builds this environment")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
