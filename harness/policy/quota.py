"""How much of this machine's disk one session may fill: the operator's, who may set it for a command or a server."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import SessionError

VARIABLE = "LOCKSTEP_SESSION_MIB"
DEFAULT_MIB = 2048


def quota_bytes() -> int:
    """The quota of each session, in bytes.

    Raises:
        SessionError: the variable holds no number.
    """
    given = os.environ.get(VARIABLE, str(DEFAULT_MIB))
    if not given.isascii() or not given.isdigit():
        raise SessionError(f"{VARIABLE} is {given!r}", expected="a number of MiB", next_step="correct it, or unset it")
    return int(given) << 20


def demand_room(directory: Path, more_bytes: int) -> None:
    """Refuse what would make a session's directory larger than its quota.

    Raises:
        SessionError: there is not so much room left.
    """
    used, quota = _used_bytes(directory), quota_bytes()
    if used + more_bytes > quota:
        raise SessionError(
            f"the session has used {used >> 20} MiB of the {quota >> 20} MiB that it may fill on this disk, and the "
            f"workspace holds {-(-more_bytes >> 20)} MiB",
            where=str(directory),
            next_step="remove from the workspace what does not belong to the candidate; or a person raises "
            f"{VARIABLE} for this command or server, or begins another session",
        )


def _used_bytes(directory: Path) -> int:
    used = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                used += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:  # packing removes files meanwhile
                continue
    return used
