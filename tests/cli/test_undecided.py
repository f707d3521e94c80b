"""What `lockstep verify` says and exits with, for each outcome that a session's verifier can come to."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.cli import show
from harness.occurrences import Occurrences
from harness.session.session import Session, Verifier
from harness.support.progress import Progress
from harness.verdict import CheckResult, LevelReport, Outcome, Verdict
from mcp_server.describing import level_line
from tests.cli.conftest import Result
from tests.session.standin import MEASURED, MODULES, UNDECIDED, FileComparison, make_task

Run = Callable[..., Result]


@pytest.fixture
def workspace(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a session that has level 4, judged by the stand-in of tests/session; its modules are right."""

    def stand_in(directory: Path, progress: Progress, driver: str | None = None, *, engine: None = None) -> Verifier:
        return FileComparison(directory, progress)

    monkeypatch.setattr("harness.session.session.levels_verifier", stand_in)
    place = tmp_path / "work"
    with Session.start(make_task(tmp_path / "task", trains=True), place, home):
        for name in MODULES:
            (place / "candidate" / f"{name}.txt").write_text(f"{name}\n")
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("command", [("verify", "--level", "4"), ("transfer",)], ids=lambda words: words[0])
def test_a_level_that_could_not_be_decided_has_an_exit_code_of_its_own(
    workspace: Path, lockstep: Run, command: tuple[str, ...]
) -> None:
    (workspace / "candidate" / "whole.txt").write_text("undecided4")
    reported = lockstep(*command, "--json")
    assert reported.code == 5, reported.out
    assert reported.document["outcome"] == "INCONCLUSIVE" and reported.document["commit"] is None
    assert reported.document["next"] == {"level": 4, "module": None}
    shown = lockstep(*command)
    assert shown.code == 5
    assert "INCONCLUSIVE" in shown.out and UNDECIDED in shown.out and "committed" not in shown.out
    assert "undecided" in shown.out and "below the noise floor" in shown.out


@pytest.mark.parametrize(
    ("whole", "code", "outcome"),
    [
        ("", 0, "PASS"),
        ("fail3", 1, "FAIL"),
        ("fail4", 1, "FAIL"),
        ("error", 3, "ERROR"),
        ("undecided4", 5, "INCONCLUSIVE"),
    ],
)
def test_each_outcome_has_its_exit_code(workspace: Path, lockstep: Run, whole: str, code: int, outcome: str) -> None:
    (workspace / "candidate" / "whole.txt").write_text(whole)
    result = lockstep("verify", "--level", "4", "--sandbox", "bubblewrap", "--json")
    assert (result.code, result.document["outcome"]) == (code, outcome), result.out


def test_an_undecided_attempt_that_was_the_last_one_allowed_asks_for_a_person(workspace: Path, lockstep: Run) -> None:
    (workspace / "candidate" / "whole.txt").write_text("undecided4")
    codes = [lockstep("verify", "--level", "4").code for _ in range(7)]
    # The first attempt passes the steps below, which count their iterations apart; level 4 may be tried six times.
    assert codes == [5, 5, 5, 5, 5, 5, 4]


@pytest.mark.parametrize(
    ("outcome", "shown"), [(Outcome.PASS, True), (Outcome.INCONCLUSIVE, True), (Outcome.FAIL, False)]
)
def test_what_occurred_and_what_was_missed_is_told_here_and_to_agents(outcome: Outcome, shown: bool) -> None:
    occurred = Occurrences(9, 99, {"terminated": 8, "truncated": 0, "both": 0}, {"1.0": 99}, untaken={"action": (2,)})
    check = CheckResult("requirements", outcome, detail="missed: end truncated 0 of 5 times")
    report = LevelReport(3, None, (check,), 7, features={"a draw": 0}, occurred=occurred)
    console = Console(width=200, record=True, file=StringIO())
    console.print(*show.verdict(Verdict((report,), 7, "ab", "process", isolated=False)))
    said, remarks = console.export_text(), "\n".join(level_line(report).remarks)
    for line in ("ends: 8 terminated", "rewards: 1.0 (99 times)", "never: a draw, end truncated, action 2"):
        assert (line in said, line in remarks) == (shown, shown)
    if outcome is not Outcome.PASS:
        assert "missed: end truncated 0 of 5 times" in said and "missed: end truncated 0 of 5 times" in remarks


@pytest.mark.parametrize(("decision", "warned"), [("undecided", True), ("equivalent", False)])
def test_a_margin_below_the_noise_floor_is_a_warning_where_something_is_undecided(decision: str, warned: bool) -> None:
    [row] = MEASURED["comparisons"]
    console = Console(width=200, record=True, file=StringIO())
    console.print(show.transfer(MEASURED | {"comparisons": [row | {"decision": decision, "same_policies": 3}]}))
    reported = console.export_text()
    assert ("below the noise floor" in reported) == warned and "6, 3 the same bit by bit" in reported


def test_how_episodes_of_several_players_ended_is_told_of_the_reference() -> None:
    share = {"share": 0.25, "interval_95": [0.1, 0.5]}
    row = {"trained_in": "candidate", "played_in": "reference", "player": "red", "opponent": "rival", "episodes": 16}
    rows = [row | dict.fromkeys(("won", "drawn", "lost"), share)]
    rows.append(rows[0] | {"played_in": "candidate", "player": "blue"})
    console = Console(width=200, record=True, file=StringIO())
    console.print(show.transfer(MEASURED | {"results": rows}))
    reported = console.export_text()
    assert "25% (10 to 50)" in reported and "rival" in reported and "blue" not in reported
