"""The command line beside a host that an agent's tools have started, and what it offers of the agent's sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cli import locate
from harness.host import client, jobs
from harness.record.directory import find
from harness.session.session import Session
from tests.cli.conftest import Result

Run = Callable[..., Result]


@pytest.fixture
def workspace(walk: Path, home: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The workspace of a fresh session on the walk, in which the command line is given."""
    place = walk.parent / "work"
    assert lockstep("start", str(walk), "--workspace", str(place), "--fresh").code == 0
    monkeypatch.chdir(place)
    yield place
    found = find(home, place)
    for job in jobs.recent(found):
        if not job.finished:
            client.ask(found.id, "cancel", {"job": job.id}, home=home)
            while not jobs.read(job.id, home).finished:
                pass
    client.release(found.id, home)


def test_a_command_that_needs_the_session_has_an_idle_host_let_go(workspace: Path, home: Path, lockstep: Run) -> None:
    session = lockstep("status", "--json").document["session"]
    client.ask(session, "list_files", {}, home=home)
    assert jobs.host_token(find(home, session))
    assert lockstep("resume", "--reason", "all is well").code == 0
    assert jobs.host_token(find(home, session)) is None


def test_a_command_that_needs_the_session_names_the_job_of_a_busy_host(
    workspace: Path, home: Path, lockstep: Run
) -> None:
    session = lockstep("status", "--json").document["session"]
    job = client.ask(session, "run_command", {"command": "sleep 1000"}, home=home, client="Ada")["job"]["id"]
    refused = lockstep("verify", "--json")
    assert refused.code == 3
    assert job in refused.document["what"] and "Ada" in refused.document["what"]
    assert lockstep("status").code == 0
    assert lockstep("history").code == 0


def test_a_program_runs_where_the_agent_s_commands_run(workspace: Path, lockstep: Run) -> None:
    (workspace / "candidate" / "mine.txt").write_text("mine\n")
    shown = lockstep("shell", ".", "--", "sh", "-c", "cat candidate/mine.txt; ls; exit 4")
    assert shown.code == 4
    assert "mine" in shown.out
    assert "task.toml" in shown.out
    result = lockstep("shell", ".", "--json", "--", "sh", "-c", "cat candidate/mine.txt; exit 4")
    session = lockstep("status", "--json").document["session"]
    program = ["sh", "-c", "cat candidate/mine.txt; exit 4"]
    assert result.code == 4 and result.document == {"session": session, "program": program, "exit_code": 4}
    assert "mine" in result.err


def test_in_a_workspace_a_program_needs_no_session_named(workspace: Path, lockstep: Run) -> None:
    assert lockstep("shell", "--", "sh", "-c", "exit 5").code == 5
    assert lockstep("shell", "nosuchsession", "--", "sh", "-c", "exit 5").code == 127
    session = lockstep("status", "--json").document["session"]
    assert lockstep("shell", session, "--", "sh", "-c", "exit 6").code == 6
    script = workspace / "candidate" / "seven.sh"
    script.write_text("#!/bin/sh\nexit 7\n")
    script.chmod(0o755)
    assert lockstep("shell", "--", "candidate/seven.sh").code == 7


def test_nothing_is_explained_before_anything_was_verified(workspace: Path, lockstep: Run) -> None:
    result = lockstep("explain", "--json")
    assert result.code == 3
    assert "nothing was verified yet" in result.document["what"]


@pytest.mark.slow
def test_a_failed_verification_is_explained_again_later(workspace: Path, lockstep: Run) -> None:
    failed = lockstep("verify", "--json")
    assert failed.code == 1, failed.document
    explained = lockstep("explain", "--json")
    assert explained.code == 0
    assert explained.document["divergence"] == failed.document["divergence"]
    assert lockstep("explain").out.startswith("REPAIR PROMPT")


def test_whoever_certifies_waits_for_the_session_at_the_end_and_says_for_whom(
    workspace: Path, home: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "AGAIN_S", 0.0)
    session = lockstep("status", "--json").document["session"]
    holder = Session.open(session, home)
    said: list[str] = []

    def tell(what: str, done: int, total: int) -> None:
        said.append(what)
        holder.close()

    with locate.opened_when_free(session, tell) as opened:
        assert opened.id == session
    assert [f"waiting: the session {session} is in use by process" in line for line in said] == [True]
