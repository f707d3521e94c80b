"""Temporary directories, and removing what somebody else has written there: unreadable, read-only, or of any depth."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_MARKED = re.compile(r"-(?P<process>\d+)\.\d+\.(?P<space>\d+)-")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def remove_tree(directory: Path | str) -> None:
    """Remove a directory with all below it, if it is there; links in it are removed, not followed. What cannot be, stays.

    Not `shutil.rmtree`: that needs a descriptor and a call of Python's for each level, and a name may be 10,000 levels deep.
    """
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        result = subprocess.run(
            [*command, "--", os.fspath(directory)],
            env={"PATH": _PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if command[0] == "rm" and result.returncode == 0:
            return


def new_directory(prefix: str) -> Path:
    """A new temporary directory. Its name tells this process and when it began, so that what a killed one left is known."""
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{_mark(os.getpid())}-"))


@contextlib.contextmanager
def scratch_directory(prefix: str) -> Iterator[Path]:
    """A new temporary directory for as long as this lasts, whatever is written into it."""
    directory = new_directory(prefix)
    try:
        yield directory
    finally:
        remove_tree(directory)


def left_behind(directory: Path) -> list[Path]:
    """The temporary directories in a directory that processes of this user made, which are no more.

    Those of processes that cannot be seen from here, as from inside of a container, are not among them.
    """
    here = _mark(os.getpid()).rpartition(".")[2]
    found = ((path, _MARKED.search(path.name)) for path in directory.iterdir())
    ours = ((path, marked) for path, marked in found if marked and marked["space"] == here and _own(path))
    return sorted(path for path, marked in ours if _mark(int(marked["process"])) != marked[0].strip("-"))


def remove_left_behind(directory: Path) -> list[Path]:
    """Remove them: nobody can want them any more. Gives what was there."""
    left = left_behind(directory)
    for each in left:
        remove_tree(each)
    return left


def _mark(process: int) -> str:
    """A process, when it began in ticks since the machine did (0 where it is no more), and where its number means it."""
    try:
        began = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        began = "0"
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        space = 0
    return f"{process}.{began}.{space}"


def _own(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.getuid()
    except OSError:
        return False  # it has just been removed
