"""Which tests CI leaves to the night because something shorter stands for them: `by_night.toml` lists them in one place.

A test that its own file gives the marker `nightly` needs no line there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("by_night.toml")
ALL_BUT_THE_FIRST = "[all but the first]"


def read(table: Path = TABLE) -> dict[str, str]:
    """What stands by day for each test that is left to the night, by its id."""
    return tomllib.loads(table.read_text())["tests"]


def leave(items: Iterable[pytest.Item], tests: Collection[str]) -> None:
    """Give each test that is named in `tests` the marker `nightly`.

    Where all but the first case are named, the first one is that of the collection, of those that are not left to the night
    already: whoever names a case runs it.
    """
    seen: set[str] = set()
    for item in items:
        name = item.nodeid.split("[", 1)[0]
        if name in tests or (name in seen and name + ALL_BUT_THE_FIRST in tests):
            item.add_marker(pytest.mark.nightly)
        if item.get_closest_marker("nightly") is None:
            seen.add(name)


def stale(tests: Iterable[str], root: Path) -> Iterator[str]:
    """Every test of the table that is not there any more; one sentence each."""
    for test in tests:
        file, _, function = test.removesuffix(ALL_BUT_THE_FIRST).partition("::")
        path = root / file
        if not path.is_file() or not re.search(rf"^(async )?def {function}\(", path.read_text(), re.MULTILINE):
            yield f"{TABLE.name}: {file} has no test {function}: remove its line, or give it the test's new name"
