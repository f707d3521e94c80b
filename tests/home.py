"""A LOCKSTEP_HOME of a test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.support.home import lockstep_home


def new_home(parent: Path, monkeypatch: pytest.MonkeyPatch, *shared: str) -> Path:
    """A new home below `parent`, which shares nothing with the person's own but these directories of what was built."""
    persons, home = lockstep_home(), parent / "home"
    home.mkdir(mode=0o700)
    for name in shared:
        (persons / name).mkdir(exist_ok=True)
        (home / name).symlink_to(persons / name)
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    return home
