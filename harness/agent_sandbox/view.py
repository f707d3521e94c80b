"""A workspace as its agent sees it: what of it is shown, under which paths, and what of that may be written."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SessionError

WORKSPACE = "/workspace"
MAX_PATH = 4096


@dataclass(frozen=True)
class Root:
    """One entry of the workspace as the agent sees it: the host's `source`, and whether it can be written."""

    source: Path
    writable: bool


class FileView(ABC):
    """What an agent may read and write.

    Attributes:
        workspace: the directory itself.
        uri: with which its resources begin.
    """

    workspace: Path
    uri: str

    @abstractmethod
    def roots(self) -> dict[str, Root]:
        """What lies in the workspace as it is shown, by name."""

    @abstractmethod
    def prepare(self) -> None:
        """Make what has to be there before anything is shown."""

    @abstractmethod
    def read(self, target: str) -> bytes:
        """The content of a file.

        Raises:
            PathMissing: there is none; PathRefused: it may not be read.
        """

    @abstractmethod
    def write(self, target: str, data: bytes) -> None:
        """Replace or create a file, with missing directories.

        Raises:
            PathRefused: it may not be written; SpaceRefused: there is no room.
        """

    def target(self, path: str) -> str:
        """The path inside of what an agent calls `path`: relative to the workspace, or absolute, inside or outside.

        Raises:
            SessionError: it is not a path, leaves the workspace by `..`, or is not shown.
        """
        if not path or len(path) > MAX_PATH or "\0" in path or not _is_name(path):
            raise SessionError(
                f"{path[:40]!r} is not a path", expected=f"a path in the workspace of at most {MAX_PATH} characters"
            )
        if ".." in path.split("/"):
            raise SessionError(f"{path!r} has a `..`", expected="the path itself, such as candidate/env.py")
        if path == str(self.workspace) or path.startswith(f"{self.workspace}/"):
            path = path.removeprefix(str(self.workspace)).lstrip("/")
        inside = path if path.startswith("/") else f"{WORKSPACE}/{path}"
        names = [name for name in inside.split("/") if name not in ("", ".")]
        self.refuse(names, path)
        if names[:1] == [WORKSPACE[1:]] and len(names) > 1 and names[1] not in self.roots():
            raise SessionError(
                f"there is no {names[1]} in the workspace as its sandbox shows it",
                expected=f"a path below one of {', '.join(sorted(self.roots()))}",
            )
        return "/" + "/".join(names)

    @abstractmethod
    def refuse(self, names: Sequence[str], path: str) -> None:
        """Raise SessionError for what is never shown, and say where it is to be had; `names` are the parts of the path."""

    def shown(self, target: str) -> str:
        """A path inside as documents name it: relative to the workspace where it lies there."""
        return target.removeprefix(f"{WORKSPACE}/") if target != WORKSPACE else "."


def _is_name(path: str) -> bool:
    """Whether a file system can have a file of this name: not with half of a character."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
