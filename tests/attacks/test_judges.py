"""The attack: an agent makes, or changes, the task by which it is judged, with nothing but the server's tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import operations
from harness.errors import SessionError, TaskError
from harness.record.directory import all_sessions
from harness.support.embedded import embedded_tasks
from mcp_server.app import build_server
from mcp_server.registry import TaskRegistry
from mcp_server.resources import Resources
from mcp_server.services import Services
from tests.session.standin import make_task


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory of an operator with a task in it, below which agents get their workspaces."""
    make_task(tmp_path / "project" / "tasks" / "walk")
    return tmp_path / "project"


def offered(project: Path, home: Path) -> TaskRegistry:
    """What a server offers that was started in this directory, for all tasks below it."""
    return TaskRegistry((project.resolve(),), project.resolve(), home)


@pytest.mark.parametrize("given", ["tasks/walk", "tasks", "tasks/walk/candidate", "tasks/walk/cases"])
def test_a_task_of_the_operator_becomes_no_workspace(given: str, project: Path, home: Path) -> None:
    """A workspace that holds a task's files unchanged is adopted; and then they could be changed."""
    with pytest.raises(SessionError, match="holds a task of this server or lies in one"):
        offered(project, home).workspace(given, "walk")


def test_a_task_that_comes_with_lockstep_becomes_no_workspace(home: Path) -> None:
    """A server that was started where Lockstep is developed."""
    pong = embedded_tasks()["pong"]
    with pytest.raises(SessionError, match="holds a task of this server or lies in one"):
        TaskRegistry((), pong.parents[1], home).workspace("environments/pong", "pong")


@pytest.mark.parametrize("given", [".git/hooks", ".vscode", ".claude/agents", "deep/.github/workflows"])
def test_a_workspace_is_made_nowhere_where_other_programs_look_for_what_they_run(
    given: str, project: Path, home: Path
) -> None:
    with pytest.raises(SessionError, match="is hidden, or lies in what is"):
        offered(project, home).workspace(given, "walk")


def test_other_workspaces_are_made(project: Path, home: Path) -> None:
    """The checks above can fail: what collides with nothing is taken."""
    assert offered(project, home).workspace("deep/walk", "walk") == project / "deep" / "walk"
    assert offered(project, home).workspace("", "walk") == project / "walk-session"


def test_what_lies_in_a_workspace_is_no_task(project: Path, home: Path) -> None:
    """Neither the workspace, which looks like one, nor what the agent writes into it; nothing is read there."""
    registry = offered(project, home)
    workspace = registry.workspace("", "walk")
    operations.start(str(registry.task("walk")), workspace, home)
    [session] = all_sessions(home)
    (workspace / "task.toml").write_text((workspace / "task.toml").read_text().replace("a walk", "my own"))
    make_task(workspace / "candidate" / "own")
    (home / "secret").write_text("a key")
    (workspace / "reference").rename(workspace / "candidate" / "aside")
    (workspace / "reference").symlink_to(home)
    assert registry.tasks() == embedded_tasks() | {"walk": project / "tasks" / "walk"}
    for named in (workspace.name, str(workspace), str(workspace / "candidate" / "own")):
        with pytest.raises(TaskError, match="this server offers no task"):
            registry.task(named)
    resources = Resources(Services(home, registry), ())
    with pytest.raises(Exception, match="there is no task"):
        resources.reference_file(workspace.name, "secret")
    for place in (workspace, workspace / "candidate" / "own"):
        for fresh in (False, True):
            with pytest.raises(SessionError, match=f"the task lies in the workspace of the session {session.id}"):
                operations.start(str(place), project / "other", home, fresh=fresh)


def test_a_server_knows_whose_workspaces_these_are(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The registry is told of the home whose sessions the server keeps."""
    told: list[Path | None] = []
    monkeypatch.setattr(
        "mcp_server.app.Services", lambda home, registry: told.append(registry.home) or Services(home, registry)
    )
    build_server(home, TaskRegistry((project,), project))
    assert told == [home]
