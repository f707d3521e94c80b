"""As whom commands run in a container, and what lets them share files with the person outside.

A user who is not root gets a container of their own user and group, and nothing has to be done. For root there are two
cases: a workspace that belongs to somebody else is worked on as that user; one that belongs to root is worked on as a
user that no account of the machine has, which an access control list lets read and write. What that user made is handed
to the owner of the workspace when the sandbox closes.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SpecRefused
from ..local import Shown

NOBODY_ELSE = 59999
"""Between the people of a machine and the numbers that distributions hand out: no account has it."""

_VERSION = struct.Struct("<I")
_ENTRY = struct.Struct("<HHI")
_ANY = 0xFFFFFFFF
_USER_OBJ, _USER, _GROUP_OBJ, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
_ACCESS, _DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
_READ_WRITE, _ENTER = 6, 1


@dataclass(frozen=True)
class User:
    """Who commands are, outside as inside."""

    uid: int
    gid: int


def user_for(table: Sequence[Shown]) -> User:
    """As whom the commands of a sandbox with these mounts run: never root."""
    if os.getuid() != 0:
        return User(os.getuid(), os.getgid())
    for row in table:
        owner = row.source.stat()
        if row.writable and owner.st_uid != 0:
            return User(owner.st_uid, owner.st_gid)
    return User(NOBODY_ELSE, NOBODY_ELSE)


def grant(table: Sequence[Shown], user: User) -> None:
    """Let `user` read and write what is mounted writable and belongs to others. Raises SpecRefused.

    Only root can, and only root has to. The lists stay: they name a user who exists in these containers alone, or the
    workspace's own owner, and another sandbox may be open on the same directory.
    """
    if os.getuid() != 0:
        return
    for row in table:
        if row.writable:
            for path, about in _entries(row.source):
                if about.st_uid != user.uid and not stat.S_ISLNK(about.st_mode):
                    _permit(row, path, about, user)


def give_back(table: Sequence[Shown], user: User) -> None:
    """Hand what `user` made to the owner of the mount that it lies in. Only root can, and only root has to."""
    if os.getuid() != 0:
        return
    for row in table:
        with contextlib.suppress(OSError):
            owner = row.source.stat()
            if row.writable and owner.st_uid != user.uid:
                for path, about in _entries(row.source):
                    if about.st_uid == user.uid:
                        with contextlib.suppress(OSError):  # Removed meanwhile.
                            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def readable(source: Path, user: User) -> bool:
    """Whether `user` may read a file, or list a directory, of the host."""
    about = source.stat()
    wanted = 0o5 if stat.S_ISDIR(about.st_mode) else 0o4
    shift = 6 if about.st_uid == user.uid else 3 if about.st_gid == user.gid else 0
    return (about.st_mode >> shift) & wanted == wanted


def _entries(top: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything in a tree, the top first, each by a path that no link in the tree can lead out of it."""
    yield str(top), top.lstat()
    if not top.is_dir():
        return
    for _, directories, files, fd in os.fwalk(top):
        for name in (*directories, *files):
            # Held by its directory's descriptor, so that swapping a directory for a link meanwhile leads nowhere.
            path = f"/proc/self/fd/{fd}/{name}"
            with contextlib.suppress(FileNotFoundError):
                yield path, os.lstat(path)


def _permit(row: Shown, path: str, about: os.stat_result, user: User) -> None:
    directory = stat.S_ISDIR(about.st_mode)
    permissions = _READ_WRITE | (_ENTER if directory or about.st_mode & 0o111 else 0)
    try:
        _add(path, _ACCESS, about.st_mode, user.uid, permissions)
        if directory:
            _add(path, _DEFAULT, about.st_mode, user.uid, permissions)
    except FileNotFoundError:
        return  # Removed meanwhile.
    except OSError as error:
        raise SpecRefused(
            f"mounts: {row.source} belongs to root, and its file system takes no access control lists"
            f" ({error.strerror}), so no other user can be let in; give it to a user with chown, or run as one"
        ) from error


def _add(path: str, name: str, mode: int, uid: int, permissions: int) -> None:
    """Give user `uid` these permissions in the list called `name`, which begins as what the mode says."""
    entries = {(_USER_OBJ, _ANY): mode >> 6 & 7, (_GROUP_OBJ, _ANY): mode >> 3 & 7, (_OTHER, _ANY): mode & 7}
    with contextlib.suppress(OSError):
        raw = os.getxattr(path, name, follow_symlinks=False)
        entries = {(tag, who): may for tag, may, who in _ENTRY.iter_unpack(raw[_VERSION.size :])}
    if entries.get((_USER, uid), 0) & permissions == permissions:
        return
    entries[_USER, uid] = permissions
    entries[_MASK, _ANY] = entries.get((_MASK, _ANY), entries[_GROUP_OBJ, _ANY]) | permissions
    packed = b"".join(_ENTRY.pack(tag, may, who) for (tag, who), may in sorted(entries.items()))
    os.setxattr(path, name, _VERSION.pack(2) + packed, follow_symlinks=False)
