"""The gate: whether the newest verified commit is good enough to merge, and is what is about to be merged."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.assurance.audit.report import Row
from harness.errors import SessionError
from harness.record.objects import Entry
from harness.record.snapshot import snapshot
from harness.record.store import Store
from harness.task.contract import CANDIDATE_DIRECTORY, CASES_DIRECTORY, PROPOSED_DIRECTORY, TASK_FILE
from harness.verdict import Outcome


@dataclass(frozen=True)
class Gate:
    """What is asked of the newest verified commit.

    Attributes:
        level: every level of the session up to this one must have passed in it, for all modules together.
        directory: a checkout whose `candidate/` must hold what the commit holds, byte for byte; where it has a task.toml,
            its task must be the commit's as well, the cases apart (a session finds new ones).
    """

    level: int | None = None
    directory: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"level": self.level, "directory": None if self.directory is None else str(self.directory)}

    def objections(self, store: Store, rows: Sequence[Row], levels: Sequence[int]) -> Iterator[str]:
        """What stands in the way.

        Args:
            store: of the record.
            rows: its verified commits.
            levels: the levels that the session has.

        Raises:
            RecordError: the commit is damaged, or there is no room for the comparison.
        """
        if not rows:
            yield "there is no verified commit"
            return
        if self.level is not None:
            yield from _not_passed(rows[-1], self.level, levels)
        if self.directory is not None:
            try:
                found = _files_of(self.directory)
            except SessionError as error:
                yield f"{self.directory} cannot be compared with commit {rows[-1].commit}: {error.what}"
                return
            tree = store.files(store.commit(rows[-1].commit).tree)
            yield from _differences(self.directory, found, tree, rows[-1].commit)


def _not_passed(row: Row, level: int, levels: Sequence[int]) -> Iterator[str]:
    if level not in levels:
        yield f"level {level} is asked for, and the session has the levels {', '.join(map(str, levels))}"
        return
    whole = {report["level"] for report in row.levels if report["outcome"] == Outcome.PASS and report["module"] is None}
    for missing in (number for number in levels if number <= level and number not in whole):
        passed = next((report["module"] for report in row.levels if report["level"] == missing), None)
        only = f", and passed it for {passed} only" if passed else ", which was not asked of it"
        yield f"commit {row.commit} must have passed level {missing} for all modules{only}"


def _differences(
    directory: Path, found: Mapping[str, Entry], verified: Mapping[str, Entry], commit: str
) -> Iterator[str]:
    tops = {path.split("/", 1)[0] for path in (*found, *verified)} if TASK_FILE in found else {CANDIDATE_DIRECTORY}
    compared = tops - {CASES_DIRECTORY, PROPOSED_DIRECTORY}
    for path in sorted(path for path in found.keys() | verified.keys() if path.split("/", 1)[0] in compared):
        if path not in found:
            yield f"{path} of commit {commit} is missing in {directory}"
        elif path not in verified:
            yield f"{path} in {directory} is not part of commit {commit}"
        elif found[path].id != verified[path].id:
            yield f"{path} in {directory} is not what commit {commit} holds"


def _files_of(directory: Path) -> Mapping[str, Entry]:
    """What a session would take of a directory, by the very same rules."""
    with tempfile.TemporaryDirectory(prefix="lockstep-gate-") as scratch:
        path = Path(scratch) / "repo.git"
        Store.create(path)
        with Store(path) as store:
            return snapshot(directory, store, may_be_checkout=True).files
