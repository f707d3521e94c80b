"""How large a record can be: every limit on what is read of one, which may come from anybody.

A record that a session of this project writes stays far below each of them. Sizes are looked at before contents: git says
how large an object is before it gives it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.errors import RecordError

MAX_DEPTH = 64
"""Directories above a file."""
MAX_FILES = 20_000
"""Files of one tree; as many directories may be read to find them."""
MAX_FILE_BYTES = 64 << 20
MAX_TOTAL_BYTES = 512 << 20
"""All files of one workspace."""
MAX_OBJECT_BYTES: Mapping[str, int] = {"blob": MAX_FILE_BYTES, "tree": 16 << 20, "commit": 1 << 20, "tag": 1 << 20}
"""One object of git, by its kind."""
MAX_REFS = 50_000
MAX_REF_BYTES = 1000
"""The name of a ref, or a line about one."""
MAX_EVENTS = 50_000
"""Events of one log, each of which is a commit."""
LAST_EVENTS = 100
"""So many more fit where nothing new may begin: what has begun is still recorded."""
MAX_STORED = 500_000
"""Files of a git directory: packs, objects of their own, refs."""
MAX_BUNDLE_BYTES = 4 << 30
UNPACK_S, UNPACK_BYTES_EACH_S = 3, 4 << 20
"""Unpacking a bundle may take so many seconds of a processor, and one more for so many of its bytes: what takes longer holds
far more than its size tells."""


def too_large(what: str, limit: int, unit: str, where: str) -> RecordError:
    """The error that names a limit."""
    return RecordError(
        f"{what}: more than {limit} {unit}",
        where=where,
        expected="a record as a session writes it (the limits are in docs/audit.md)",
        next_step="do not trust this record; ask whoever made it for another one",
    )


def demand_object(kind: str, size_bytes: int, identifier: str, where: Path) -> None:
    """Refuse an object by its size.

    Raises:
        RecordError: it is larger than its kind may be.
    """
    limit = MAX_OBJECT_BYTES.get(kind, MAX_FILE_BYTES)
    if size_bytes > limit:
        raise too_large(f"the {kind} {identifier} is too large", limit, "bytes", str(where))


def demand_bundle(path: Path) -> list[str]:
    """Refuse a bundle by its size; the command before that of who unpacks it, which limits the time of its processor.

    A shell sets the limit: a function that runs between fork and exec is not safe in a process with threads.

    Raises:
        RecordError: it is larger than a bundle may be.
    """
    size_bytes = path.stat().st_size
    if size_bytes > MAX_BUNDLE_BYTES:
        raise too_large("the bundle is too large", MAX_BUNDLE_BYTES, "bytes", str(path))
    seconds = UNPACK_S + size_bytes // UNPACK_BYTES_EACH_S
    return ["sh", "-c", f'ulimit -t {seconds} && exec "$@"', "sh"]
