"""The audit as a gate for merging: the newest commit must have passed, and must be what is merged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness.assurance.audit import Gate, audit
from harness.record.directory import SessionDirectory
from harness.record.export import check_out
from harness.record.keys import load_or_create
from harness.record.log import MAIN
from harness.record.store import Store
from tests.paths import ROOT
from tests.session.standin import Agent


@pytest.fixture
def checkout(agent: Agent, tmp_path: Path) -> Path:
    """What the repository of a user would hold: the newest verified commit's files, and a session that has finished."""
    agent.get_right()
    for words in ("Start", "Move", "Compose", "Episodes"):
        agent.session.verify(message=words)
    place = tmp_path / "translation"
    unpack(agent.session.directory, place)
    return place


def unpack(found: SessionDirectory, place: Path) -> None:
    with Store(found.repository) as store:
        check_out(store, store.files(store.commit(store.refs()[MAIN]).tree), place)


def objections(agent: Agent, level: int | None = None, directory: Path | None = None) -> list[str]:
    report = audit(agent.session.directory.repository, gate=Gate(level, directory))
    assert {problem.rule for problem in report.problems} <= {"gate"}
    return [problem.what for problem in report.problems]


def test_what_passed_and_is_what_is_merged_may_pass(agent: Agent, checkout: Path) -> None:
    assert objections(agent, 3, checkout) == []


def test_a_checkout_may_have_more_around_the_candidate(agent: Agent, checkout: Path) -> None:
    (checkout / ".github").mkdir()
    (checkout / ".github" / "workflow.yml").write_text("on: push\n")
    (checkout / "cases").mkdir(exist_ok=True)
    (checkout / "cases" / "mine.json").write_text("{}")
    assert objections(agent, 3, checkout) == []
    for path in ("task.toml", "properties.py", "README.md"):
        (checkout / path).unlink()
    shutil.rmtree(checkout / "reference")
    assert objections(agent, 3, checkout) == []


def test_every_file_that_differs_is_named(agent: Agent, checkout: Path) -> None:
    candidate = checkout / "candidate"
    (candidate / "env.py").write_text("x = 2\n")
    (candidate / "start.txt").unlink()
    (candidate / "more.py").write_text("")
    (candidate / ".hidden.py").write_text("")
    (checkout / "task.toml").write_text((checkout / "task.toml").read_text() + "\n")
    said = objections(agent, 3, checkout)
    reasons = {words.split(" ")[0]: words for words in said}
    assert sorted(reasons) == [
        "candidate/.hidden.py",
        "candidate/env.py",
        "candidate/more.py",
        "candidate/start.txt",
        "task.toml",
    ]
    assert "is not part of commit" in reasons["candidate/.hidden.py"]
    assert "is not what commit" in reasons["candidate/env.py"]
    assert "is missing in" in reasons["candidate/start.txt"]


def test_a_link_in_the_candidate_is_named(agent: Agent, checkout: Path) -> None:
    (checkout / "candidate" / "env.py").unlink()
    (checkout / "candidate" / "env.py").symlink_to("/etc/hostname")
    assert "is a symbolic link, which is not what commit" in objections(agent, 3, checkout)[0]


def test_a_level_that_was_not_asked_of_the_newest_commit_is_named(agent: Agent) -> None:
    agent.get_right("start")
    agent.session.verify(message="Start")
    said = objections(agent, 1)
    assert len(said) == 1 and "must have passed level 1 for all modules, and passed it for start only" in said[0]
    assert [words.rsplit(" level ", 1)[1][0] for words in objections(agent, 3)] == ["1", "2", "3"]
    assert objections(agent, 4) == ["level 4 is asked for, and the session has the levels 1, 2, 3"]


def test_a_record_without_a_commit_passes_no_gate(agent: Agent, tmp_path: Path) -> None:
    assert objections(agent, 1) == ["there is no verified commit"]
    assert objections(agent, None, tmp_path) == ["there is no verified commit"]


# The example workflow


def command_of_the_workflow() -> str:
    """What its last step runs."""
    workflow = (ROOT / "docs" / "merge-gate.yml").read_text()
    _, _, block = workflow.rpartition("run: |\n")
    return textwrap.dedent(block)


def run_the_workflow(repository: Path, key: bytes, temporary: Path) -> subprocess.CompletedProcess[str]:
    temporary.mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {"PATH": path, "RUNNER_TEMP": str(temporary), "LOCKSTEP_KEY": key.decode(), "LOCKSTEP_HOME": str(temporary)}
    command = ["bash", "-e", "-o", "pipefail", "-c", command_of_the_workflow()]
    return subprocess.run(command, cwd=repository, env=os.environ | given, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_example_workflow_lets_through_what_was_verified_and_nothing_else(
    agent: Agent, checkout: Path, home: Path, tmp_path: Path
) -> None:
    repository = checkout.parent
    (repository / "verification").mkdir()
    agent.session.bundle(repository / "verification" / "session.bundle")
    key = (home / "keys" / "ed25519.pub.pem").read_bytes()
    passed = run_the_workflow(repository, key, tmp_path / "runner")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "the gate holds: every level up to 3 passed, translation is what the newest commit holds" in passed.stdout
    (checkout / "candidate" / "env.py").write_text("x = 2\n")
    changed = run_the_workflow(repository, key, tmp_path / "runner")
    assert changed.returncode == 1
    assert "gate: candidate/env.py in translation is not what commit" in changed.stdout
    another = load_or_create(tmp_path / "another").public.to_pem()
    assert run_the_workflow(repository, another, tmp_path / "runner").returncode == 1
