"""The attack: send a record whose task runs code of its sender's choice in the process of whoever audits it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.main import main
from harness.errors import RecordError
from harness.policy.trust import Trust
from harness.session.session import Session
from tests.session.standin import factory, make_task

RUNS = {
    "audit": ["--rerun", "all"],
    "replay": ["--verify", "all"],
    "drive": ["--drive"],
    "certify": ["--check"],
}
"""What reaches recorded verdicts again."""


@pytest.fixture
def sent(tmp_path: Path) -> tuple[Path, str]:
    """A record from a stranger's home, every trusted module of which leaves a mark when it is imported; and its digest."""
    task = make_task(tmp_path / "stranger" / "task")
    mark = f"from pathlib import Path\nPath({str(tmp_path / 'mark')!r}).touch()\n"
    for name in ("properties.py", "interactions.py"):
        kept = (task / name).read_text() if (task / name).exists() else ""
        (task / name).write_text(kept + "\n" + mark)
    with Session.start(task, tmp_path / "stranger/work", tmp_path / "stranger/home", verifier=factory([])) as session:
        session.verify()
        session.bundle(tmp_path / "sent.bundle")
        digest = session.events[0].detail["task_digest"]
    (tmp_path / "mark").unlink(missing_ok=True)
    return tmp_path / "sent.bundle", digest


@pytest.mark.parametrize("how", RUNS)
def test_a_strangers_record_runs_nothing(
    how: str,
    sent: tuple[Path, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bundle, digest = sent
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "reader"))
    command = "replay" if how == "drive" else how
    assert main([command, str(bundle), *RUNS[how]]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "which this home does not know; nothing of it was run" in said
    assert f"--trust-task {digest}" in said
    assert not (tmp_path / "mark").exists()
    assert not (tmp_path / "reader" / "envs").exists()


def test_another_digest_vouches_for_nothing(
    sent: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "reader"))
    assert main(["replay", str(sent[0]), "--verify", "all", "--trust-task", "0" * 64]) != 0
    assert "nothing of it was run" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "mark").exists()


def test_a_home_knows_the_tasks_that_it_began(sent: tuple[Path, str], tmp_path: Path) -> None:
    Trust(tmp_path / "stranger/home").demand(sent[1], "task")
    Trust(tmp_path / "reader", (sent[1],)).demand(sent[1], "task")


@pytest.mark.slow
def test_a_trust_given_for_one_command_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive begins a session, and a home knows the tasks of its sessions."""
    task, stranger = make_task(tmp_path / "stranger" / "task"), tmp_path / "stranger"
    with Session.start(task, stranger / "work", stranger / "home", verifier=factory([])) as session:
        session.bundle(tmp_path / "sent.bundle")
        digest = session.events[0].detail["task_digest"]
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "reader"))
    assert main(["replay", str(tmp_path / "sent.bundle"), "--drive", "--trust-task", digest]) == 0
    assert len(list((tmp_path / "reader" / "sessions").glob("walk-*"))) == 1
    with pytest.raises(RecordError, match="does not know"):
        Trust(tmp_path / "reader").demand(digest, "task")
