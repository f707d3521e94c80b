"""What was changed between an attempt that found a divergence and the one in which its check passed again, as diffs."""

from __future__ import annotations

from typing import Any

from harness.assurance.replay.changes import Change, changes
from harness.report import plain
from harness.report.reading import Reading
from harness.task.contract import CASES_DIRECTORY

MAX_DIFF = 12_000
"""Characters of the diffs of one repair."""
MAX_DIFFS = 400_000
"""Characters of all diffs together, so that a page stays below 5 MB."""
Row = dict[str, Any]


class Repairs:
    """Hands out the diffs of one record's repairs until the page is full; what is left out or cut is said in its place."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._room = MAX_DIFFS

    def between(self, before: str | None, after: str | None) -> list[Row]:
        """The files in which two recorded trees differ: `path`, `kind` and `diff`. Kept cases are not among them."""
        if before is None or after is None:
            return []

        def found() -> list[Change]:
            return [
                each
                for each in changes(self._reading.store, before, after)
                if not each.path.startswith(f"{CASES_DIRECTORY}/")
            ]

        files: list[Row] = []
        room = min(MAX_DIFF, self._room)
        for each in self._reading.safely(f"the diff to tree {after[:12]}", found, [])[: plain.MAX_ITEMS]:
            diff = plain.block("\n".join(each.diff[2:]), max(room, 0))
            files.append({"path": plain.line(each.path, 200), "kind": each.kind, "diff": diff})
            room -= len(diff)
            self._room -= len(diff)
        return files
