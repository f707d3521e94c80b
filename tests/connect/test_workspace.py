"""What lies in a workspace for an agent, and that none of it is part of the task."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.session.session import Session
from harness.support.embedded import prompt_text
from harness.task.contract import trusted_files
from harness.task.load import load_task
from tests.session.standin import FileComparison, factory, make_task

Start = Callable[[], Session]
WELCOME = {"AGENTS.md", ".mcp.json", ".claude/CLAUDE.md"}


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return make_task(tmp_path / "task")


@pytest.fixture
def start(tmp_path: Path, task: Path) -> Start:
    made: list[FileComparison] = []
    return lambda: Session.start(task, tmp_path / "work", tmp_path / "home", verifier=factory(made))


def test_an_agent_that_is_started_in_a_workspace_finds_server_and_rules(start: Start, tmp_path: Path) -> None:
    with start() as session:
        rules = (session.workspace / "AGENTS.md").read_text()
        server = json.loads((session.workspace / ".mcp.json").read_text())["mcpServers"]["lockstep"]
        assert f"`{session.id}`" in rules and "`walk`" in rules and "$" not in rules
        assert Path(server["command"]).is_absolute() and server["args"] == ["serve"]
        assert server["env"] == {"LOCKSTEP_HOME": str(tmp_path / "home")}
        assert (session.workspace / ".claude" / "CLAUDE.md").read_text() == "@../AGENTS.md\n"


def test_the_rules_name_what_is_an_agents_own_and_what_is_forbidden(start: Start) -> None:
    with start() as session:
        rules = (session.workspace / "AGENTS.md").read_text()
    for said in ("`candidate/`", "`proposed/`", "run_level_tests", "Hiding a difference", "needs a person"):
        assert said in rules
    assert "Never hide a difference" in prompt_text("parts/rules")


def test_none_of_it_is_recorded_or_hashed_or_taken_for_a_change(start: Start, task: Path) -> None:
    with start() as session:
        digest = session.events[0].detail["task_digest"]
        assert digest == load_task(task).digest == load_task(session.workspace).digest
        assert not WELCOME & set(trusted_files(session.workspace))
        for path in WELCOME:
            (session.workspace / path).write_text("something else\n")
        (session.workspace / "candidate" / "start.txt").write_text("start\n")
        done = session.verify()
        assert done.verdict.outcome == "PASS" and done.commit
        recorded = session.store.files(session.store.commit(done.commit).tree)
        assert not WELCOME & set(recorded)


def test_a_guide_that_is_a_link_out_of_the_workspace_is_nobodys_business(start: Start, tmp_path: Path) -> None:
    with start() as session:
        (session.workspace / "AGENTS.md").unlink()
        (session.workspace / "AGENTS.md").symlink_to(tmp_path / "home")
        (session.workspace / "candidate" / "start.txt").write_text("start\n")
        assert session.verify().verdict.outcome == "PASS"


def test_a_guide_anywhere_else_is_a_file_like_any_other(start: Start) -> None:
    with start() as session:
        (session.workspace / "reference" / "AGENTS.md").write_text("x")
        with pytest.raises(Exception, match=r"added reference/AGENTS\.md"):
            session.verify()


def test_what_a_person_has_put_there_is_left_alone_and_the_server_joins_it(start: Start, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / ".claude").mkdir(parents=True)
    (work / "AGENTS.md").write_text("mine\n")
    (work / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    with start() as session:
        assert (session.workspace / "AGENTS.md").read_text() == "mine\n"
        servers = json.loads((session.workspace / ".mcp.json").read_text())["mcpServers"]
        assert set(servers) == {"other", "lockstep"}
        # The workspace was blank all the same, so it was filled.
        assert (session.workspace / "task.toml").is_file()


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"mcpServers": 3}', '{"mcpServers": {"lockstep": {"command": "mine"}}}']
)
def test_servers_that_cannot_be_read_or_are_set_already_are_left_alone(
    content: str, start: Start, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".mcp.json").write_text(content)
    with start() as session:
        assert (session.workspace / ".mcp.json").read_text() == content


def test_a_link_in_the_way_is_not_followed(start: Start, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".claude").symlink_to(outside)
    (tmp_path / "work" / ".mcp.json").symlink_to(outside / "servers.json")
    with start():
        assert not list(outside.iterdir())
