"""The check that attacks succeed on old code tells what became of each test; one that passes there shows nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks import before
from tests.attacks.before import CANNOT_RUN, CONTROL, FAILS, PASSES, Row, Said, judged, run

OLD = {
    "tests/__init__.py": "",
    "tests/attacks/__init__.py": "",
    "old.py": "def guarded(): return False\n",
    "tests/attacks/test_door.py": """
from new import LIMIT
from old import guarded, locked

def test_the_door_is_guarded():
    assert guarded()

def test_the_door_is_locked():
    assert locked()

def test_there_is_a_limit():
    assert LIMIT < 5

def test_there_is_a_door():
    pass
""",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, content in OLD.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.slow
def test_each_test_is_told_by_what_became_of_it(place: Path) -> None:
    told = {each["test"]: each["what"] for each in run("door", place)}
    assert told == {
        "test_the_door_is_guarded": FAILS,
        "test_the_door_is_locked": CANNOT_RUN,
        "test_there_is_a_limit": CANNOT_RUN,
        "test_there_is_a_door": PASSES,
    }


def test_a_control_needs_a_reason() -> None:
    told = {"test": "test_x[1]", "what": PASSES, "why": ""}
    assert judged(told, Row()).what == PASSES
    assert judged(told, Row(controls={"test_x": "because"})) == Said("test_x[1]", CONTROL, "because")
    assert judged(told | {"what": FAILS}, Row(controls={"test_x": "because"})).what == FAILS


@pytest.mark.parametrize(("what", "status"), [(FAILS, 0), (PASSES, 1), (CANNOT_RUN, 1), (CONTROL, 1)])
def test_a_family_of_which_nothing_fails_shows_nothing(what: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before, "family_on", lambda *_: [Said("test_x", what, "")])
    assert before.main(["bombs"]) == status


def test_rows_are_of_families_and_bring_what_is_there() -> None:
    for family, row in before.ROWS.items():
        assert (before.HERE / f"test_{family}.py").is_file()
        assert all((before.ROOT / path).is_file() for path in row.brings)
