"""Completion as Bash asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ENTRY, Result

ASK = """
eval "$(_LOCKSTEP_COMPLETE=bash_source lockstep)"
compopt() { echo "$2"; }  # Bash has it only while it completes
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_lockstep_completion lockstep
echo "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """What Bash would offer for the last word of a line."""
    bash = shutil.which("bash")
    assert bash is not None
    program = tmp_path / "bin" / "lockstep"
    program.parent.mkdir()
    quoted = " ".join(f"'{word}'" for word in ENTRY)
    program.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def ask(*words: str) -> list[str]:
        command = [bash, "-c", ASK, "bash", "lockstep", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    return ask


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["verify", "ca"], ["dirnames", "cartpole"]),
        (["start", ""], ["dirnames", "cartpole", "connect_four", "gameboy", "halfcheetah", "pokemon", "pong", "tcg"]),
        (["verify", "cartpole", "--level", ""], ["1", "2", "3", "4"]),
        (["verify", "pong", "--module", "p"], ["paddles"]),
        (["verify", "nonsense", "--module", ""], []),
        (["verify", "tcg", "--candidate", ""], ["jax", "rust"]),
        (["start", "tcg", "--candidate", "r"], ["rust"]),
        (["prompt", "--task", "po"], ["dirnames", "pokemon", "pong"]),
        (["certif"], ["certify"]),
        (["spec", "fr"], ["freeze"]),
        (["spec", "play", "pong", "f"], ["first"]),
    ],
)
def test_tasks_levels_and_modules_are_offered(
    complete: Callable[..., list[str]], words: list[str], offered: list[str]
) -> None:
    assert complete(*words) == offered


@pytest.mark.slow
def test_sessions_and_what_belongs_to_them_are_offered(
    walk: Path,
    lockstep: Callable[..., Result],
    complete: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = walk.parent / "work"
    session = lockstep("start", str(walk), "--workspace", str(place), "--fresh", "--json").document["session"]
    assert complete("status", session[:2]) == ["dirnames", session]
    assert complete("audit", "") == ["default", session]
    assert session in complete("coverage", "")
    assert complete("verify", "--session", session, "--module", "m") == ["moving"]
    monkeypatch.chdir(walk.parent)
    assert complete("verify", "--module", "m") == []
    monkeypatch.chdir(place)
    assert complete("verify", "--module", "m") == ["moving"]
    assert complete("prompt", "translate", "--module", "m") == ["moving"]
