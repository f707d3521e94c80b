"""A session on the stand-in task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.session.session import Session
from tests.session.standin import Agent, FileComparison, factory, make_task

Open = Callable[[], Agent]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return make_task(tmp_path / "task")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def reopen(home: Path, workspace: Path) -> Iterator[Open]:
    """Opens the session of `agent` again (which must be closed by then)."""
    opened: list[Session] = []

    def again() -> Agent:
        made: list[FileComparison] = []
        opened.append(Session.open(workspace, home, verifier=factory(made)))
        return Agent(opened[-1], made)

    yield again
    for session in opened:
        session.close()


@pytest.fixture
def agent(home: Path, task: Path, workspace: Path) -> Iterator[Agent]:
    made: list[FileComparison] = []
    with Session.start(task, workspace, home, verifier=factory(made)) as session:
        yield Agent(session, made)


@pytest.fixture
def trainer(home: Path, tmp_path: Path, workspace: Path) -> Iterator[Agent]:
    """An agent whose task has level 4."""
    made: list[FileComparison] = []
    task = make_task(tmp_path / "trains", trains=True)
    with Session.start(task, workspace, home, verifier=factory(made)) as session:
        yield Agent(session, made)
