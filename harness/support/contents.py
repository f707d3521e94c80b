"""One key for all that a program can tell of a directory's files: the key under which what was made of them is kept."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path


def contents_key(directory: Path) -> str:
    """SHA-256 over every entry below a directory: its name, its kind, whether it can be executed, its content or its target.

    Nothing is left out: what a compiler or a script can read decides what comes out of it, caches and hidden files included.
    """
    sha = hashlib.sha256()
    for folder, folders, files in os.walk(directory):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(folder) / name
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                said = b"link " + os.fsencode(os.readlink(path))
            elif stat.S_ISDIR(status.st_mode):
                said = b"directory"
            elif stat.S_ISREG(status.st_mode):
                kind = b"program " if status.st_mode & stat.S_IXUSR else b"file "
                said = kind + hashlib.sha256(path.read_bytes()).hexdigest().encode()
            else:
                said = b"other"
            sha.update(os.fsencode(path.relative_to(directory)) + b"\0" + said + b"\0")
    return sha.hexdigest()
