"""The key of a directory changes with everything that a program can tell of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.support.contents import contents_key

CHANGES: dict[str, Callable[[Path], object]] = {
    "a content": lambda root: (root / "a" / "one").write_text("2"),
    "a name": lambda root: (root / "a" / "one").rename(root / "a" / "two"),
    "a mode": lambda root: (root / "a" / "one").chmod(0o755),
    "a mode taken": lambda root: (root / "program").chmod(0o644),
    "a link's target": lambda root: ((root / "link").unlink(), (root / "link").symlink_to("elsewhere")),
    "a file in the place of a link": lambda root: ((root / "link").unlink(), (root / "link").write_text("a")),
    "an empty directory": lambda root: (root / "b").mkdir(),
    "a hidden file": lambda root: (root / ".hidden").touch(),
    "compiled Python": lambda root: ((root / "__pycache__").mkdir(), (root / "__pycache__" / "a.pyc").touch()),
    "a file in what is tagged as a cache": lambda root: (root / "cache" / "more").touch(),
    "a name that is not UTF-8": lambda root: (root / os.fsdecode(b"\xff")).touch(),
    "a pipe": lambda root: os.mkfifo(root / "pipe"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with one of each kind of entry."""
    (tmp_path / "a").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "CACHEDIR.TAG").touch()
    (tmp_path / "a" / "one").write_text("1")
    (tmp_path / "program").write_text("2")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "link").symlink_to("a")
    return tmp_path


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_another_key(change: str, root: Path) -> None:
    before = contents_key(root)
    CHANGES[change](root)
    assert contents_key(root) != before


def test_when_a_file_was_written_and_by_whom_it_can_be_does_not_count(root: Path) -> None:
    before = contents_key(root)
    os.utime(root / "program", (1, 1))
    (root / "program").chmod(0o555)
    assert contents_key(root) == before
