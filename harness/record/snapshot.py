"""From a workspace to a git tree: every file read once, and what was read is what is stored."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from harness.errors import SessionError, TrustedFileChanged
from harness.record.bounds import MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES
from harness.record.names import folded, objection_to_new
from harness.record.objects import EXECUTABLE, FILE, Entry
from harness.record.store import Store
from harness.support.files import DIRECTORY
from harness.task.contract import CACHE_TAG, CASES_DIRECTORY, COMPILED, WRITABLE, left_out

NAMED_AT_MOST = 20
REFUSED_AT_MOST = 1000
"""So many refusals are collected: a workspace with more of them is refused all the same."""


@dataclass(frozen=True)
class Snapshot:
    """A workspace as it was read: its tree's id, its files by path, and its SHA-256 (`directory_hash`)."""

    tree: str
    files: Mapping[str, Entry]
    digest: str


@dataclass(frozen=True)
class Changes:
    """How a workspace's trusted files differ from the session's."""

    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.deleted or self.added)

    def __str__(self) -> str:
        named = (("changed", self.changed), ("deleted", self.deleted), ("added", self.added))
        return "; ".join(f"{what} {_list(paths)}" for what, paths in named if paths)


def snapshot(
    workspace: Path,
    store: Store,
    *,
    may_be_checkout: bool = False,
    admit: Callable[[int], None] = lambda total_bytes: None,
) -> Snapshot:
    """Write a workspace into the store and return what was written.

    Kinds, names and sizes are looked at first: of a workspace that is refused, nothing is stored.

    Only plain files are taken, opened without following links; `.gitignore` and `.gitattributes` mean nothing here.
    `__pycache__` and directories that call themselves caches (`CACHEDIR.TAG`) are left out everywhere, and so are hidden
    files and directories at the top (`.venv`, an editor's or an agent's own settings) and the guide for agents: what is left
    out is neither recorded nor exported, so no verdict can depend on it. A `.git` is refused at any depth, except at the
    top of a task directory that `may_be_checkout`.

    Args:
        admit: called with the bytes of all files before any is stored; it may refuse by raising.

    Raises:
        SessionError: the workspace holds something that cannot be recorded (a link, a device, a name like `.git`, a file
            or a total that is too large); all such things are named together.
        RecordError: the objects cannot be written.
    """
    admit(_taken(workspace, None, may_be_checkout).total_bytes)
    reader = _taken(workspace, store, may_be_checkout)
    return Snapshot(store.put_tree(reader.files), reader.files, directory_hash(store, reader.files))


def _taken(workspace: Path, store: Store | None, may_be_checkout: bool) -> _Reader:
    reader = _Reader(store)
    with ExitStack() as held:
        try:
            root = os.open(workspace, DIRECTORY)
            held.callback(os.close, root)
            listed = list(_listing(root))
        except OSError as error:
            raise SessionError(
                f"the workspace cannot be read: {error.strerror}",
                where=str(workspace),
                next_step="reopen the session: a workspace that is gone is restored from the record",
            ) from error
        entries = [
            (name, location)
            for name, location in listed
            if not left_out(name) or (objection_to_new(name) and not may_be_checkout)
        ]
        reader.refuse_clashes("", (name for name, _ in entries))
        for name, location in entries:
            reader.take(root, name, name, location)
    if reader.refused:
        raise SessionError(
            f"the workspace cannot be recorded: {_list(reader.refused)}",
            where=str(workspace),
            expected="plain files and directories",
            next_step="remove or rename these, then repeat the call",
        )
    return reader


def is_blank(workspace: Path) -> bool:
    """Whether there is nothing that a snapshot would take: no directory, or only what is left out."""
    return not workspace.is_dir() or all(left_out(path.name) for path in workspace.iterdir())


def trusted_changes(files: Mapping[str, Entry], trusted: Mapping[str, Entry]) -> Changes:
    """What in a snapshot's trusted part (all but `candidate/` and `proposed/`) differs from the trusted files."""
    present = trusted_part(files)
    return Changes(
        changed=tuple(sorted(path for path in present.keys() & trusted.keys() if present[path] != trusted[path])),
        deleted=tuple(sorted(trusted.keys() - present.keys())),
        added=tuple(sorted(present.keys() - trusted.keys())),
    )


def refuse_changes(changes: Changes, workspace: Path) -> None:
    """Raise `TrustedFileChanged`, naming every file, if there are changes."""
    if changes:
        raise TrustedFileChanged(
            f"files that belong to the verifier differ from the session's: {changes}",
            where=str(workspace),
            expected=f"changes only in {' and '.join(f'{name}/' for name in WRITABLE)}",
            next_step="restore them (restore_trusted), and put ideas for tests or tolerances into proposed/",
        )


def trusted_part(files: Mapping[str, Entry]) -> dict[str, Entry]:
    """The files outside the directories that an agent may write."""
    return {path: entry for path, entry in files.items() if path.split("/", 1)[0] not in WRITABLE}


def directory_hash(store: Store, files: Mapping[str, Entry]) -> str:
    """SHA-256 over all files, as in-toto's `dirHash`: that of `sha256sum`'s output over the sorted paths (`listing`).

    Git names content by SHA-1; this says the same in a hash for which nobody can make two trees that agree.
    """
    return hashlib.sha256(listing(store, files)).hexdigest()


def listing(store: Store, files: Mapping[str, Entry]) -> bytes:
    """A line for each file, as `sha256sum` writes and checks it: its SHA-256 and its path."""
    return "".join(f"{store.sha256(files[path].id)}  {path}\n" for path in sorted(files, key=str.encode)).encode()


def task_digest(store: Store, trusted: Mapping[str, Entry]) -> str:
    """`harness.task.contract.Task.digest`, computed from recorded files."""
    lines = (
        f"{path}\0{store.sha256(trusted[path].id)}\n"
        for path in sorted(trusted)
        if not path.startswith(f"{CASES_DIRECTORY}/")
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class _Reader:
    """Collects files below a directory; keeps a list of what it had to refuse, so that all of it is reported at once.

    Without a store it only looks: no file is read.
    """

    def __init__(self, store: Store | None) -> None:
        self.files: dict[str, Entry] = {}
        self.refused: list[str] = []
        self.total_bytes = 0
        self._store = store
        self._count = self._directories = 0

    def take(self, parent: int, name: str, path: str, location: os.stat_result) -> None:
        """Take one entry of the open directory `parent`."""
        if name == COMPILED:
            return
        if len(self.refused) >= REFUSED_AT_MOST:
            return
        if reason := objection_to_new(name) or _objection_to_kind(location.st_mode):
            self.refused.append(f"{path!r} {reason}")
        elif path.count("/") > MAX_DEPTH:
            self.refused.append(f"{path!r} lies more than {MAX_DEPTH} directories deep")
        elif stat.S_ISDIR(location.st_mode):
            self._descend(parent, name, path)
        else:
            self._read(parent, name, path)

    def _descend(self, parent: int, name: str, path: str) -> None:
        try:
            directory = os.open(name, DIRECTORY, dir_fd=parent)
        except OSError as error:
            self.refused.append(f"{path!r} cannot be opened ({error.strerror})")
            return
        try:
            self._directories += 1
            if self._directories > MAX_FILES:
                raise _too_much(f"more than {MAX_FILES} directories")
            try:
                entries = list(_listing(directory))
            except OSError as error:  # it can be read, and not be searched
                self.refused.append(f"{path!r} cannot be read ({error.strerror})")
                return
            if any(below == CACHE_TAG for below, _ in entries):
                return
            self.refuse_clashes(path, (below for below, _ in entries))
            for below, location in entries:
                self.take(directory, below, f"{path}/{below}", location)
        finally:
            os.close(directory)

    def refuse_clashes(self, path: str, names: Iterable[str]) -> None:
        """Refuse names of one directory that are one name where neither case nor the form of a letter counts."""
        seen: dict[str, str] = {}
        for name in names:
            first = seen.setdefault(folded(name), name)
            if name not in (first, COMPILED):
                beside = f"{path}/{name}" if path else name
                self.refused.append(f"{beside!r} is the same name as {first!r} on a file system that folds letters")

    def _read(self, parent: int, name: str, path: str) -> None:
        # What was a file a moment ago may be a link or a FIFO by now: not followed, not waited for, looked at again.
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        except OSError as error:
            self.refused.append(f"{path!r} cannot be opened ({error.strerror})")
            return
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            mode = status.st_mode
            if reason := None if stat.S_ISREG(mode) else _objection_to_kind(mode) or "is not a plain file any more":
                self.refused.append(f"{path!r} {reason}")
                return
            content = b"" if self._store is None else file.read(MAX_FILE_BYTES + 1)
        size = status.st_size if self._store is None else len(content)
        self.total_bytes += size
        self._count += 1
        if size > MAX_FILE_BYTES:
            self.refused.append(f"{path!r} is larger than {MAX_FILE_BYTES >> 20} MiB")
        elif self.total_bytes > MAX_TOTAL_BYTES:
            raise _too_much(f"more than {MAX_TOTAL_BYTES >> 20} MiB of files")
        elif self._count > MAX_FILES:
            raise _too_much(f"more than {MAX_FILES} files")
        elif self._store is not None:
            self.files[path] = Entry(EXECUTABLE if mode & 0o100 else FILE, self._store.put_file(content))


def _listing(directory: int) -> Iterator[tuple[str, os.stat_result]]:
    """Names and stats of an open directory, sorted by name; an entry that vanishes meanwhile is left out."""
    with os.scandir(directory) as entries:
        names = [entry.name for entry in islice(entries, MAX_FILES + 1)]
    if len(names) > MAX_FILES:
        raise _too_much(f"more than {MAX_FILES} files in one directory")
    for name in sorted(names):
        try:
            location = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            continue
        yield name, location


def _objection_to_kind(mode: int) -> str | None:
    kinds = {
        stat.S_IFLNK: "is a symbolic link",
        stat.S_IFIFO: "is a FIFO",
        stat.S_IFSOCK: "is a socket",
        stat.S_IFCHR: "is a device node",
        stat.S_IFBLK: "is a device node",
    }
    return kinds.get(stat.S_IFMT(mode))


def _too_much(what: str) -> SessionError:
    return SessionError(
        f"the workspace cannot be recorded: it holds {what}",
        next_step="remove what does not belong to the candidate (data, builds, caches)",
    )


def _list(items: Collection[str]) -> str:
    named = list(items)[:NAMED_AT_MOST]
    more = len(items) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
