"""Writes that survive a crash: a file is there whole, or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from harness.errors import RecordError

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open a directory, and nothing that only pretends to be one."""
TEMPORARY = ".lockstep-new-"


@contextmanager
def storing(where: Path | str) -> Iterator[None]:
    """Turn an `OSError` of the body (disk full, no permission, quota) into a `RecordError` that names the place."""
    try:
        yield
    except OSError as error:
        raise RecordError(
            f"the record cannot be written: {error.strerror or error}",
            where=str(where),
            next_step="make room or give access, then repeat the call: everything recorded before is still there",
        ) from error


def sync_directory(path: Path | str) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Put a file at `path`, replacing one that is there; after a crash the old or the new content is there, whole.

    Raises:
        RecordError: the file cannot be written.
    """
    write_below(path.parent, path.name, content, mode)


def write_below(root: Path, relative: str, content: bytes, mode: int = 0o644) -> None:
    """`write_durably` at `root/relative`, making directories, without ever following a link below `root`.

    The file comes into being under a hidden name directly in `root`, where `clear_temporaries` finds it after a crash and
    no snapshot looks.

    Raises:
        RecordError: the file cannot be written, or a component of its path is a link, no directory, or no name.
    """
    *parents, name = _parts(root, relative)
    temporary = f"{TEMPORARY}{secrets.token_hex(6)}"
    with storing(root / relative), ExitStack() as held:
        top, directory = _open_parents(held, root, parents, make=True)
        try:
            write_new(temporary, content, mode, top)
            os.replace(temporary, name, src_dir_fd=top, dst_dir_fd=directory)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=top)
            raise
        os.fsync(directory)


def read_below(root: Path, relative: str, most_bytes: int) -> bytes:
    """The content of the file `root/relative`, without ever following a link below `root`.

    Raises:
        OSError: it is not there, or a component of its path is a link or no directory.
        ValueError: it is no regular file, is larger than `most_bytes`, or `relative` is no path.
    """
    *parents, name = _parts(root, relative)
    with ExitStack() as held:
        _, directory = _open_parents(held, root, parents, make=False)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(name, flags, dir_fd=directory), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{name} is not a regular file")
            content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"{name} is larger than {most_bytes >> 20} MiB")
    return content


def remove_below(root: Path, relative: str) -> None:
    """Remove the file `root/relative`, without ever following a link below `root`.

    Raises:
        RecordError: it is not there, cannot be removed, or a component of its path is a link or no name.
    """
    *parents, name = _parts(root, relative)
    with storing(root / relative), ExitStack() as held:
        _, directory = _open_parents(held, root, parents, make=False)
        os.unlink(name, dir_fd=directory)
        os.fsync(directory)


def clear_temporaries(root: Path) -> None:
    """Remove what a process that was killed while it wrote below `root` left there."""
    with storing(root):
        for leftover in root.glob(f"{TEMPORARY}*"):
            if leftover.is_symlink() or not leftover.is_dir():  # no process of ours makes a directory of such a name
                leftover.unlink()


def remove_empty_directories(directory: Path) -> None:
    """Remove a directory that holds nothing but directories; what is no directory stays.

    Raises:
        RecordError: something else is in it, or it cannot be removed.
    """
    if directory.is_symlink() or not directory.is_dir():
        return
    with storing(directory):
        for each, _, _ in os.walk(directory, topdown=False):
            os.rmdir(each)


def private_directory(parent: Path, name: str) -> Path:
    """The directory `parent/name`, which only its owner can enter; made, and durable, where it is not there.

    Raises:
        RecordError: it cannot be made.
    """
    directory = parent / name
    with storing(directory):
        if not directory.is_dir():
            directory.mkdir(mode=0o700, exist_ok=True)
            sync_directory(parent)
    return directory


def make_writable(root: Path) -> None:
    """Give the owner write access to every directory of a tree, so that it can be removed."""
    for directory, _, _ in os.walk(root):
        os.chmod(directory, 0o755)


def write_new(
    name: str | Path, content: bytes, mode: int, directory: int | None = None, *, durable: bool = True
) -> None:
    """Create a file that must not exist yet, with exactly this content and mode; its content is made durable.

    Raises:
        OSError: it exists, or cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=directory)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fchmod(descriptor, mode)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parts(root: Path, relative: str) -> list[str]:
    """The components of a path below `root`. `..` is a directory like any other to the kernel: it would lead out again."""
    parts = relative.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise RecordError(
            f"{relative!r} is no path below a directory", where=str(root), expected="names between slashes"
        )
    return parts


def _open_parents(held: ExitStack, root: Path, parents: list[str], *, make: bool) -> tuple[int, int]:
    """Open `root` and the last of the directories below it, one by one; `held` closes them."""
    top = directory = os.open(root, DIRECTORY)
    held.callback(os.close, top)
    for parent in parents:
        if make:
            with suppress(FileExistsError):
                os.mkdir(parent, dir_fd=directory)
                os.fsync(directory)
        directory = os.open(parent, DIRECTORY, dir_fd=directory)
        held.callback(os.close, directory)
    return top, directory
