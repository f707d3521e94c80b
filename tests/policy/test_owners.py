"""Who owns a session: written once, durable, and never a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.policy.owners import NOBODY, note_owner, owner_of


def test_an_owner_is_kept_for_whoever_owns_the_home_alone(tmp_path: Path) -> None:
    note_owner(tmp_path, "walk-1", "alice")
    assert owner_of(tmp_path, "walk-1") == "alice"
    assert (tmp_path / "owners").stat().st_mode & 0o077 == 0
    assert (tmp_path / "owners" / "walk-1").stat().st_mode & 0o077 == 0


def test_what_nobody_owns_is_the_operators(tmp_path: Path) -> None:
    assert owner_of(tmp_path, "walk-1") is None


@pytest.mark.parametrize("content", [b"", b"\n", b"a b", b"\xff\xfe", b"alice\nbob", b"../alice"])
def test_a_file_that_names_no_client_names_nobody(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "owners").mkdir()
    (tmp_path / "owners" / "walk-1").write_bytes(content)
    assert owner_of(tmp_path, "walk-1") == NOBODY


@pytest.mark.parametrize("name", ["", ".", "..", "../keys/alice", "/etc/passwd", "a" * 300, "a\x00b", "a\n"])
def test_what_is_no_name_of_a_session_belongs_to_nobody(name: str, tmp_path: Path) -> None:
    (tmp_path / "owners").mkdir()
    (tmp_path / "alice").write_text("alice\n")
    assert owner_of(tmp_path, name) == NOBODY
