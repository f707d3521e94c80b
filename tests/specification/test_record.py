"""The beginning of a specification's record: one for each, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import SessionError, SetupError
from harness.operations import specification
from harness.record.directory import all_sessions
from harness.specification import record
from tests.home import new_home

RULES = "# Game\n\nOne stone.\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return new_home(tmp_path, monkeypatch)


def test_two_who_take_the_first_step_at_once_have_one_record(
    task: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, others = record.record_of, []

    def before_another_began(*given: Any) -> Any:
        found = look(*given)
        if not others:
            others.append(None)
            others[0] = record.located(home, task)
        return found

    monkeypatch.setattr(record, "record_of", before_another_began)
    assert record.located(home, task).id == others[0].id
    assert [each.id for each in all_sessions(home)] == [others[0].id]


def test_a_directory_whose_record_cannot_begin_is_not_left_behind(tmp_path: Path, home: Path) -> None:
    with pytest.raises(SessionError, match="must lie outside"):
        specification.begin("stone", home / "stone", RULES)
    assert not (home / "stone").exists()
    made = specification.begin("stone", tmp_path / "stone", RULES)
    assert [each.id for each in all_sessions(home)] == [made["session"]]


def test_a_name_that_no_task_has_gets_no_record(tmp_path: Path, home: Path) -> None:
    with pytest.raises(SetupError, match="not a name for a task"):
        specification.begin("stone", tmp_path / "two\nlines", RULES)
    assert not (tmp_path / "two\nlines").exists() and not list(all_sessions(home))
