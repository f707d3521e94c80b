"""`lockstep prompt` as a person or a script uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.session.prompts import templates
from harness.session.session import Session
from tests.cli.conftest import Result, runner
from tests.session.prompts.test_snapshots import HILL
from tests.session.standin import FileComparison, factory, make_task

Run = Callable[..., Result]


@pytest.fixture
def lockstep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    return runner(capfd)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    made: list[FileComparison] = []
    with Session.start(
        make_task(tmp_path / "task"), tmp_path / "work", tmp_path / "home", verifier=factory(made)
    ) as one:
        (one.workspace / "candidate" / "start.txt").write_text("strat\n")
        one.verify()
        yield one.workspace


def test_without_a_name_all_prompts_are_listed(lockstep: Run) -> None:
    listed = lockstep("prompt", "--json").document["prompts"]
    assert [prompt["name"] for prompt in listed] == list(templates())
    assert "Repair the one difference" in lockstep("prompt").out


def test_the_session_of_the_directory_is_meant_while_another_process_works_on_it(
    workspace: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    shown = lockstep("prompt", "repair")
    assert shown.code == 0, shown.err
    assert "# Repair one divergence: walk, level 1" in shown.out
    assert "lockstep compare --case cases/" in shown.out
    assert (
        lockstep("prompt", "translate", "--module", "moves", "--json")
        .document["text"]
        .startswith("# Translate module `moves`")
    )


def test_a_task_alone_is_enough(lockstep: Run, tmp_path: Path) -> None:
    profile = tmp_path / "profile.txt"
    profile.write_text("batch 32: 1000 steps per second\n")
    shown = lockstep("prompt", "optimise_jax", "--task", str(HILL), "--measured", str(profile))
    assert shown.code == 0 and "batch 32: 1000 steps per second" in shown.out
    rules = tmp_path / "rules.txt"
    rules.write_text("Two players take turns.\n")
    assert (
        "Two players take turns."
        in lockstep("prompt", "extract", "--task", str(HILL), "--specification", str(rules)).out
    )


def test_mistakes_are_named(lockstep: Run) -> None:
    assert lockstep("prompt", "translate", "--task", str(HILL), "--session", "x").code == 2
    unknown = lockstep("prompt", "transalte", "--task", str(HILL))
    assert unknown.code == 3 and "did you mean 'translate'" in unknown.err
    surplus = lockstep("prompt", "interactions", "--task", str(HILL), "--module", "rolling")
    assert surplus.code == 3 and "takes no argument 'module'" in surplus.err
