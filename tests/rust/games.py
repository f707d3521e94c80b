"""Small games in Rust, which the tests of JAX have too: the dice game, and the walk with its whole task."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.task.contract import Candidate, Reference, Task
from tests.verify.levels.conftest import WALK

HERE = Path(__file__).parent
ENTRY = "candidate/rust/src/lib.rs"
JAX = '[candidate]\nkind = "jax"\nentry = "candidate/env.py"\nx64 = true\n'
RUST = f'[candidate]\nkind = "rust"\nentry = "{ENTRY}"\n'


def dice_task() -> Task:
    """As much of a task as it takes to compile the dice game."""
    candidate = Candidate("rust", ENTRY)
    return Task("dice", "", "translate", HERE / "dice", Reference(None), candidate, leaves={}, modules=())


def write_walk(directory: Path) -> Path:
    """The task `walk` with a candidate in Rust, in a directory that is made; returns the directory."""
    shutil.copytree(WALK, directory, ignore=shutil.ignore_patterns("__pycache__", "candidate"))
    shutil.copytree(HERE / "walk", directory / "candidate")
    described = (directory / "task.toml").read_text()
    assert described.count(JAX) == 1
    (directory / "task.toml").write_text(described.replace(JAX, RUST))
    return directory
