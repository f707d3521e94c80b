"""The tutorial does what it says, block by block."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.support.home import lockstep_home
from tests.paths import ROOT
from tests.rust.tutorial import PageIsWrong, Reader, blocks, environment_with

PAGE = (ROOT / "docs" / "tutorial-rust.md").read_text(encoding="utf-8")
HOP = "self.stone += 1"


@pytest.fixture
def reader(
    tmp_path: Path,
    wheel_environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Callable[[str], None]:
    """Reads a page from an empty directory, with a home that shares nothing with the person's own but what was built."""
    shared, home = lockstep_home(), tmp_path / "home"
    home.mkdir(mode=0o700)
    for name in ("envs", "crates"):
        (shared / name).mkdir(exist_ok=True)
        (home / name).symlink_to(shared / name)
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    place, installed = tmp_path / "place", str(tmp_path / "installed")
    place.mkdir()

    def lockstep(arguments: list[str], here: Path) -> tuple[int, str]:
        monkeypatch.chdir(here)
        capfd.readouterr()
        code = main(arguments)
        return code, capfd.readouterr().out

    environment = environment_with(
        Path(sys.executable).parent, PYTHONPATH=installed, PIP_TARGET=installed, PIP_NO_INDEX="1", PIP_NO_DEPS="1",
        **wheel_environment,
    )  # fmt: skip
    return Reader(place, lockstep, environment).read


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


def test_what_nothing_runs_is_refused(tmp_path: Path) -> None:
    read = Reader(tmp_path, lambda words, here: (0, "level 1\nlevel 2\n"), environment_with(tmp_path)).read
    read("```console\n$ lockstep verify\nlevel …\nlevel 2\n$ cd /\n$ pwd\n/\n```\n")
    for page, said in (
        ("```rust\nfn main() {}\n```\n", "nothing runs this block of rust"),
        ("```console\nlevel 1\n```\n", "begins without a command"),
        ("```console\n$ lockstep verify\nlevel 2\nlevel 1\n```\n", "does not say `level 1` there"),
        ("```console\n$ lockstep verify    # exit code 1\n```\n", "ended with 0, not with 1"),
        ("```console\n$ false\n```\n", "ended with 1, not with 0"),
    ):
        with pytest.raises(PageIsWrong, match=said):
            read(page)


def test_every_block_is_found() -> None:
    assert PAGE.count("\n```") == 2 * len(list(blocks(PAGE)))
