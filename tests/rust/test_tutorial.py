"""The tutorial in Rust does what it says, block by block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.tutorial import PageIsWrong, blocks, reader_in

PAGE = (ROOT / "docs" / "tutorial-rust.md").read_text(encoding="utf-8")
HOP = "self.stone += 1"


@pytest.fixture
def reader(
    tmp_path: Path,
    wheel_environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Callable[[str], None]:
    """Reads a page; packages are built from what is there, and installed beside it."""
    installed = str(tmp_path / "installed")
    return reader_in(
        tmp_path, monkeypatch, capfd, PYTHONPATH=installed, PIP_TARGET=installed, PIP_NO_INDEX="1", PIP_NO_DEPS="1",
        **wheel_environment,
    ).read  # fmt: skip


@pytest.mark.slow
@pytest.mark.rust
@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_every_block_of_the_tutorial_runs_and_shows_what_was_there(reader: Callable[[str], None]) -> None:
    reader(PAGE)


@pytest.mark.slow
@pytest.mark.rust
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (HOP, "self.ston += 1", "ended with 3"),
        ("the task frog is in", "the task toad is in", "does not say `the task toad is in …`"),
        ('-"state/steps"', '-"state/step"', "`git apply -` ended with 1"),
    ],
)
def test_a_changed_block_is_noticed(old: str, new: str, said: str, reader: Callable[[str], None]) -> None:
    assert PAGE.count(old) == 1
    with pytest.raises(PageIsWrong, match=said):
        reader(PAGE.replace(old, new))


def test_every_block_is_found() -> None:
    assert PAGE.count("\n```") == 2 * len(list(blocks(PAGE)))
