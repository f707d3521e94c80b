"""A checkout held against a verified tree: every entry of it, whatever a snapshot would leave out.

What Python or cargo would take from a checkout need not be what a session takes of one: a compiled file in `__pycache__`
runs in the place of its source, and a directory that calls itself a cache can be imported.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.record.bounds import MAX_DEPTH
from harness.record.objects import EXECUTABLE, Entry
from harness.record.store import Store
from harness.support.files import DIRECTORY
from harness.task.contract import CANDIDATE_DIRECTORY, CASES_DIRECTORY, TASK_FILE, left_out

NAMED = 1000
"""So many differences are named; a checkout with more of them is none of this record."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Expected:
    """What a file has to be: its SHA-256, and whether it can be executed; None where nobody knows that."""

    sha256: str
    executable: bool | None = None


def differences(directory: Path, store: Store, verified: Mapping[str, Entry], commit: str) -> Iterator[str]:
    """What in a checkout is not as a commit holds it: contents by SHA-256, kinds, execute bits, and what is more or less.

    The candidate is compared, and where there is a task.toml all of the task as well. Two things may differ: hidden entries
    at the top, which belong to the repository, and cases, of which a session finds new ones.

    Raises:
        RecordError: the commit is damaged.
    """
    try:
        root = os.open(directory, DIRECTORY)
    except OSError as error:
        yield f"{directory} cannot be compared with commit {commit}: {error.strerror}"
        return
    try:
        whole = os.path.lexists(directory / TASK_FILE)
        listed = entries(root, whole)
        found: set[str] = set()
        named = 0
        for path, parent, name in listed:
            expected = verified.get(path)
            found.add(path)
            if _is_case(path):
                continue
            held = None if expected is None else Expected(store.sha256(expected.id), expected.mode == EXECUTABLE)
            if what := difference(parent, name, held):
                yield f"{shown(path)} in {directory} {what} commit {commit}" + (" holds" if expected else "")
                named += 1
            if named >= NAMED:
                yield f"there are more than {NAMED} differences between {directory} and commit {commit}"
                return
    finally:
        os.close(root)
    for path in sorted(verified.keys() - found):
        top = path.split("/", 1)[0]
        if (top == CANDIDATE_DIRECTORY or whole) and not left_out(top) and not _is_case(path):
            yield f"{shown(path)} of commit {commit} is missing in {directory}"


def _is_case(path: str) -> bool:
    return path.startswith(f"{CASES_DIRECTORY}/") and path.endswith(".json")


def entries(root: int, whole: bool) -> Iterator[tuple[str, int, str]]:
    """All entries that are compared: each path, the open directory in which it lies, and its name there.

    A directory is given only where nothing is in it (git knows no such one), or where it lies too deep for any record.
    """
    for name in sorted(os.listdir(root)):
        if name == CANDIDATE_DIRECTORY or (whole and not left_out(name)):
            yield from _below(root, name, name)


def _below(parent: int, name: str, path: str, depth: int = 0) -> Iterator[tuple[str, int, str]]:
    try:
        directory = os.open(name, DIRECTORY, dir_fd=parent) if depth <= MAX_DEPTH else None
    except OSError:
        directory = None  # a file, a link, or what cannot be opened: the comparison says which
    if directory is None:
        yield path, parent, name
        return
    try:
        names = sorted(os.listdir(directory))
        if not names:
            yield path, parent, name
        for below in names:
            yield from _below(directory, below, f"{path}/{below}", depth + 1)
    finally:
        os.close(directory)


def difference(parent: int, name: str, expected: Expected | None) -> str:
    """What an entry is in the place of what was expected; empty where it is just that."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    except OSError as error:
        is_link = stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        what = "is a symbolic link, which is" if is_link else f"cannot be opened ({error.strerror}), so it is"
        return f"{what} not what" if expected else f"{what} not part of"
    try:
        status = os.fstat(descriptor)
        if expected is None:
            kind = "a directory that is " if stat.S_ISDIR(status.st_mode) else ""
            return f"is {kind}not part of"
        if not stat.S_ISREG(status.st_mode):
            return "is no plain file, which is not what"
        digest = hashlib.sha256()
        while chunk := os.read(descriptor, _CHUNK):
            digest.update(chunk)
    finally:
        os.close(descriptor)
    if digest.hexdigest() != expected.sha256:
        return "is not what"
    if expected.executable not in (None, bool(status.st_mode & stat.S_IXUSR)):
        return "has another mode (whether it can be executed) than what"
    return ""


def shown(path: str) -> str:
    """A path as text, whatever its bytes are."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
