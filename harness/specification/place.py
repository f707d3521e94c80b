"""Where the parts of a specification lie in a task directory, and reading them together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import NoSuchTask, TaskError
from harness.record.bounds import MAX_FILES
from harness.record.specification import DIRECTORY, FROZEN_FILE, PARTS, TABLES
from harness.specification.scenarios import SCENARIOS_DIRECTORY, Scenarios, read_scenarios
from harness.specification.sheet import SHEET_FILE, Sheet, read_sheet
from harness.specification.statements import Statement, read_statements
from harness.support.foreign import content_of
from harness.task.contract import COMPILED

RULES_FILE = "RULES.md"
READINGS = PARTS
ADAPTER_FILE = "adapter.py"
MOST_BYTES = 4 << 20
"""Of the rules."""
ADAPTER = f"{ADAPTER_FILE}:Game"
"""What a reading is: a class of this name in this file (docs/protocol.md, "Adapters in Python")."""


@dataclass(frozen=True)
class Place:
    """The `specification/` of one task directory."""

    directory: Path

    @property
    def name(self) -> str:
        """The task's."""
        return self.directory.parent.name

    @property
    def rules(self) -> Path:
        """The file of the statements."""
        return self.directory / RULES_FILE

    @property
    def sheet(self) -> Path:
        """The file of the state sheet."""
        return self.directory / SHEET_FILE

    @property
    def scenarios(self) -> Path:
        """The directory of the scenarios."""
        return self.directory / SCENARIOS_DIRECTORY

    @property
    def tables(self) -> Path:
        """The directory of tables that belong to the rules and are too long for their text; there may be none."""
        return self.directory / TABLES

    @property
    def frozen(self) -> Path:
        """What was signed when the specification was frozen."""
        return self.directory / FROZEN_FILE

    def reading(self, which: str) -> Path:
        """The directory of one reading, `first` or `second`; nothing else lies there, and it sees nothing else."""
        return self.directory / "readings" / which

    def text(self) -> str:
        """The rules.

        Raises:
            TaskError: they cannot be read.
        """
        try:
            return content_of(self.rules, MOST_BYTES).decode("utf-8")
        except (OSError, ValueError) as error:
            raise TaskError(
                f"the rules cannot be read: {error}", where=str(self.rules), next_step="write them as UTF-8 text there"
            ) from error


@dataclass(frozen=True)
class Specification:
    """What was read of a specification; `sheet` and `scenarios` are None where there is no sheet yet."""

    place: Place
    statements: tuple[Statement, ...]
    sheet: Sheet | None
    scenarios: Scenarios | None

    def demanded(self) -> tuple[Sheet, Scenarios]:
        """Sheet and scenarios, for what cannot go on without them.

        Raises:
            TaskError: there is no sheet yet.
        """
        if self.sheet is None or self.scenarios is None:
            raise TaskError(
                f"there is no {SHEET_FILE} yet",
                where=str(self.place.directory),
                next_step="write the state sheet (docs/specification.md), then `lockstep spec check`",
            )
        return self.sheet, self.scenarios


def find(directory: Path) -> Place:
    """The specification of a task directory.

    Raises:
        NoSuchTask: it has none.
        TaskError: something in it is neither a file nor a directory.
    """
    place = Place(directory.resolve() / DIRECTORY)
    if not os.path.lexists(place.rules):
        raise NoSuchTask(
            f"there is no {DIRECTORY}/{RULES_FILE}",
            where=str(directory),
            next_step="name the directory of a task that `lockstep new NAME --spec RULES.md` made",
        )
    demand_plain(place)
    return place


def demand_plain(place: Place) -> None:
    """Refuse a specification with links, pipes or devices in it: reading one may wait for ever, or show another place.

    Raises:
        TaskError: there are such; each is named. Or there are too many files.
    """
    odd: list[str] = []
    for count, (path, kind) in enumerate(_entries(place.directory), 1):
        if count > MAX_FILES:
            raise TaskError(f"there are more than {MAX_FILES} files", where=str(place.directory))
        if kind:
            odd.append(f"{path.relative_to(place.directory.parent)} is {kind}")
    if odd:
        raise TaskError(
            "a specification has files and directories alone",
            mistakes=tuple(sorted(odd)),
            where=str(place.directory),
            next_step="remove these, or put plain files in their place",
        )


def _entries(directory: Path, top: bool = True) -> Iterator[tuple[Path, str]]:
    """What lies below a directory, each with what keeps it from being read; hidden entries at the top are left out."""
    with os.scandir(directory) as found:
        for entry in found:
            if entry.name == COMPILED or (top and entry.name.startswith(".")):
                continue
            if entry.is_symlink():
                yield Path(entry.path), "a link"
            elif entry.is_dir():
                yield from _entries(Path(entry.path), top=False)
            else:
                yield Path(entry.path), "" if entry.is_file() else "neither a file nor a directory"


def read(place: Place) -> Specification:
    """Read rules, sheet and scenarios.

    Raises:
        TaskError: one of them is wrong; every mistake of it is named.
    """
    text = place.text()
    statements = read_statements(text, RULES_FILE)
    numbers = [statement.number for statement in statements]
    sheet = read_sheet(place.sheet, text, numbers) if place.sheet.exists() else None
    scenarios = None if sheet is None else read_scenarios(place.scenarios, sheet, numbers)
    return Specification(place, statements, sheet, scenarios)
