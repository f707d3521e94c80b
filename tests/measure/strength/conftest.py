"""The walk with a hole in its tests: none of them reaches its time limit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.edits import edit
from tests.paths import WALK

EDITS = {
    "task.toml": (
        ("low = 0, high = 39", "low = 0, high = 20"),
        ("low = 0, high = 45", "low = 0, high = 30"),
        ("horizon = 50", "horizon = 12"),
        ("examples = 40", "examples = 20"),
        ("samples = 4000", "samples = 500\nexploration = 0"),
    ),
    "candidate/env.py": (
        ('state["place"] + move,', 'state["place"] + move * 1,'),
        ("def observe", "SPARE = 3\n\n\ndef observe"),
    ),
}


@pytest.fixture(scope="session")
def holed_walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The task's directory."""
    directory = tmp_path_factory.mktemp("strength") / "walk"
    shutil.copytree(WALK, directory, ignore=shutil.ignore_patterns("__pycache__"))
    for file, edits in EDITS.items():
        for old, new in edits:
            edit(directory / file, old, new)
    return directory
