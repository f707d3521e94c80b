"""Removing directories in which somebody else has written: unreadable, read-only, or of any depth."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

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


@contextlib.contextmanager
def scratch_directory(prefix: str) -> Iterator[Path]:
    """A new temporary directory for as long as this lasts, whatever is written into it."""
    directory = tempfile.mkdtemp(prefix=prefix)
    try:
        yield Path(directory)
    finally:
        remove_tree(directory)
