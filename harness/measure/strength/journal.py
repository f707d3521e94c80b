"""What a measurement has found so far, on disk as soon as it is found, so that one that was interrupted goes on.

A file of JSON lines, one for each thing found; a line that was being written when the process was killed is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.errors import SetupError
from harness.record.lock import Lock
from harness.support.foreign import json_of

BEGUN, FINISHED = "begun", "finished"


class Journal:
    """The journal of one measurement. `write` may be called in any thread.

    Only one process at a time has it: of two, each would lose what the other one finds.

    Args:
        path: its file; made where it does not exist.
        fresh: forget what it holds.

    Raises:
        SessionLocked: another run of the same measurement has it.
        SetupError: it cannot be written.

    Attributes:
        known: what it held of a measurement that was not finished, in order; empty where there was none.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self._turn = threading.Lock()
        with ExitStack() as stack:
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = Lock(path.with_suffix(".lock"), "this very measurement")
                stack.callback(lock.release)
                held = [] if fresh else _lines(path)
                self.known = [] if any(each["kind"] == FINISHED for each in held) else held
                # Written anew: the next line must not be glued to half of one.
                text = "".join(json.dumps(each) + "\n" for each in self.known)
                temporary = path.with_suffix(".new")
                temporary.write_text(text)
                temporary.replace(path)
                self._file = stack.enter_context(path.open("a"))
            except OSError as error:
                raise SetupError(
                    f"what is measured cannot be kept ({error.strerror})", where=str(path), next_step="make room there"
                ) from error
            self._held = stack.pop_all()

    def write(self, kind: str, found: Sequence[Mapping[str, Any]]) -> None:
        """Add what belongs together, all at once, and have it on the disk before going on."""
        text = "".join(json.dumps({"kind": kind, **each}) + "\n" for each in found)
        with self._turn:
            self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; nothing can be written afterwards."""
        self._held.close()


def key(*parts: Any) -> str:
    """The name of the journal for a measurement of these things."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(errors="replace").splitlines():
        try:
            described = json_of(line)
        except ValueError:
            break  # torn; what may follow was never acknowledged
        if isinstance(described, dict) and isinstance(described.get("kind"), str):
            found.append(described)
    return found
