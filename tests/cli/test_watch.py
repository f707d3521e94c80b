"""`lockstep watch`: a session that gains events while somebody looks at it."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.cli import watch
from harness.host.jobs import HostLock, Jobs
from harness.host.watching import Watched
from harness.session.session import Session
from tests.cli.conftest import Result
from tests.session.standin import Agent, FileComparison, factory, make_task
from tests.terminal import PATIENCE_S, Terminal

Run = Callable[..., Result]


@pytest.fixture
def agent(home: Path, tmp_path: Path) -> Iterator[Agent]:
    made: list[FileComparison] = []
    with Session.start(make_task(tmp_path / "task"), tmp_path / "work", home, verifier=factory(made)) as session:
        yield Agent(session, made)


def drawn(view: dict[str, Any], width: int = 120) -> str:
    """What the terminal would show."""
    console = Console(file=io.StringIO(), width=width, highlight=False, force_terminal=False)
    with console.capture() as captured:
        console.print(watch.picture(view, datetime.fromisoformat(view["started"]) + timedelta(minutes=5)))
    return captured.get()


def finish(agent: Agent) -> None:
    agent.get_right()
    for _ in range(4):
        agent.session.verify(message="It walks")


def test_every_event_is_reported_while_a_session_goes_on_and_the_watch_ends_with_it(agent: Agent) -> None:
    reported: list[str] = []

    def moments() -> Iterator[None]:
        yield
        assert reported == []
        agent.session.verify(message="A first try")
        yield
        assert [line.split("  ", 1)[1].strip() for line in reported] == [
            "1  attempt, level 1 of start: A first try",
            "2  verdict, level 1 of start: FAIL  comparison: reward at step 0: expected 1.0, got 0.0 (value)",
        ]
        finish(agent)
        yield
        raise AssertionError("it looked on although everything has passed")

    with Watched(agent.session.id) as watched:
        watch.follow(watched, moments(), True, lambda rows, _: reported.extend(map(watch.event_line, rows)))
        assert watched.view()["state"] == "done"
    assert len(reported) == len(agent.session.events) - 1
    assert all(re.match(r"\d\d:\d\d:\d\d +\d+  \w+", line) for line in reported)
    commit = agent.session.status()["commit"]
    assert commit[:10] in reported[-1]


def test_the_picture_shows_steps_attempts_commits_and_limits(agent: Agent) -> None:
    agent.session.verify(message="A first try")
    agent.get_right("start")
    agent.session.verify(message="Begin at the door")
    with Watched(agent.session.id) as watched:
        shown = drawn(watched.view())
    assert re.search(r"level 1 +✓ start +▶ moves", shown) and re.search(r"level 3 +· rollout", shown)
    assert "working" in shown and "begun 5 min ago" in shown and "nothing runs" in shown
    assert re.search(r"level 1 of start +FAIL +comparison: reward at step 0", shown)
    assert re.search(r"level 1 of start +PASS +Begin at the door", shown)
    assert re.search(r"level 1 of start +[0-9a-f]{10} +Begin at the door", shown)
    assert re.search(r"attempts at this step .* 0 of 6", shown) and "$0.00 of $2.00" in shown


def test_the_picture_names_what_was_asked_where_it_failed_both_values_and_how_many_more(agent: Agent) -> None:
    agent.session.verify(level=3, message="All at once")
    with Watched(agent.session.id) as watched:
        view = watched.view()
    assert view["recent"][0]["step"] == "level 3"
    for width in (60, 120):
        shown = " ".join(line[20:].strip() if width == 60 else line.strip() for line in drawn(view, width).splitlines())
        assert "expected 1.0, got 0.0" in " ".join(shown.split())
    assert re.search(r"level 3 +FAIL +at level 1: comparison: reward at step 0.*\(value\), and 1 more", drawn(view))


def test_the_picture_fits_any_width(agent: Agent) -> None:
    agent.session.verify(message="A first try " * 20)
    with Watched(agent.session.id) as watched:
        for width in (60, 90, 200):
            assert max(map(len, drawn(watched.view(), width).splitlines())) <= width


def test_a_running_job_is_shown_with_its_progress_and_a_lost_one_is_not(agent: Agent) -> None:
    found = agent.session.directory
    lock = HostLock(found)
    assert lock.take()
    jobs = Jobs(found, lock.token)
    job = jobs.begin("verify", {"level": 3}, "an agent")
    jobs.progress(job, "episodes, random", 120, 256)
    with Watched(found.id) as watched:
        shown = drawn(watched.view())
        assert re.search(r"verify level 3 .*episodes, random 120/256", shown)
        lock.release()
        assert "nothing runs" in drawn(watched.view())


def test_a_session_that_needs_a_person_says_why(agent: Agent) -> None:
    for _ in range(6):
        agent.session.verify()
    with Watched(agent.session.id) as watched:
        shown = drawn(watched.view())
    assert "needs human" in shown and "a person is needed: 6 iterations on level 1 of start (limit 6)" in shown


def test_with_json_the_present_view_is_printed_once(agent: Agent, lockstep: Run) -> None:
    agent.session.verify(message="A first try")
    result = lockstep("watch", agent.session.id, "--json")
    assert result.code == 0
    assert result.document["recent"][0]["outcome"] == "FAIL" and result.document["running"] == []
    assert [step["next"] for step in result.document["steps"]] == [True, False, False, False]


def test_a_session_that_is_done_is_not_waited_for(agent: Agent, lockstep: Run) -> None:
    finish(agent)
    result = lockstep("watch", agent.session.id, "--until-done")
    assert result.code == 0
    assert result.out == f"{agent.session.id}: done, 4 of 4 steps passed\n"


def test_ctrl_c_ends_a_watch_well(agent: Agent, lockstep: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> Iterator[None]:
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "ticks", interrupted)
    assert lockstep("watch", agent.session.id).code == 0


def test_a_copy_of_a_record_cannot_be_watched(agent: Agent, lockstep: Run, tmp_path: Path) -> None:
    bundle, clone = tmp_path / "record.bundle", tmp_path / "clone"
    agent.session.bundle(bundle)
    repository = str(agent.session.directory.repository)
    subprocess.run(["git", "clone", "--quiet", "--mirror", repository, str(clone)], check=True, capture_output=True)
    for copy in (bundle, clone):
        result = lockstep("watch", str(copy))
        assert result.code == 3
        assert "cannot be watched" in result.err and f"lockstep replay {copy}" in result.err


def test_in_a_terminal_the_view_follows_the_session_until_ctrl_c(agent: Agent) -> None:
    agent.session.verify(message="A first try")
    terminal = Terminal("watch", agent.session.id)
    try:
        assert "▶ start" in terminal.until("comparison: reward at step 0")
        agent.get_right("start")
        agent.session.verify(message="Begin at the door")
        assert "✓ start" in terminal.until("Begin at the door")
        terminal.type("\x03")
        assert terminal.process.wait(PATIENCE_S) == 0
    finally:
        terminal.close()
