"""Changing files of a task or a candidate in tests."""

from __future__ import annotations

from pathlib import Path


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text that stands exactly once in a file."""
    text = file.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
    file.write_text(text.replace(old, new))


def edit_crate(tree: Path, file: str, old: str, new: str) -> None:
    """`edit` a file of the candidate's crate in a tree."""
    edit(tree / "candidate" / "rust" / file, old, new)
