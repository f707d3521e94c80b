"""Files that belong to the verifier: changed ones are refused by name, and come back."""

from __future__ import annotations

import shutil

import pytest

from harness.errors import SessionError, TrustedFileChanged
from harness.verdict import Outcome
from tests.session.conftest import Open
from tests.session.standin import Agent


def test_changed_trusted_files_are_refused_by_name_and_the_refusal_is_recorded(agent: Agent) -> None:
    agent.get_right()
    workspace = agent.session.workspace
    (workspace / "reference" / "expected" / "moves.txt").write_text("")
    (workspace / "properties.py").unlink()
    (workspace / "conftest.py").write_text("")
    with pytest.raises(TrustedFileChanged) as caught:
        agent.session.verify()
    assert "changed reference/expected/moves.txt; deleted properties.py; added conftest.py" in str(caught.value)
    event = agent.session.events[-1]
    assert (event.kind, event.outcome) == ("refused", "trusted files")
    assert str(workspace) not in event.encode().decode()
    assert agent.session.status()["attempts"] == 0


def test_restoring_puts_trusted_files_back_and_sets_the_agent_s_aside(agent: Agent) -> None:
    agent.get_right()
    workspace = agent.session.workspace
    (workspace / "task.toml").write_text("easier\n")
    (workspace / "properties.py").unlink()
    (workspace / "tests").mkdir()
    (workspace / "tests" / "mine.py").write_text("mine\n")
    assert agent.session.restore_trusted() == ("task.toml", "properties.py", "tests/mine.py")
    assert (workspace / "proposed" / "set-aside" / "tests" / "mine.py").read_text() == "mine\n"
    assert (workspace / "proposed" / "set-aside" / "task.toml").read_text() == "easier\n"
    assert agent.session.verify().commit is not None
    assert agent.session.restore_trusted() == ()


def test_a_deleted_case_is_refused_and_comes_back_on_restoring(agent: Agent) -> None:
    [case] = agent.session.verify().cases
    (agent.session.workspace / case).unlink()
    with pytest.raises(TrustedFileChanged, match=f"deleted {case}"):
        agent.session.verify()
    assert agent.session.restore_trusted() == (case,)
    agent.session.verify()


def test_an_altered_trusted_copy_is_noticed_and_mended_on_opening(agent: Agent, reopen: Open) -> None:
    agent.get_right()
    expected = agent.session.task_directory / "reference" / "expected" / "start.txt"
    expected.write_text("other\n")
    done = agent.session.verify()
    assert "read another task" in done.verdict.error
    agent.session.close()
    again = reopen()
    assert expected.read_text() == "start\n"
    assert again.session.verify().commit is not None


def test_links_in_the_workspace_are_refused(agent: Agent) -> None:
    (agent.session.workspace / "candidate" / "key").symlink_to("/etc/shadow")
    with pytest.raises(SessionError, match="'candidate/key' is a symbolic link"):
        agent.session.verify()
    assert agent.session.events[-1].outcome == "workspace"


@pytest.mark.parametrize("in_the_way", ["a file", "an empty directory"])
def test_what_lies_in_the_place_of_a_trusted_file_is_put_aside(agent: Agent, reopen: Open, in_the_way: str) -> None:
    agent.write("env.py", "x = 2\n")
    [case] = agent.session.verify().cases
    agent.session.close()
    workspace = agent.session.workspace
    shutil.rmtree(workspace / "cases")
    if in_the_way == "a file":
        (workspace / "cases").write_text("mine")
    else:
        (workspace / case).mkdir(parents=True)
    (workspace / ".lockstep-new-x").mkdir()
    (workspace / "task.toml").unlink()
    (workspace / "task.toml" / "nothing" / "at all").mkdir(parents=True)
    again = reopen()
    with pytest.raises(TrustedFileChanged, match=r"task\.toml"):
        again.session.verify()
    assert {case, "task.toml"} <= {*again.session.restore_trusted()}
    assert (workspace / case).is_file() and (workspace / "task.toml").is_file()
    assert again.session.verify().verdict.outcome is Outcome.FAIL
