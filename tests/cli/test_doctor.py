"""`lockstep doctor`: what a machine lacks is found and named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import doctor
from harness.cli.doctor import Health, Item
from sandboxes.removal import scratch_directory
from tests.cli.conftest import Result
from tests.paths import ROOT

Run = Callable[..., Result]


def found(name: str) -> Item:
    return next(item for item in doctor.examine() if item.name == name)


def test_everything_is_looked_at(lockstep: Run, home: Path) -> None:
    result = lockstep("doctor", "--json")
    names = [item["name"] for item in result.document["items"]]
    assert names == [
        "python", "git", "jax", "sandbox bubblewrap", "sandbox docker", "sandbox process", "C compiler", "node", "rust",
        "home", "budgets", "disk", "temporary files", "containers",
    ]  # fmt: skip
    assert result.code == (0 if result.document["ready"] else 3)
    for item in result.document["items"]:
        assert item["found"]
        assert item["health"] == "ok" or item["next"]


@pytest.mark.slow
def test_a_machine_without_git_cannot_work(
    lockstep: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    result = lockstep("doctor")
    assert result.code == 3
    assert "cannot work here yet: git" in result.out
    assert found("C compiler").health is Health.LIMITED
    assert found("node").health is Health.LIMITED
    assert found("rust").health is Health.LIMITED


@pytest.mark.parametrize(("said", "health"), [("1.84.1", Health.LIMITED), ("1.85.0", Health.OK), ("2.0.0", Health.OK)])
def test_an_old_rust_limits(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, health: Health
) -> None:
    for name in ("cargo", "rustc"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{name} {said} (0000000 2025-01-01)'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert found("rust").health is health


def test_an_old_node_limits(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v12.22.9\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert found("node").health is Health.LIMITED


def test_a_jax_that_does_not_import_is_missing(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jax.py").write_text("raise ImportError('the library libcudnn.so is not there')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    item = found("jax")
    assert item.health is Health.MISSING
    assert "libcudnn.so" in item.found


@pytest.mark.slow
def test_a_home_that_cannot_be_made_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "file" / "home"))
    assert found("home").health is Health.MISSING
    assert found("disk").health is Health.MISSING


@pytest.mark.slow
def test_what_killed_processes_left_behind_is_removed_and_nothing_else(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    make = "from sandboxes.removal import new_directory; print(new_directory('lockstep-tree-'), flush=True)"
    wait = [sys.executable, "-c", f"{make}; input()"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        wait, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None
        left = Path(one.stdout.readline().strip())
        with scratch_directory("lockstep-tree-") as ours:
            elsewhere = tmp_path / re.sub(r"\.\d+-", ".7-", left.name)  # made where processes have other numbers
            others = [left, ours, elsewhere, tmp_path / "something-else", tmp_path / "lockstep-demo-x"]
            for path in others[2:]:
                path.mkdir()
            assert "nothing left behind" in found("temporary files").found
            one.kill()
            one.wait()
            item = found("temporary files")
            assert item.health is Health.OK and str(left) in item.found and "1 left behind" in item.found
            assert [path.exists() for path in others] == [False, True, True, True, True]
