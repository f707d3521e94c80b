"""The tasks whose own code may run here: known to this home by digest, or trusted by a person for one command.

To reach a recorded verdict again runs the properties, interactions and reference of the recorded task. A record comes from
anybody; so its task runs only where this home began a session on the same one, or a person compared its digest.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from harness.errors import RecordError
from harness.support.files import storing, write_durably

DIRECTORY = "known-tasks"
FORGETTING = "LOCKSTEP_TASKS_ARE_FORGOTTEN"
"""A variable (`1`) for a server whose sessions are on tasks that a person trusted for one command: its home learns none."""


def remember(home: Path, digest: str, task: str) -> None:
    """Note that a person began a session on the task with this digest; not where `FORGETTING` is set.

    Raises:
        RecordError: the home cannot be written.
    """
    if os.environ.get(FORGETTING) == "1":
        return
    known = home / DIRECTORY
    with storing(known):
        known.mkdir(mode=0o700, exist_ok=True)
        if not (known / digest).exists():
            write_durably(known / digest, f"{task}\n".encode())


@dataclass(frozen=True)
class Trust:
    """Whom one command believes: what its home knows, and the digests that a person gave by hand."""

    home: Path
    given: Collection[str] = ()

    def demand(self, digest: str, task: str) -> None:
        """Check that the code of a recorded task may run here.

        Raises:
            RecordError: nobody vouched for it.
        """
        if digest in self.given or (self.home / DIRECTORY / digest).is_file():
            return
        raise RecordError(
            f"the record brings a task of its own, {task!r}, which this home does not know; nothing of it was run",
            where=f"task digest {digest}",
            expected="a task on which a session was begun in this home, or whose digest you compared",
            next_step="ask whoever keeps the task for its digest, compare it with this one, and if it is the same, give "
            f"--trust-task {digest}",
        )
