"""A store in a directory of its own, for the tests of the record's parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.record.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "repo.git"
    Store.create(path)
    with Store(path) as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    directory = tmp_path / "workspace"
    (directory / "candidate").mkdir(parents=True)
    (directory / "candidate" / "env.py").write_text("x = 1\n")
    (directory / "task.toml").write_text('name = "t"\n')
    return directory
