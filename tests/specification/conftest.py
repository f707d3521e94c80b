"""A copy of the small game, and the environment of these tests in place of one that is built for its readings."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from harness.reference.install import Installed
from harness.specification.place import Specification, find, read
from tests.paths import ROOT

HARBOUR = ROOT / "mcp_server/demo/harbour"
HERE = Installed(Path(sys.prefix), Path(sys.executable))


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task directory that holds the specification of the small game."""
    directory = tmp_path / "harbour"
    shutil.copytree(HARBOUR, directory / "specification", ignore=shutil.ignore_patterns("__pycache__"))
    return directory


@pytest.fixture
def harbour(task: Path) -> Specification:
    """The specification of the small game, read."""
    return read(find(task))


def changed(path: Path, before: str, after: str) -> None:
    """Change one text of a file, which must stand there once."""
    text = path.read_text()
    assert text.count(before) == 1, f"{before!r} stands {text.count(before)} times in {path.name}"
    path.write_text(text.replace(before, after))
