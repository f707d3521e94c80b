"""A session on the command line, from `start` to `audit` and `export`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import RIGHT, WRONG, Result
from tests.edits import edit

Run = Callable[..., Result]


@pytest.fixture
def workspace(walk: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a new session on the walk, in which the command line is given; one attempt is allowed."""
    edit(walk / "task.toml", "[budgets]", "[limits]\niterations = 1\nseconds = 600\ndollars = 1\n\n[budgets]")
    edit(walk / "candidate" / "env.py", RIGHT, WRONG)
    place = walk.parent / "work"
    started = lockstep("start", str(walk), "--workspace", str(place), "--json")
    assert started.code == 0, started.out
    monkeypatch.chdir(place)
    return place


@pytest.mark.slow
def test_a_session_from_its_first_failure_to_an_exported_package(workspace: Path, home: Path, lockstep: Run) -> None:
    # The first candidate fails, its case is kept, and the one attempt that the limits allow is spent.
    failed = lockstep("verify", "--message", "A first translation", "--json")
    assert failed.code == 4
    assert failed.document["outcome"] == "FAIL"
    assert failed.document["state"] == "needs_human"
    assert failed.document["reproduce"].startswith("lockstep compare --case cases/")
    assert (workspace / failed.document["new_cases"][0]).is_file()

    # Nothing goes on before a person says so.
    refused = lockstep("verify", "--json")
    assert refused.code == 4
    assert refused.document["outcome"] == "NEEDS_HUMAN"
    waiting = lockstep("status")
    assert waiting.code == 4
    assert "A person is needed" in waiting.out and "A first translation" in waiting.out
    resumed = lockstep("resume", "--reason", "the cause is understood", "--json")
    assert resumed.code == 0
    assert resumed.document["state"] == "working"

    # The repaired candidate passes and is committed; a seed that was given commits nothing.
    edit(workspace / "candidate" / "env.py", WRONG, RIGHT)
    chosen = lockstep("verify", "--seed", "1")
    assert chosen.code == 0
    assert "not committed: a seed that was given" in chosen.out
    assert lockstep("resume", "--reason", "that was not an attempt").code == 0
    passed = lockstep("verify", "--message", "Go left by one", "--json")
    assert passed.code == 0, passed.document
    assert passed.document["recorded"] is True
    commit = passed.document["commit"]
    assert commit
    status = lockstep("status", "--json").document
    assert status["commit"] == commit
    assert status["passed"] == [{"level": 1, "module": "moving"}]

    # Everything is in the history, and the record proves itself, also from another directory and from a clone.
    events = lockstep("history", "--json").document["events"]
    kinds = [event["kind"] for event in events]
    assert kinds == ["start", "attempt", "verdict", "resumed", "attempt", "verdict", "resumed", "attempt", "verdict"]
    assert "the cause is understood" in lockstep("history").out
    audited = lockstep("audit", "--json")
    assert audited.code == 0
    assert [row["commit"] for row in audited.document["rows"]] == [commit]
    record = home / "sessions" / status["session"] / "repo.git"
    pinned = lockstep("audit", str(record), "--key", str(home / "keys" / "ed25519.pub.pem"))
    assert pinned.code == 0
    assert "everything holds" in pinned.out

    exported = lockstep("export", status["session"], str(workspace.parent / "package"), "--json")
    assert exported.code == 0, exported.out
    assert exported.document["verified"]["commit"] == commit
    assert list(Path(exported.document["directory"]).rglob("attestation.json"))

    key = str(home / "keys" / "ed25519.pub.pem")
    checked = lockstep("export", exported.document["directory"], "--check", "--key", key, "--json")
    assert checked.code == 0, checked.out
    assert (checked.document["commit"], checked.document["levels"]) == (commit, ["LOCKSTEP_LEVEL_1"])
    assert "are what was verified" in lockstep("export", exported.document["directory"], "--check", "--key", key).out
    edit(Path(exported.document["directory"]) / "src" / "walk" / "candidate" / "env.py", RIGHT, WRONG)
    refused = lockstep("export", exported.document["directory"], "--check", "--key", key)
    assert refused.code == 1 and "is NOT what was verified" in refused.out

    # Planted: somebody moves the branch to a commit that nothing verified.
    forged = subprocess.run(
        ["git", "-C", str(record), "commit-tree", f"{commit}^{{tree}}", "-p", commit, "-m", "forged"],
        capture_output=True,
        text=True,
        check=True,
        env={"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.invalid", "PATH": "/usr/bin:/bin"}
        | {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.invalid"},
    ).stdout.strip()
    subprocess.run(["git", "-C", str(record), "update-ref", "refs/heads/main", forged], check=True)
    tampered = lockstep("audit")
    assert tampered.code == 1
    assert "never verified" in tampered.out


def test_a_new_session_says_what_comes_next(workspace: Path, lockstep: Run) -> None:
    status = lockstep("status", "--json").document
    assert status["state"] == "working"
    assert status["next"] == {"level": 1, "module": "moving"}
    assert status["attempts"] == 0
    assert str(workspace) in lockstep("status").out


def test_a_session_is_found_from_below_its_workspace(
    workspace: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace / "candidate")
    assert lockstep("status", "--json").document["workspace"] == str(workspace)


def test_without_a_session_here_the_known_ones_are_named(
    workspace: Path, lockstep: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = lockstep("status", "--json").document["session"]
    monkeypatch.chdir(tmp_path)
    result = lockstep("status")
    assert result.code == 2
    assert session in result.err
    assert lockstep("status", session).code == 0


def test_a_changed_tolerance_is_refused_by_name(workspace: Path, lockstep: Run) -> None:
    edit(workspace / "task.toml", "atol = 1e-6", "atol = 1e6")
    result = lockstep("verify", "--json")
    assert result.code == 3
    assert result.document["error"] == "TrustedFileChanged"
    assert "task.toml" in result.document["what"]


def test_nothing_is_exported_before_a_level_has_passed(workspace: Path, lockstep: Run, tmp_path: Path) -> None:
    result = lockstep("export", str(workspace), str(tmp_path / "package"), "--json")
    assert result.code == 3
    assert "no verified commit" in result.document["what"]


def test_a_package_from_a_task_directory_says_that_nothing_vouches_for_it(
    walk: Path, lockstep: Run, tmp_path: Path
) -> None:
    result = lockstep("export", ".", str(tmp_path / "package"))
    assert result.code == 0, result.err
    assert "nothing vouches for it" in result.out


def test_a_name_that_is_neither_task_nor_session_is_refused(lockstep: Run, tmp_path: Path) -> None:
    result = lockstep("export", "nobody", str(tmp_path / "package"), "--json")
    assert result.code == 2
    assert result.document["error"] == "NoSuchSession"
