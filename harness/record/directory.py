"""Where a session lies: a directory below the home directory, outside every workspace.

::

    <home>/keys/                       the signing key
    <home>/sessions/<id>/session.json  task, workspace, when it began, the file of an SSH key that signs its commits
                         lock          held by the process that works on it
                         certifying    held by the process that certifies it, which holds `lock` only while it writes
                         repo.git/     the record
                         task/         the trusted copy of the task: read by the verifier, rebuilt from the record
                         exports/      trees being verified or profiled
                         policies/     what level 4 trained, by what it was trained on and with
                         restoring     there while the workspace is being filled
                         updating      there while a changed task is being brought in: the number of its event
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import NoSuchSession, RecordError
from harness.support.files import storing, sync_directory, write_durably
from harness.support.foreign import json_of
from sandboxes.removal import remove_tree

SESSIONS = "sessions"
POLICIES = "policies"
UNFINISHED = ".new-"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")  # a file system takes names of 255 bytes


@dataclass(frozen=True)
class SessionDirectory:
    """One session on disk. `workspace` is where its agent works; `created` an ISO 8601 time in UTC.

    `ssh_key` is the file of the SSH key that signs its verified commits, if there is to be one. A session on a
    `specification` has no candidate: its workspace is the `specification/` of a task directory.
    """

    path: Path
    workspace: Path
    task: str
    created: str
    ssh_key: Path | None = None
    specification: bool = False

    @property
    def id(self) -> str:
        """The session's name."""
        return self.path.name

    @property
    def home(self) -> Path:
        """The home directory in which it lies."""
        return self.path.parents[1]

    @property
    def repository(self) -> Path:
        """The bare git directory."""
        return self.path / "repo.git"

    @property
    def trusted(self) -> Path:
        """The trusted copy of the task."""
        return self.path / "task"

    @property
    def exports(self) -> Path:
        """Where trees are exported to for a verification or a profile."""
        return self.path / "exports"

    @property
    def restoring(self) -> Path:
        """A mark that is there while the workspace is being filled from the record."""
        return self.path / "restoring"

    @property
    def updating(self) -> Path:
        """A mark that is there while a changed task is being brought in; it holds the number of its event."""
        return self.path / "updating"

    @property
    def lock(self) -> Path:
        """The lock file."""
        return self.path / "lock"

    @property
    def certifying(self) -> Path:
        """The lock file of whoever certifies the session."""
        return self.path / "certifying"

    def write(self) -> None:
        """Write `session.json`."""
        described = {"task": self.task, "workspace": str(self.workspace), "created": self.created}
        described |= {} if self.ssh_key is None else {"ssh_key": str(self.ssh_key)}
        described |= {"specification": True} if self.specification else {}
        write_durably(self.path / "session.json", json.dumps(described, indent=1).encode() + b"\n")

    @staticmethod
    def read(path: Path) -> SessionDirectory:
        """The session in `path`.

        Raises:
            RecordError: `session.json` is missing or malformed.
        """
        try:
            described = json_of((path / "session.json").read_text())
            ssh_key = described.get("ssh_key")
            return SessionDirectory(
                path,
                Path(described["workspace"]),
                str(described["task"]),
                str(described["created"]),
                None if ssh_key is None else Path(ssh_key),
                described.get("specification") is True,
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"session.json cannot be read: {error}", where=str(path)) from error


def all_sessions(home: Path) -> list[SessionDirectory]:
    """Every session of a home directory that can be read, by id.

    A damaged one is passed over here, so that it does not stand in the way of the others; asked for by its id it is named.
    """
    root = home / SESSIONS
    sessions = []
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        if path.is_dir() and not path.name.startswith("."):
            with contextlib.suppress(RecordError):
                sessions.append(SessionDirectory.read(path))
    return sessions


def find(home: Path, which: str | Path) -> SessionDirectory:
    """The session with an id, or the one that works in a directory.

    Raises:
        NoSuchSession: there is none.
    """
    name = str(which)
    path = home / SESSIONS / name
    if _ID.fullmatch(name) and (path / "session.json").is_file():
        return SessionDirectory.read(path)
    sessions = all_sessions(home)
    try:
        workspace = Path(which).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # too long, the home of nobody, or with a NUL: no path at all
        workspace = None
    for session in sessions:
        if session.workspace == workspace:
            return session
    # Which there are says whoever knows that the reader may see them (`harness.cli.locate`, `mcp_server.access`).
    raise NoSuchSession(
        f"there is no session {name!r}",
        where=str(home / SESSIONS),
        expected="the id of a session or its workspace",
        next_step="start one, or set LOCKSTEP_HOME to where it was started",
    )


def remove_unfinished(home: Path) -> None:
    """Remove what a start that was killed left behind. Only the holder of the home's start lock may."""
    for path in (home / SESSIONS).glob(f"{UNFINISHED}*"):
        remove_tree(path)


def publish(unfinished: Path, path: Path) -> None:
    """Give a finished session directory its name: from here on the session exists."""
    with storing(path):
        unfinished.rename(path)
        sync_directory(path.parent)
