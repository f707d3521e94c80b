"""What an agent can do with a crate in a session's sandbox, and what of it becomes a commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness import operations
from harness.agent_sandbox.sandbox import AgentSandbox
from harness.record.snapshot import snapshot
from harness.session.session import Session
from harness.support.embedded import find_task
from harness.task.load import load_task

pytestmark = [pytest.mark.slow, pytest.mark.rust]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A session on Pong with an empty candidate in Rust."""
    operations.start("pong", tmp_path / "work", tmp_path / "home", candidate="rust", fresh=True)
    with Session.open(tmp_path / "work", tmp_path / "home") as opened:
        yield opened


def test_a_session_in_rust_begins_with_an_empty_crate_and_that_candidate_alone(session: Session) -> None:
    task, place = load_task(session.task_directory), session.workspace / "candidate"
    assert (task.candidate.kind, task.others) == ("rust", ())
    assert (place / "rust" / "Cargo.toml").is_file() and not (place / "env.py").exists()
    assert task.digest != load_task(find_task("pong")).digest


def test_cargo_works_offline_in_the_agents_sandbox_and_leaves_only_a_lock_file(session: Session) -> None:
    candidate = session.workspace / "candidate"
    before = set(candidate.rglob("*"))
    with AgentSandbox(session, load_task(session.task_directory), sandboxes.choose(None)) as place:
        crate = f"{place.sandbox.inside('/workspace/candidate')}/rust"
        done = place.sandbox.run(
            ["sh", "-c", f"cd {crate} && cargo check"], environment=place.environment, timeout=300.0
        )
    assert done.exit_code == 0, done.stderr.decode()
    assert set(candidate.rglob("*")) - before <= {candidate / "rust" / "Cargo.lock"}


def test_what_cargo_makes_in_a_workspace_is_no_part_of_what_is_verified(session: Session) -> None:
    crate = session.workspace / "candidate" / "rust"
    for name in ("target", "kept"):
        (crate / name).mkdir()
        (crate / name / "data").write_text(name)
    (crate / "target" / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
    files = snapshot(session.workspace, session.store).files
    assert "candidate/rust/kept/data" in files
    assert not [path for path in files if "target" in path]


def test_an_agents_cargo_finds_the_files_that_the_task_prepares(tmp_path: Path) -> None:
    operations.start("gameboy", tmp_path / "work", tmp_path / "home")
    with (
        Session.open(tmp_path / "work", tmp_path / "home") as session,
        AgentSandbox(session, load_task(session.task_directory), sandboxes.choose(None)) as place,
    ):
        crate = place.sandbox.inside("/workspace/candidate")
        report = place.environment
        found = place.sandbox.run(
            ["sh", "-c", f'cd {crate} && cargo check && ls "$LOCKSTEP_DATA"'], environment=report, timeout=300.0
        )
        missed = place.sandbox.run(
            ["sh", "-c", f"cd {crate} && touch src/lib.rs && env -u LOCKSTEP_DATA cargo check"],
            environment=report,
            timeout=300.0,
        )
    assert found.exit_code == 0 and b"bricks.gb" in found.stdout, found.stderr.decode()
    assert missed.exit_code != 0 and b"LOCKSTEP_DATA" in missed.stderr
