"""From a git tree to a directory: exactly the recorded files, read-only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.record.objects import EXECUTABLE, Entry
from harness.record.store import Store
from harness.support.files import storing, sync_directory, write_below, write_new
from sandboxes.removal import remove_tree


def export(store: Store, tree: str, destination: Path) -> None:
    """Write a tree's files into a new directory, which then, with all below it, is read-only.

    Raises:
        RecordError: `destination` exists, an object is damaged, or the files cannot be written.
    """
    files = store.files(tree)
    with storing(destination):
        destination.mkdir(parents=True)
        directories = {destination}
        for path, entry in files.items():
            target = destination / path
            if target.parent not in directories:
                target.parent.mkdir(parents=True, exist_ok=True)
                directories |= {*target.parents} - {*destination.parents}
            write_new(target, store.blob(entry.id), 0o555 if entry.mode == EXECUTABLE else 0o444, durable=False)
        for directory in directories:
            os.chmod(directory, 0o555)


@contextmanager
def exported(store: Store, tree: str, destination: Path) -> Iterator[Path]:
    """`export`, and the directory is removed again afterwards."""
    try:
        export(store, tree, destination)
        yield destination
    finally:
        discard(destination)


def discard(directory: Path) -> None:
    """Remove an exported directory, if it is there."""
    if directory.exists():
        remove_tree(directory)


def check_out(store: Store, files: Mapping[str, Entry], directory: Path) -> None:
    """Put a new, writable directory with these recorded files at `directory`, all at once, replacing an old one.

    Raises:
        RecordError: an object is damaged, or a file cannot be written.
    """
    temporary = directory.with_name(f".{directory.name}.lockstep-new")
    with storing(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        discard(temporary)  # of a process that was killed in the middle of this
        temporary.mkdir()
        for path, entry in files.items():
            write_below(temporary, path, store.blob(entry.id), 0o755 if entry.mode == EXECUTABLE else 0o644)
        discard(directory)
        temporary.rename(directory)
        sync_directory(directory.parent)
