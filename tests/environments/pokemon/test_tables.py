"""The tables of both candidates are what Showdown's packages say, and nothing was changed in them by hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.reference import npm
from harness.reference.install import setup
from tests.environments.pokemon.battles import TASK

pytestmark = pytest.mark.slow
SCRIPT = TASK.directory / "reference" / "tables.mjs"


def written(option: str, file: Path) -> str:
    """What the script writes with this option."""
    installed = setup(TASK)
    node = [str(npm.program(installed)), str(SCRIPT), option, str(file)]
    subprocess.run(node, env=npm.variables(installed), check=True, capture_output=True)
    return file.read_text()


def test_the_table_of_the_candidate_in_jax(tmp_path: Path) -> None:
    assert written("--python", tmp_path / "tables.py") == (TASK.directory / "candidate" / "tables.py").read_text()


@pytest.mark.rust
def test_the_table_of_the_candidate_in_rust(tmp_path: Path, cargo: None) -> None:
    path = tmp_path / "tables.rs"
    written("--rust", path)
    settings = Path(__file__).parents[3] / "rust" / "rustfmt.toml"
    subprocess.run(["rustfmt", "--edition", "2024", "--config-path", str(settings), str(path)], check=True)
    assert path.read_text() == (TASK.directory / "candidate" / "rust" / "src" / "tables.rs").read_text()
