"""docs/cheats.md names every program once, and no test that is not there."""

from __future__ import annotations

import re

from tests.cheats.table import CHEATS
from tests.paths import ROOT

TEXT = (ROOT / "docs" / "cheats.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TEXT.splitlines() if line.startswith("| ")][
    1:
]


def test_each_program_stands_in_one_row_of_eighteen() -> None:
    assert len(ROWS) == 18
    named = [name for row in ROWS for name in re.findall(r"`(\w+)`", row[2]) if not name.startswith("tests")]
    assert sorted(named) == sorted(CHEATS)


def test_each_test_that_it_names_is_there() -> None:
    named = [place for row in ROWS for place in re.findall(r"`(tests/[^`]+)`", row[2])]
    assert named
    for place in named:
        file, _, test = place.partition("::")
        source = (ROOT / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, place


def test_each_row_tells_the_outcomes_of_its_programs() -> None:
    for _, _, programs, verdict in ROWS:
        for name in re.findall(r"`(\w+)`", programs):
            assert str(CHEATS[name].outcome) in verdict, (name, verdict)
