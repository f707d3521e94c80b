"""The beginning of a task that has rules in words and no reference yet, and what people add to its rules."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.authoring.scaffold import check_name
from harness.errors import SetupError, TaskError
from harness.specification.place import DIRECTORY, MOST_BYTES, READINGS, RULES_FILE, Place, find
from harness.specification.statements import Statement, count_numbered, numbered, read_statements, with_ruling
from harness.support.files import write_durably
from harness.support.foreign import content_of


def rules_in(file: Path) -> str:
    """The rules in a file.

    Raises:
        SetupError: it cannot be read.
    """
    try:
        return content_of(file, MOST_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        raise SetupError(
            f"the rules cannot be read: {error}", where=str(file), expected="a Markdown file in UTF-8"
        ) from error


def begin(name: str, directory: Path, rules: str, where: str = RULES_FILE) -> tuple[Place, tuple[Statement, ...]]:
    """Make a task directory around rules in words, with a number on each statement.

    Args:
        name: the task's.
        directory: where to make it; it must not exist, or be empty.
        rules: Markdown; `where` is what messages call it.

    Returns:
        Where the specification lies, and its statements, for a person to look at.

    Raises:
        SetupError: the name is none, or there is something already.
        TaskError: the rules are wrong.
    """
    check_name(name)
    directory = directory.absolute()
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise SetupError(
            "there is something already",
            where=str(directory),
            expected="a directory that is empty, or does not exist",
            next_step="choose another one; nothing was changed",
        )
    text = numbered(rules)
    statements = read_statements(text, where)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{directory.name}-", dir=directory.parent) as unfinished:
        made = Path(unfinished) / directory.name
        place = Place(made / DIRECTORY)
        for part in (place.scenarios, *map(place.reading, READINGS)):
            part.mkdir(parents=True)
            (part / ".gitkeep").touch()
        place.rules.write_text(text, encoding="utf-8")
        os.replace(made, directory)  # an empty directory is replaced by a full one in a single step
    return find(directory), statements


def number(place: Place) -> tuple[tuple[Statement, ...], int]:
    """Put a number on each statement of the rules that has none.

    Returns:
        All statements, and how many got a number.

    Raises:
        TaskError: the rules are wrong.
    """
    _demand_thawed(place)
    before = place.text()
    after = numbered(before)
    statements = read_statements(after, RULES_FILE)
    added = len(statements) - count_numbered(before)
    if after != before:
        write_durably(place.rules, after.encode())
    return statements, added


def rule(place: Place, ruling: str, rules_on: Sequence[int]) -> Statement:
    """Add a ruling to the rules: what holds where their text could be read in two ways.

    Raises:
        TaskError: the rules or the ruling are wrong, or the specification is frozen.
    """
    _demand_thawed(place)
    text, statement = with_ruling(place.text(), ruling, rules_on, RULES_FILE)
    write_durably(place.rules, text.encode())
    return statement


def _demand_thawed(place: Place) -> None:
    if place.frozen.exists():
        raise TaskError(
            "the specification is frozen",
            where=str(place.directory),
            next_step=f"remove {place.frozen.name} to go on with it; `lockstep spec freeze` then freezes it again",
        )
