"""What a session has cost: reported, read, never counted twice, reported per commit, and stopped at its limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import SessionError
from harness.operations import verification
from harness.operations.next_calls import shell_calls
from harness.session.request import VerificationRequest
from harness.session.session import Session
from harness.session.usage import import_transcripts, report, summary
from tests.cli.conftest import Result, runner
from tests.session.standin import FileComparison, factory
from tests.session.usage.conftest import PRICES, Transcripts, add, meta, said, totals, turn

M = 1_000_000


def usage_events(session: Session) -> int:
    return sum(event.kind == "usage" for event in session.events)


# --- reports ----------------------------------------------------------------------------------------------------------


def test_a_report_is_priced_by_the_table_and_counts_at_once(session: Session) -> None:
    answer = report(session, input_tokens=100_000, output_tokens=10_000, model="thinker-5", client="script")
    assert answer["recorded"]["dollars"] == pytest.approx(0.2)
    assert answer["usage"]["input_tokens"] == 100_000 and answer["note"] == ""
    assert session.status()["dollars"] == pytest.approx(0.2)
    assert session.events[-1].arguments["client"] == "script"


def test_what_an_agent_says_that_it_cost_is_taken(session: Session) -> None:
    report(session, input_tokens=M, dollars=0.5, model="thinker-5")
    assert session.status()["dollars"] == 0.5


@pytest.mark.parametrize("model", ["", "unheard-of"])
def test_without_a_price_the_cost_is_unknown_and_that_is_said(model: str, session: Session) -> None:
    answer = report(session, output_tokens=500, model=model)
    assert "is unknown" in answer["note"]
    assert answer["recorded"]["dollars"] is None
    assert (answer["usage"]["dollars"], answer["usage"]["unpriced_tokens"]) == (0.0, 500)
    assert "dollars" not in session.events[-1].usage


@pytest.mark.parametrize(
    "wrong", [{"input_tokens": -1}, {"output_tokens": 1 << 60}, {"dollars": -0.1}, {"dollars": float("nan")}]
)
def test_a_number_that_cannot_be_is_refused_and_recorded_nowhere(wrong: dict[str, float], session: Session) -> None:
    with pytest.raises(SessionError, match=next(iter(wrong))):
        report(session, **wrong)  # pyright: ignore[reportArgumentType]
    assert usage_events(session) == 0


# --- readings ---------------------------------------------------------------------------------------------------------


def test_a_reading_records_what_is_new_and_the_next_one_nothing(session: Session, machine: Transcripts) -> None:
    file = machine.claude_file(session.workspace)
    add(file, said(session.workspace, "1", input_tokens=10, cache_read_input_tokens=100_000, output_tokens=10_000))
    first = import_transcripts(session)
    assert first["usage"]["dollars"] == pytest.approx(0.11, abs=1e-4)
    assert [row["model"] for row in first["recorded"]] == ["thinker-5"]
    again = import_transcripts(session)
    assert again["recorded"] == [] and again["note"] == "nothing new was found"
    assert usage_events(session) == 1
    add(file, said(session.workspace, "2", seconds=2, output_tokens=5_000))
    assert import_transcripts(session)["usage"]["output_tokens"] == 15_000


def test_a_response_that_was_still_growing_is_completed_by_the_next_reading(
    session: Session, machine: Transcripts
) -> None:
    file = machine.claude_file(session.workspace)
    add(file, said(session.workspace, "1", input_tokens=1000, output_tokens=1))
    import_transcripts(session)
    add(file, said(session.workspace, "1", input_tokens=1000, output_tokens=800))
    reported = import_transcripts(session)["usage"]
    assert (reported["input_tokens"], reported["output_tokens"]) == (1000, 800)
    assert reported["dollars"] == pytest.approx((1000 * 1 + 800 * 10) / M)


def test_both_clients_are_read_each_with_its_own_way_of_counting(session: Session, machine: Transcripts) -> None:
    add(machine.claude_file(session.workspace), said(session.workspace, "1", input_tokens=10, output_tokens=20))
    add(machine.codex_file(), meta(session.workspace), turn(session.workspace), totals(300, 200, 40))
    reported = import_transcripts(session)["usage"]
    assert (reported["input_tokens"], reported["cache_read_tokens"], reported["output_tokens"]) == (110, 200, 60)


def test_a_reading_that_another_process_has_made_is_known_after_a_restart(
    session: Session, machine: Transcripts, tmp_path: Path
) -> None:
    add(machine.claude_file(session.workspace), said(session.workspace, "1", output_tokens=20))
    import_transcripts(session)
    name = session.id
    session.close()
    made: list[FileComparison] = []
    with Session.open(name, tmp_path / "home", verifier=factory(made)) as again:
        assert import_transcripts(again)["recorded"] == []


def test_a_transcript_that_is_gone_takes_nothing_back(session: Session, machine: Transcripts) -> None:
    file = machine.claude_file(session.workspace)
    add(file, said(session.workspace, "1", output_tokens=20))
    import_transcripts(session)
    file.unlink()
    assert import_transcripts(session)["usage"]["output_tokens"] == 20


def test_tokens_without_a_price_get_their_cost_once_there_is_one(
    session: Session, machine: Transcripts, tmp_path: Path
) -> None:
    add(machine.claude_file(session.workspace), said(session.workspace, "1", "new-model", input_tokens=500_000))
    first = import_transcripts(session)
    assert "no price is known for new-model" in first["note"]
    assert first["usage"]["unpriced_tokens"] == 500_000
    (tmp_path / "home" / "prices.toml").write_text(PRICES.replace("thinker-", "new-"))
    then = import_transcripts(session)["usage"]
    assert (then["dollars"], then["unpriced_tokens"], then["input_tokens"]) == (0.5, 0, 500_000)
    # A price that is taken away, or falls, takes nothing back and is not added again when it returns.
    for prices in ("schema = 1\n", PRICES.replace("thinker-", "new-").replace("input = 1.0", "input = 0.5")):
        (tmp_path / "home" / "prices.toml").write_text(prices)
        assert import_transcripts(session)["usage"]["dollars"] == 0.5


def test_an_agent_that_was_started_elsewhere_is_found_where_one_says(
    session: Session, machine: Transcripts, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "project"
    elsewhere.mkdir()
    add(machine.claude_file(elsewhere), said(elsewhere, "1", output_tokens=20))
    assert "no transcript of this workspace" in import_transcripts(session)["note"]
    assert import_transcripts(session, directories=(elsewhere,))["usage"]["output_tokens"] == 20


# --- one response, once -----------------------------------------------------------------------------------------------


def test_what_a_client_reported_before_its_transcripts_were_read_is_not_counted_again(
    session: Session, machine: Transcripts
) -> None:
    report(session, input_tokens=1000, output_tokens=100, model="thinker-5", client="claude-code")
    file = machine.claude_file(session.workspace)
    add(file, said(session.workspace, "1", input_tokens=1000, output_tokens=100))
    add(file, said(session.workspace, "2", seconds=2, input_tokens=500, output_tokens=50))
    reported = import_transcripts(session)["usage"]
    assert (reported["input_tokens"], reported["output_tokens"]) == (1500, 150)
    assert reported["dollars"] == pytest.approx((1500 + 1500) / M)
    assert import_transcripts(session)["recorded"] == []
    add(file, said(session.workspace, "3", seconds=3, input_tokens=10))
    assert import_transcripts(session)["usage"]["input_tokens"] == 1510


def test_what_a_client_reports_after_its_transcripts_were_read_adds_nothing(
    session: Session, machine: Transcripts
) -> None:
    add(machine.claude_file(session.workspace), said(session.workspace, "1", input_tokens=1000))
    import_transcripts(session)
    answer = report(session, input_tokens=1000, model="thinker-5", client="claude-code")
    assert answer["recorded"] is None and "nothing was added" in answer["note"]
    assert answer["usage"]["input_tokens"] == 1000
    other = report(session, input_tokens=7, model="thinker-5", client="my-script")
    assert other["usage"]["input_tokens"] == 1007


# --- per commit, and the limit ----------------------------------------------------------------------------------------


def test_each_commit_costs_what_was_spent_since_the_one_before(session: Session) -> None:
    for number, module in enumerate(("start", "moves"), 1):
        report(session, input_tokens=number * 1000, model="thinker-5")
        (session.workspace / "candidate" / f"{module}.txt").write_text(f"{module}\n")
        assert session.verify().commit
    report(session, input_tokens=5, model="thinker-5")
    reported = summary(session)
    assert [(row["module"], row["input_tokens"], row["attempts"]) for row in reported["commits"]] == [
        ("start", 1000, 1),
        ("moves", 2000, 1),
    ]
    assert reported["since_last_commit"]["input_tokens"] == 5
    assert reported["session"]["input_tokens"] == 3005
    parts = [*reported["commits"], reported["since_last_commit"]]
    assert sum(row["dollars"] for row in parts) == pytest.approx(reported["session"]["dollars"])


def test_a_session_that_has_spent_its_money_stops_until_a_person_lets_it_go_on(
    session: Session, machine: Transcripts
) -> None:
    add(machine.codex_file(), meta(session.workspace), turn(session.workspace), totals(0, 0, 199_999))
    assert import_transcripts(session)["usage"]["state"] == "working"
    add(machine.codex_file(), totals(0, 0, 200_000, 2))
    reported = import_transcripts(session)["usage"]
    assert reported["state"] == "needs_human" and reported["dollars"] == pytest.approx(2.0)
    status = session.status()
    assert status["needs_human"]["because"] == ["$2.00 in this session (limit $2.00)"]
    (session.workspace / "candidate" / "start.txt").write_text("start\n")
    with pytest.raises(SessionError, match=r"needs a person: \$2\.00 in this session"):
        session.verify()
    session.resume("worth it")
    assert summary(session)["session"]["state"] == "working"
    assert session.verify().commit
    assert import_transcripts(session)["recorded"] == []


def test_a_verification_counts_first_so_that_the_limit_is_seen(
    session: Session, machine: Transcripts, tmp_path: Path
) -> None:
    words = shell_calls("lockstep verify", session.workspace)
    add(machine.claude_file(session.workspace), said(session.workspace, "1", output_tokens=1000))
    assert verification.verify(session, VerificationRequest(), words).document["outcome"] == "FAIL"
    assert summary(session)["session"]["output_tokens"] == 1000
    # A table that cannot be read stops nothing, and what was not counted is counted when it can be.
    add(machine.claude_file(session.workspace), said(session.workspace, "2", seconds=2, output_tokens=400_000))
    (tmp_path / "home" / "prices.toml").write_text("schema = ")
    assert verification.verify(session, VerificationRequest(), words).document["outcome"] == "FAIL"
    (tmp_path / "home" / "prices.toml").write_text(PRICES)
    stopped = verification.verify(session, VerificationRequest(), words).document
    assert stopped["outcome"] == "NEEDS_HUMAN" and stopped["state"] == "needs_human"
    assert "$4.01 in this session (limit $2.00)" in stopped["needs_human"]["because"]


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def lockstep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    return runner(capfd)


def test_the_command_shows_tokens_and_cost_and_reads_transcripts(
    session: Session, machine: Transcripts, lockstep: Callable[..., Result]
) -> None:
    (session.workspace / "candidate" / "start.txt").write_text("start\n")
    commit = session.verify().commit
    session.close()
    add(machine.claude_file(session.workspace), said(session.workspace, "1", input_tokens=12_345))
    add(machine.claude_file(session.workspace), said(session.workspace, "2", "unheard-of", output_tokens=77))
    shown = lockstep("usage", session.id, "--import")
    assert shown.code == 0
    assert commit and commit[:12] in shown.out and "12,345" in shown.out and "$0.01 + ?" in shown.out
    assert "no price for unheard-of" in shown.out
    document = lockstep("usage", session.id, "--json").document
    assert document["session"]["input_tokens"] == 12_345
    assert document["commits"][0]["commit"] == commit


def test_the_command_says_when_a_person_is_needed(session: Session, lockstep: Callable[..., Result]) -> None:
    report(session, dollars=3.0)
    session.close()
    asked = lockstep("usage", session.id)
    assert asked.code == 4 and "needs a person" in asked.out


def test_the_command_hands_out_the_price_table(
    session: Session, lockstep: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "home" / "prices.toml").unlink()
    assert lockstep("usage", "--copy-prices").code == 0
    assert (tmp_path / "home" / "prices.toml").is_file()
    assert "already" in lockstep("usage", "--copy-prices").out


def test_a_directory_without_a_reading_is_a_mistake(
    session: Session, lockstep: Callable[..., Result], tmp_path: Path
) -> None:
    assert lockstep("usage", session.id, "--from", str(tmp_path)).code == 2
