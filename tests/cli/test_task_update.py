"""A changed task on the command line: shown, brought in, judged by, and reached again from the record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import RIGHT, WRONG, Result
from tests.edits import edit

Run = Callable[..., Result]
THERE, ANOTHER = "1.0 if action == 1 else -1.0", "1.0 if action == 1 else -2.0"
"""What the reference says of the rule that RIGHT and WRONG translate, and what a changed one says."""


@pytest.fixture
def workspace(walk: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a new session on the walk, in which the command line is given."""
    place = walk.parent / "work"
    assert lockstep("start", str(walk), "--workspace", str(place), "--json").code == 0
    monkeypatch.chdir(place)
    return place


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_session_goes_on_with_a_changed_task_and_its_record_is_reached_again(
    walk: Path, workspace: Path, lockstep: Run
) -> None:
    assert lockstep("verify", "--message", "Go", "--json").code == 0
    edit(walk / "reference" / "adapter.py", THERE, ANOTHER)
    update = ("task", "update", str(walk), "--reason", "to the left the walk goes by two")
    unasked = lockstep(*update)
    assert unasked.code == 2
    assert "give --yes" in unasked.err
    assert f"+            self._place += {ANOTHER}" in unasked.out
    assert "passed  level 1 of moving: to be judged anew" in unasked.out
    assert lockstep("status", "--json").document["passed"]

    done = lockstep(*update, "--yes", "--json")
    assert done.code == 0, done.out
    assert done.document["state"] == "working"
    assert [change["path"] for change in done.document["changes"]] == ["reference/adapter.py"]
    assert lockstep("status", "--json").document["passed"] == []

    failed = lockstep("verify", "--json")
    assert failed.code == 1
    assert failed.document["outcome"] == "FAIL"
    edit(workspace / "candidate" / "env.py", RIGHT, WRONG)
    passed = lockstep("verify", "--message", "Go left by two", "--json")
    assert passed.code == 0, passed.document
    assert passed.document["commit"]

    audited = lockstep("audit", "--json")
    assert audited.code == 0
    assert len(audited.document["tasks"]) == 2
    events = lockstep("history", "--json").document["events"]
    assert [event["kind"] for event in events].count("task_updated") == 1
    again = lockstep("replay", "--verify", "all", "--json")
    assert again.code == 0, again.out
    assert {verdict["match"] for verdict in again.document["verdicts"]} == {"exact"}
    driven = lockstep("replay", "--drive", "--json")
    assert driven.code == 0, driven.out
    outcomes = [(verdict["outcome"], verdict["outcome_again"]) for verdict in driven.document["verdicts"]]
    assert outcomes == [("PASS", "PASS"), ("FAIL", "FAIL"), ("PASS", "PASS")]


def test_the_same_task_and_an_unknown_one_are_refused(walk: Path, workspace: Path, lockstep: Run) -> None:
    same = lockstep("task", "update", str(walk), "--reason", "none", "--yes", "--json")
    assert same.code == 3
    assert "is the one that the session has" in same.document["what"]
    unknown = lockstep("task", "update", str(walk / "elsewhere"), "--reason", "none", "--yes", "--json")
    assert unknown.code == 2
