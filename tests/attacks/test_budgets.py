"""The attack: spend without end, by beginning another session whenever the limits of one are reached.

An agent also removes what it has spent: it cancels just before the end, is killed at a bad moment, spends in several
sessions at once, has a session's directory deleted, or goes on in a session that somebody shared.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import LockstepError, SessionError
from harness.policy.budgets import CLIENT, TASK, standing
from harness.policy.spent import LOCAL, read_spent
from harness.record.log import EventLog
from harness.session import attempt
from harness.session.recorder import Recorder
from harness.session.session import Session
from harness.session.spending import Spending
from mcp_server.tokens import TokenFile
from tests.mcp_server.conftest import Place, begun, call, refused
from tests.session.standin import Agent, FileComparison, factory

Begin = Callable[[str], Agent]


@pytest.fixture
def begin(task: Path, tmp_path: Path, home: Path, request: pytest.FixtureRequest) -> Begin:
    """Begins one more session on the task."""

    def another(name: str) -> Agent:
        made: list[FileComparison] = []
        session = Session.start(task, tmp_path / name, home, verifier=factory(made))
        request.addfinalizer(session.close)
        return Agent(session, made)

    return another


def budgets(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "budgets.toml").write_text(text)


def ledger(agent: Agent) -> Path:
    found = agent.session.directory
    return found.home / "spent" / f"{found.id}.json"


@pytest.mark.parametrize("table", ["[task.walk]", "[tasks]", "[client.local]", "[clients]"])
def test_a_new_session_does_not_begin_clean(table: str, home: Path, begin: Begin) -> None:
    budgets(home, f"{table}\nattempts = 2\n")
    first, second = begin("first"), begin("second")
    first.session.verify()
    second.session.verify()
    for each in (first, second):
        with pytest.raises(SessionError, match=r"2 attempts of 2 attempts for (client local|task walk)") as stopped:
            each.session.verify()
        assert table in stopped.value.what and "budgets.toml" in stopped.value.next_step
        status = each.session.status()
        assert status["state"] == "needs_human"
        assert "2 attempts of 2 attempts" in status["needs_human"]["because"][0]
        each.session.resume("a person let the session go on, and the budget is another limit")
        assert each.session.status()["state"] == "needs_human"
    with pytest.raises(SessionError, match="the budget is used up"):
        begin("third")
    assert len(list((home / "sessions").glob("walk-*"))) == 2


def test_what_was_spent_outlives_the_directory_of_the_session(home: Path, begin: Begin) -> None:
    budgets(home, "[task.walk]\nattempts = 1\n")
    first = begin("first")
    first.session.verify()
    first.session.close()
    shutil.rmtree(first.session.directory.path)
    with pytest.raises(SessionError, match="1 attempts of 1 attempts"):
        begin("second")


def test_whoever_breaks_a_verification_off_has_spent_the_time(
    home: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets(home, "[task.walk]\nseconds = 50\n")
    agent = begin("first")
    (agent.session.workspace / "candidate" / "whole.txt").write_text("raise")
    agent.get_right()
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr(attempt.time, "monotonic", lambda: next(clock))
    with pytest.raises(RuntimeError):
        agent.session.verify(level=2)
    monkeypatch.undo()
    assert agent.session.events[-1].kind == "interrupted"
    with pytest.raises(SessionError, match="100 s of 50 s"):
        agent.session.verify()


def test_an_event_is_counted_before_it_is_recorded(home: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = begin("first")
    append, seen = EventLog.append, []

    def watched(log: EventLog, kind: str, **fields: Any) -> Any:
        seen.append((kind, read_spent(ledger(agent)).attempts))
        return append(log, kind, **fields)

    monkeypatch.setattr(EventLog, "append", watched)
    agent.session.verify()
    agent.session.verify()
    assert [count for kind, count in seen if kind == "attempt"] == [1, 2]


def test_a_process_that_is_killed_loses_nothing_and_counts_nothing_twice(
    home: Path, begin: Begin, task: Path, tmp_path: Path
) -> None:
    agent = begin("first")
    agent.session.verify()
    agent.session.close()
    exact = read_spent(ledger(agent))
    assert exact.attempts == 1
    # Killed between the two writes: counted and not recorded.
    Spending(agent.session.directory, agent.session.events).expect("attempt", {})
    assert read_spent(ledger(agent)).attempts == 2
    for broken in (None, b"", b"{}"):
        if broken is not None:
            ledger(agent).write_bytes(broken)
        with Session.open(agent.session.id, home, verifier=factory([])):
            assert read_spent(ledger(agent)) == exact
    ledger(agent).unlink()  # a session of an earlier version has none
    with Session.open(agent.session.id, home, verifier=factory([])):
        assert read_spent(ledger(agent)) == exact


def test_an_event_that_cannot_be_recorded_is_taken_back(
    home: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = begin("first")

    def full(*_: object, **__: object) -> None:
        raise LockstepError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(EventLog, "append", full)
        with pytest.raises(LockstepError, match="the disk is full"):
            agent.session.report_usage(dollars=5.0)
    assert read_spent(ledger(agent)).dollars == 0.0


def test_sessions_at_the_same_time_do_not_spend_more_than_there_is(
    home: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets(home, "[clients]\nattempts = 1\n")
    agents = [begin("first"), begin("second")]
    both_have_looked, outcomes = threading.Barrier(2), []
    take = Recorder.take_snapshot

    def together(recorder: Recorder, arguments: Any) -> Any:
        both_have_looked.wait(60)
        return take(recorder, arguments)

    monkeypatch.setattr(Recorder, "take_snapshot", together)

    def verify(agent: Agent) -> None:
        try:
            agent.session.verify()
            outcomes.append("verified")
        except SessionError as error:
            outcomes.append(error.what)

    threads = [threading.Thread(target=verify, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said.split(":")[0] for said in outcomes) == ["the budget is used up", "verified"]


def test_refused_workspaces_use_up_a_budget(home: Path, begin: Begin) -> None:
    budgets(home, "[task.walk]\nattempts = 1\n")
    agent = begin("first")
    (agent.session.workspace / "conftest.py").write_text("")
    with pytest.raises(SessionError, match="belong to the verifier"):
        agent.session.verify()
    with pytest.raises(SessionError, match="the budget is used up"):
        agent.session.verify()


def test_a_file_with_a_mistake_lets_nobody_spend(home: Path, begin: Begin) -> None:
    agent = begin("first")
    budgets(home, "[client.local]\natempts = 1\n")
    for spend in (agent.session.verify, lambda: begin("second")):
        with pytest.raises(LockstepError, match=r"line 2: `client.local.atempts` is unknown"):
            spend()
    assert agent.session.status()["state"] == "needs_human"


def test_dollars_that_an_agent_reported_are_marked(home: Path, begin: Begin) -> None:
    budgets(home, "[task.walk]\ndollars = 5\n[client.local]\ndollars = 100\n")
    agent = begin("first")
    agent.session.report_usage(arguments={"source": "transcripts"}, dollars=3.0)
    agent.session.report_usage(arguments={"source": "reported"}, dollars=2.0)
    (row,) = standing(home, TASK, "walk")
    assert (row["used"], row["reported"]) == (5.0, 2.0)
    (row,) = standing(home, CLIENT, LOCAL)
    assert (row["used"], row["limit"]) == (5.0, 100)
    with pytest.raises(
        SessionError, match=r"\$5.00 of \$5.00 for task walk, \$2.00 of it reported by agents themselves"
    ):
        agent.session.verify()
    assert agent.session.status()["dollars_reported"] == 2.0


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_client_over_http_is_stopped_and_others_are_not(place: Place) -> None:
    bobs = TokenFile(place.home / "mcp-tokens.json").add("bob")
    budgets(place.home, "[client.bob]\ndollars = 2\n")
    with place.http() as server:
        async with server.client() as alice, server.client(token=bobs) as bob:
            theirs, mine = await begun(alice), await begun(bob)
            reported = await call(bob, "report_usage", session=mine, dollars=2.5)
            assert reported["usage"]["dollars_reported"] == 2.5
            said = await call(bob, "run_level_tests", session=mine)
            assert said["outcome"] == "NEEDS_HUMAN"
            assert "$2.50 of $2.00 for client bob, $2.50 of it reported by agents themselves" in str(said)
            status = await call(bob, "session_status", session=mine)
            assert (status["state"], status["dollars_reported"]) == ("needs_human", 2.5)
            for tool, given in (
                ("start_session", {"task": "walk"}),
                ("run_command", {"session": mine, "command": "true"}),
            ):
                assert "the budget is used up: $2.50 of $2.00 for client bob" in await refused(bob, tool, **given)
            await call(alice, "run_command", session=theirs, command="true")
    # Nor does it go on in a session whose spending counts for somebody else.
    with place.http("--share", theirs) as server:
        async with server.client(token=bobs) as bob:
            said = await refused(bob, "run_command", session=theirs, command="true")
            assert "the budget is used up" in said
