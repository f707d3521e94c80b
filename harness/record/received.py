"""Opening a record that anybody may have sent: git takes its refs and its objects, and no setting and no other file of it.

A git directory can hold more than a record: settings that name programs, include other files or fetch what is missing from
elsewhere; links; pipes that are never written. Git reads it through a directory of our own, and what it does read of it is
looked at before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from git import Git

from harness.errors import RecordError
from harness.record.bounds import (
    MAX_DEPTH,
    MAX_REF_BYTES,
    MAX_REFS,
    MAX_STORED,
    demand_bundle,
    too_large,
)
from harness.record.store import Store, environment, failing, repository_at

REFS, PACKED, OBJECTS = "refs", "packed-refs", "objects"
READ = (REFS, PACKED, OBJECTS)
"""What git reads of a directory that was sent."""
ALTERNATES = "objects/info/alternates"
SIGNATURES = (b"# v2 git bundle", b"# v3 git bundle")
_OURS = {"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"}


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    """A store for reading: a git directory, a checkout, or a bundle, which is unpacked into a temporary directory.

    Raises:
        RecordError: it is none of these, or holds what no record holds.
    """
    from sandboxes.removal import new_directory, remove_tree  # a status needs no sandboxes

    temporary = new_directory("lockstep-record-")
    try:
        if path.is_file():
            _unpack(path, temporary)
            with Store(temporary) as store:
                yield store
        else:
            repository = repository_at(path).resolve()
            _demand_plain(repository)
            _lend(repository, temporary)
            with Store(repository, settings=temporary) as store:
                yield store
    finally:
        remove_tree(temporary)


def _unpack(bundle: Path, into: Path) -> None:
    limited = demand_bundle(bundle)
    _demand_names(bundle)
    with failing(bundle):
        git = Git(into)
        git.update_environment(**environment(into) | {"GIT_ALLOW_PROTOCOL": "file"})
        git.execute(["git", "init", "--quiet", "--bare", "--template=", str(into)])
        # What is unpacked lives as long as it is read. To make each ref durable would take minutes for thousands of them.
        fetch = ["git", "-c", "core.fsync=none", "fetch", "--quiet", "--no-auto-maintenance"]
        git.execute([*limited, *fetch, str(bundle.resolve()), "+refs/*:refs/*"])


def _demand_names(bundle: Path) -> None:
    """Refuse a bundle by the refs that its first lines name, before git makes a file of each."""
    lines = 0
    with bundle.open("rb") as file:
        if file.readline(MAX_REF_BYTES).rstrip(b"\n") not in SIGNATURES:  # git would take it for a link to a directory
            raise RecordError(
                "this is neither a git directory nor a bundle",
                where=str(bundle),
                expected=f"a first line as git writes it: {SIGNATURES[0].decode()}",
                next_step="write one with `lockstep bundle`",
            )
        while (line := file.readline(MAX_REF_BYTES + 1)) not in (b"", b"\n"):
            lines += 1
            if lines > MAX_REFS:
                raise too_large("the bundle names too many refs", MAX_REFS, "refs", str(bundle))
            if len(line) > MAX_REF_BYTES:
                raise too_large("the bundle has too long a name", MAX_REF_BYTES, "bytes", f"{bundle}, line {lines}")
            if line.count(b"/") > MAX_DEPTH:
                raise too_large("the bundle has too deep a name", MAX_DEPTH, "parts", f"{bundle}, line {lines}")


def _demand_plain(repository: Path) -> None:
    """Refuse a git directory that has anything but plain files where git reads, or has its objects elsewhere.

    Reading a pipe would wait for ever, and a link leads out of the record.
    """
    if os.path.lexists(repository / ALTERNATES):
        raise RecordError(
            "a record has its objects elsewhere",
            where=str(repository / ALTERNATES),
            expected="a git directory with all objects in it",
            next_step="ask for a clone made with `git clone --mirror --no-local`, or a bundle",
        )
    pending = [(repository / name, 0) for name in READ]
    looked = 0
    while pending:
        path, depth = pending.pop()
        looked += 1
        if looked > MAX_STORED:
            raise too_large("the git directory has too many files", MAX_STORED, "files", str(repository))
        try:
            status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode):
                if depth > MAX_DEPTH:
                    raise too_large("the git directory is too deep", MAX_DEPTH, "directories", str(repository))
                pending += [(path / name, depth + 1) for name in os.listdir(path)]
                continue
        except FileNotFoundError:  # an object that was packed meanwhile, or a ref that was
            continue
        except OSError as error:
            raise RecordError(f"the git directory cannot be read: {error.strerror}", where=str(path)) from error
        if not stat.S_ISREG(status.st_mode):
            raise RecordError(
                "a git directory has a link, a pipe or a device where git reads",
                where=str(path),
                expected="plain files and directories",
                next_step="do not trust this record; ask whoever made it for a bundle",
            )
        top = path.relative_to(repository).parts[0]
        limit = {REFS: MAX_REF_BYTES, PACKED: MAX_REFS * MAX_REF_BYTES}.get(top)
        if limit is not None and status.st_size > limit:
            raise too_large("a file of refs is too large", limit, "bytes", str(path))


def _lend(repository: Path, ours: Path) -> None:
    """Make a git directory of our own with the refs of another one; `Store` adds its objects."""
    for name, content in _OURS.items():
        (ours / name).write_text(content)
    for name in (REFS, PACKED):
        (ours / name).symlink_to(repository / name)
