"""The gate: whether the newest verified commit is good enough to merge, and is what is about to be merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.assurance.audit.checkout import differences
from harness.assurance.audit.report import Row
from harness.record.event import Event
from harness.record.store import Store
from harness.verdict import Outcome


@dataclass(frozen=True)
class Gate:
    """What is asked of the newest verified commit.

    Attributes:
        level: every level of the session up to this one must have passed in it, for all modules together.
        directory: a checkout whose `candidate/` must be what the commit holds, with nothing more or less in it; where it has
            a task.toml, its task must be the commit's as well, the cases apart (a session finds new ones).
    """

    level: int | None = None
    directory: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"level": self.level, "directory": None if self.directory is None else str(self.directory)}

    def objections(self, store: Store, rows: Sequence[Row], task: Event) -> Iterator[str]:
        """What stands in the way.

        Args:
            store: of the record.
            rows: its verified commits.
            task: the event that brought the task in force, and with it the levels that the session has.

        Raises:
            RecordError: the commit is damaged, or there is no room for the comparison.
        """
        if not rows:
            yield "there is no verified commit"
            return
        if rows[-1].seq < task.seq:
            yield f"event {task.seq} changed the task, and no commit is verified by the changed one"
        if self.level is not None:
            yield from _not_passed(rows[-1], self.level, task.detail["plan"]["levels"])
        if self.directory is not None:
            tree = store.files(store.commit(rows[-1].commit).tree)
            yield from differences(self.directory, store, tree, rows[-1].commit)


def _not_passed(row: Row, level: int, levels: Sequence[int]) -> Iterator[str]:
    if level not in levels:
        yield f"level {level} is asked for, and the session has the levels {', '.join(map(str, levels))}"
        return
    whole = {report["level"] for report in row.levels if report["outcome"] == Outcome.PASS and report["module"] is None}
    for missing in (number for number in levels if number <= level and number not in whole):
        passed = next((report["module"] for report in row.levels if report["level"] == missing), None)
        only = f", and passed it for {passed} only" if passed else ", which was not asked of it"
        yield f"commit {row.commit} must have passed level {missing} for all modules{only}"
