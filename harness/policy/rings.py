"""Which keys a home has, and what an unisolated candidate could have read of them.

A home signs sessions whose sandboxes isolate with the keys of one directory, and those of the driver `process` with those of
another. Where that driver cannot keep candidates from this machine's files, both kinds never meet in one home: a home with a
key for isolated sessions runs nothing unisolated, and one that did never makes such a key.
"""

from __future__ import annotations

from pathlib import Path

from harness.errors import RecordError
from harness.support.files import storing, write_durably

KEYS = "keys"
UNISOLATED_KEYS = "keys-unisolated"
PRESENT = "ed25519.pem"
RETIRED = "retired"
_EXPOSED = "exposed"


def demand_unexposed(home: Path) -> None:
    """Check that no candidate ran here that could have read a key for isolated sessions.

    Raises:
        RecordError: one did.
    """
    if exposed(home):
        raise RecordError(
            "candidates ran in this home that could read all its files, so it makes no key for sessions that isolate",
            where=str(home / UNISOLATED_KEYS / _EXPOSED),
            expected="a home in which no candidate ran without isolation and without Landlock",
            next_step="set LOCKSTEP_HOME to another directory, as another user of this machine",
        )


def exposed(home: Path) -> bool:
    """Whether candidates ran in this home that could read all its files."""
    return (home / UNISOLATED_KEYS / _EXPOSED).exists()


def expose(home: Path) -> bool:
    """Note that what will run can read this home. False, with nothing noted, where it has a key for isolated sessions.

    Noted first and looked second. Whoever makes such a key makes it first and looks second, so one of the two sees the
    other.

    Raises:
        RecordError: the home cannot be written.
    """
    mark = home / UNISOLATED_KEYS / _EXPOSED
    noted = mark.exists()
    if not noted:
        with storing(mark):
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_durably(mark, b"Candidates that could read this home have run.\n")
    if not any(_private(home)):
        return True
    if not noted:
        with storing(mark):
            mark.unlink(missing_ok=True)
    return False


def _private(home: Path) -> list[Path]:
    ring = home / KEYS
    return [path for path in (ring / PRESENT, *(ring / RETIRED).glob("*.pem")) if path.exists()]
