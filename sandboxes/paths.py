"""Files as commands see them, read and written from outside without being led out of the mounts.

What a command left behind may be hostile: a link to a key of the host, a FIFO that blocks its reader, a device. So every
component is opened with O_NOFOLLOW below the mount's own directory. Links are followed here, in the sandbox's view of the
tree, and only a regular file is ever opened for its content.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import PathMissing, PathRefused

_MOST_LINKS = 40
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class View:
    """The host's `source`, which commands see at `seen` (an absolute path, as components)."""

    seen: tuple[str, ...]
    source: Path
    writable: bool
    owner: tuple[int, int] | None = None
    """User and group of what is created here; None for the harness's own."""


class Views:
    """All that a sandbox shows of the host; of overlapping views the deepest one counts, as with mounts."""

    def __init__(self, views: Sequence[View], masked: Sequence[Path]) -> None:
        self._views = sorted(views, key=lambda view: len(view.seen), reverse=True)
        self._masked = masked

    def read(self, path: str, most: int) -> bytes:
        """The content of the regular file seen at `path`, at most `most` bytes long.

        Raises PathRefused or PathMissing.
        """
        resolved = self._resolve(path)
        with self._look(path, resolved) as found:
            if found is None:
                raise PathMissing(f"{path}: there is no such file in the sandbox")
            size = os.fstat(found).st_size
            if size > most:
                raise PathRefused(f"{path}: {size} bytes, more than the {most} that file_bytes allows to read")
            with open(_reopen(path, found, os.O_RDONLY), "rb", buffering=0) as file:
                # One more than was promised: the file may be growing while it is read.
                data = file.read(most + 1) or b""
                while len(data) <= most and (more := file.read(most + 1 - len(data))):
                    data += more
        if len(data) > most:
            raise PathRefused(f"{path}: grew beyond the {most} bytes that file_bytes allows to read")
        return data

    def write(self, path: str, data: bytes) -> None:
        """Replace the content of the file seen at `path`, or create it and the directories above it.

        Raises PathRefused. An existing file keeps its mode and its owner.
        """
        resolved = self._resolve(path)
        view = self._view_of(resolved)
        if view is None or not view.writable:
            raise PathRefused(f"{path}: mounted read-only; write below a mount that is writable, or /tmp")
        with self._look(path, resolved) as found:
            if found is not None:
                fd = _reopen(path, found, os.O_WRONLY)
            else:
                fd = self._create(path, view, resolved)
        with open(fd, "wb", buffering=0) as file:
            _make_room(fd, len(data))
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            file.truncate()

    def look(self, path: str) -> tuple[Path, int | None]:
        """The mount's source in which the file seen at `path` lies, and its size; None where there is none.

        Raises PathRefused.
        """
        resolved = self._resolve(path)
        view = self._view_of(resolved)
        assert view is not None
        with self._look(path, resolved) as found:
            return view.source, None if found is None else os.fstat(found).st_size

    def _view_of(self, components: Sequence[str]) -> View | None:
        for view in self._views:
            if tuple(components[: len(view.seen)]) == view.seen:
                return view
        return None

    def _resolve(self, path: str) -> list[str]:
        """`path` as components free of links. Raises PathRefused if it leaves the views."""
        if not path.startswith("/"):
            raise PathRefused(f"{path}: not absolute; name it as commands in the sandbox do")
        if ".." in path.split("/"):
            raise PathRefused(f"{path}: has a '..'; give the path itself")
        pending = _components(path)[::-1]
        resolved: list[str] = []
        links = 0
        while pending:
            name = pending.pop()
            if name == "..":
                del resolved[-1:]
                continue
            resolved.append(name)
            link = self._link_at(path, resolved)
            if link is not None:
                links += 1
                if links > _MOST_LINKS:
                    raise PathRefused(f"{path}: more than {_MOST_LINKS} links, or a circle of them")
                resolved = [] if link.startswith("/") else resolved[:-1]
                pending.extend(_components(link)[::-1])
        if self._view_of(resolved) is None:
            led = f" (links lead to /{'/'.join(resolved)})" if links else ""
            raise PathRefused(f"{path}: outside everything that the sandbox mounts{led}")
        return resolved

    def _link_at(self, path: str, components: Sequence[str]) -> str | None:
        if self._view_of(components) is None:
            return None
        with self._look(path, components) as found:
            if found is not None and stat.S_ISLNK(os.fstat(found).st_mode):
                return os.readlink("", dir_fd=found)
        return None

    @contextlib.contextmanager
    def _look(self, path: str, components: Sequence[str]) -> Iterator[int | None]:
        """An O_PATH descriptor of what is there, following no link at all; None if nothing is."""
        view = self._view_of(components)
        assert view is not None
        with contextlib.ExitStack() as stack:
            fd: int | None = None
            try:
                fd = _held(stack, os.open(view.source, _LOOK))
                self._refuse_masked(path, view, fd)
                for name in components[len(view.seen) :]:
                    fd = _held(stack, os.open(name, _LOOK, dir_fd=fd))
                    self._refuse_masked(path, view, fd)
            except FileNotFoundError:
                fd = None
            except OSError as error:
                raise PathRefused(f"{path}: {error.strerror}") from error
            yield fd

    def _create(self, path: str, view: View, components: Sequence[str]) -> int:
        *directories, name = components[len(view.seen) :]
        with contextlib.ExitStack() as stack:
            try:
                fd = _held(stack, os.open(view.source, _LOOK))
                self._refuse_masked(path, view, fd)
                for directory in directories:
                    made = _made(directory, fd)
                    fd = _held(stack, os.open(directory, _LOOK | os.O_DIRECTORY, dir_fd=fd))
                    if made and view.owner is not None:
                        os.chown(f"/proc/self/fd/{fd}", *view.owner)
                    self._refuse_masked(path, view, fd)
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                created = os.open(name, flags, 0o644, dir_fd=fd)
                if view.owner is not None:
                    os.fchown(created, *view.owner)
                return created
            except OSError as error:
                raise PathRefused(f"{path}: cannot be created: {error.strerror}") from error

    def _refuse_masked(self, path: str, view: View, fd: int) -> None:
        # A mask above the view is not meant: whoever mounts a part of a masked directory wants it seen.
        host = Path(os.readlink(f"/proc/self/fd/{fd}"))
        if any(m.is_relative_to(view.source) and host.is_relative_to(m) for m in self._masked):
            raise PathMissing(f"{path}: lies in a directory that is masked in this sandbox")


def _components(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _made(directory: str, parent: int) -> bool:
    try:
        os.mkdir(directory, dir_fd=parent)
    except FileExistsError:
        return False
    return True


def _held(stack: contextlib.ExitStack, fd: int) -> int:
    stack.callback(os.close, fd)
    return fd


def _reopen(path: str, found: int, flags: int) -> int:
    """Open the very file that was looked at, if it is a regular one: opening others can block or act."""
    mode = os.fstat(found).st_mode
    if not stat.S_ISREG(mode):
        raise PathRefused(f"{path}: a {_KINDS.get(stat.S_IFMT(mode), 'special file')}, not a regular file")
    try:
        return os.open(f"/proc/self/fd/{found}", flags | os.O_CLOEXEC)
    except OSError as error:
        raise PathRefused(f"{path}: {error.strerror}") from error


def _make_room(fd: int, size: int) -> None:
    """Have room for so many bytes before any is written: on a full disk what the file held then stays."""
    try:
        if size:
            os.posix_fallocate(fd, 0, size)
    except OSError as error:
        # Not every file system can promise room, and what the C library does instead needs a file that can be read.
        if error.errno in _NO_ROOM:
            raise


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
    stat.S_IFLNK: "link",
}
