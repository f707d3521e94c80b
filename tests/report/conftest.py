"""A session with everything in it, made once."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from harness.record.store import Store
from harness.report.document import collect
from tests.report.script import Play, typical


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The git directory of a finished session."""
    play = typical(tmp_path_factory.mktemp("report"))
    play.session.close()
    return play.record


@pytest.fixture(scope="session")
def _document(record: Path) -> dict[str, Any]:
    return collected(record)


@pytest.fixture
def document(_document: dict[str, Any]) -> dict[str, Any]:
    """Its document, a test's own to change."""
    return deepcopy(_document)


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """A session that has just begun."""
    begun = Play(tmp_path)
    yield begun
    begun.session.close()


def collected(path: Path) -> dict[str, Any]:
    """The document of the record in a git directory."""
    with Store(path) as store:
        return collect(store)
