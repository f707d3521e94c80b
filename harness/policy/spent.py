"""What every session of this home has spent, in one small file for each, which outlives the session's directory.

::

    <home>/spent/<session>.json     client, task, and the sums over the session's events

The process that holds a session is the only one that writes its file. It writes the sums as they will be with an event
before it records the event, and the sums over the whole log when it opens the session. So a process that is killed at any
moment has lost nothing and counted nothing twice: at worst an event that was never recorded counts until the session is
opened again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import RecordError
from harness.support.document import Document
from harness.support.files import private_directory, write_durably
from harness.support.foreign import json_of

DIRECTORY = "spent"
LOCAL = "local"
"""The client of sessions that no token began: whoever works on this machine."""
DOLLARS, ATTEMPTS, SECONDS = "dollars", "attempts", "seconds"
MEASURES = (DOLLARS, ATTEMPTS, SECONDS)


@dataclass(frozen=True)
class Spent:
    """What one session has spent.

    Attributes:
        client, task: for whom it counts.
        dollars: by reports and transcripts; `reported_dollars` of them are the word of agents alone.
        attempts: verifications that were asked for, refused workspaces included.
        seconds: of work on this machine, as the harness measured it.
    """

    client: str
    task: str
    dollars: float = 0.0
    reported_dollars: float = 0.0
    attempts: int = 0
    seconds: float = 0.0

    def plus(self, other: Spent) -> Spent:
        """This, and what another spent besides."""
        return replace(
            self,
            dollars=self.dollars + other.dollars,
            reported_dollars=self.reported_dollars + other.reported_dollars,
            attempts=self.attempts + other.attempts,
            seconds=self.seconds + other.seconds,
        )


def write_spent(home: Path, session: str, spent: Spent) -> None:
    """Put the sums of a session in place of those before; durable when this returns.

    Raises:
        RecordError: the home cannot be written.
    """
    directory = private_directory(home, DIRECTORY)
    write_durably(directory / f"{session}.json", json.dumps(vars(spent)).encode() + b"\n", 0o600)


def read_spent(path: Path) -> Spent:
    """The sums of one session.

    Raises:
        RecordError: the file is damaged.
    """
    try:
        document = Document(json_of(path.read_bytes()), "spent")
        return Spent(
            document.text("client"),
            document.text("task"),
            document.number(DOLLARS),
            document.number("reported_dollars"),
            document.whole(ATTEMPTS),
            document.number(SECONDS),
        )
    except (OSError, ValueError) as error:
        raise RecordError(
            f"what a session has spent cannot be read: {error}",
            where=str(path),
            next_step="open that session (`lockstep verify` in its workspace), which writes the file again from its log; "
            "if it is gone, remove the file",
        ) from error


def used(home: Path) -> list[Spent]:
    """What each session of a home has spent, also those whose directory is gone.

    Raises:
        RecordError: a file is damaged.
    """
    directory = home / DIRECTORY
    return [read_spent(path) for path in sorted(directory.glob("*.json"))] if directory.is_dir() else []
