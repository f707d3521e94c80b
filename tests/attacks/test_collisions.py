"""The attack: two files that git takes for one, because they have the same SHA-1; one is judged, the other one is attested.

Such files can be made for the price of a car. Here the digest is planted, so that it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import harness.record.objects
import harness.record.store
from harness.errors import RecordError
from harness.record.snapshot import snapshot
from harness.record.store import Store

JUDGED, ATTESTED = b"what is judged\n", b"what is attested\n"


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both files have the id of the first."""
    honest = harness.record.objects.object_id

    def object_id(kind: str, content: bytes) -> str:
        return honest(kind, JUDGED if content == ATTESTED else content)

    monkeypatch.setattr(harness.record.store, "object_id", object_id)


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A git directory, and a workspace."""
    Store.create(tmp_path / "repo.git")
    (tmp_path / "workspace" / "candidate").mkdir(parents=True)
    yield tmp_path / "repo.git", tmp_path / "workspace"


@pytest.mark.parametrize("first", [JUDGED, ATTESTED])
@pytest.mark.parametrize("again", [False, True])
def test_the_second_of_two_such_files_is_refused(first: bytes, again: bool, places: tuple[Path, Path]) -> None:
    """In one process, and in another one that finds the first stored."""
    repository, workspace = places
    file = workspace / "candidate" / "env.py"
    with Store(repository) as store:
        file.write_bytes(first)
        snapshot(workspace, store)
        file.write_bytes(ATTESTED if first == JUDGED else JUDGED)
        if not again:
            with pytest.raises(RecordError, match="two files have the same SHA-1"):
                snapshot(workspace, store)
    if again:
        with Store(repository) as other, pytest.raises(RecordError, match=r"two files have the same SHA-1|is damaged"):
            snapshot(workspace, other)


def test_two_such_files_in_one_workspace_are_refused(places: tuple[Path, Path]) -> None:
    repository, workspace = places
    (workspace / "candidate" / "one").write_bytes(JUDGED)
    (workspace / "candidate" / "other").write_bytes(ATTESTED)
    with Store(repository) as store, pytest.raises(RecordError, match="two files have the same SHA-1"):
        snapshot(workspace, store)


def test_what_is_there_already_is_taken_again(places: tuple[Path, Path]) -> None:
    repository, workspace = places
    (workspace / "candidate" / "one").write_bytes(JUDGED)
    (workspace / "candidate" / "other").write_bytes(JUDGED)
    for _ in range(2):
        with Store(repository) as store:
            first = snapshot(workspace, store)
            assert snapshot(workspace, store) == first
