"""What a file of a workspace may be called."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from harness.support.text import visible

MAX_NAME_BYTES = 255
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of control, format and line-breaking characters, and of bytes that are no UTF-8."""


@lru_cache(maxsize=1 << 16)
def objection(name: str) -> str | None:
    """Why one component of a path is refused, or None where it is fine.

    Refused are names that git, or a file system that folds or drops characters, could take for its own `.git` directory.
    Names that a reader of a report would not see as they are, are refused too. A record holds the same names in hundreds of
    trees, so answers are kept.
    """
    if name in ("", ".", "..") or "/" in name:
        return "is not a file name"
    if any(unicodedata.category(character) in HIDDEN_CATEGORIES for character in name):
        return "has control, invisible or undecodable characters in its name"
    if "\\" in name:
        return "has a backslash in its name"
    if len(name.encode()) > MAX_NAME_BYTES:
        return f"has a name of more than {MAX_NAME_BYTES} bytes"
    folded = name.casefold().rstrip(". ")
    if folded in (".git", "git~1") or folded.startswith(".git:"):
        return "is named like a git directory"
    return None


@lru_cache(maxsize=1 << 16)
def objection_to_new(name: str) -> str | None:
    """`objection` for what is not recorded yet: also where a reader would not see all of it, as in old records."""
    return objection(name) or (None if visible(name) == name else "has characters in its name that cannot be seen")


def folded(name: str) -> str:
    """What a file system that takes letters of either case, and both forms of a letter with an accent, for the same makes of
    a name. Two names in one directory that fold alike are one file there: what was verified could not be checked out."""
    return unicodedata.normalize("NFC", name).casefold().rstrip(". ")
