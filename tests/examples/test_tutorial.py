"""The tutorial in JAX does what it says, block by block, and what reads it notices where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.tutorial import PageIsWrong, Reader, blocks, environment_with, reader_in

PAGE = (ROOT / "docs" / "tutorial-jax.md").read_text(encoding="utf-8")
LAW = "-# No law was found: samples of the reference stand for it."
CURRENT = "if self.rng.random() < 0.4:"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_block_up_to_the_certificate_runs_and_shows_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reader_in(tmp_path, monkeypatch, capfd).read(PAGE[: PAGE.index("\n## A certificate")])


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_every_block_of_the_tutorial_runs_and_shows_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reader_in(tmp_path, monkeypatch, capfd).read(PAGE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (CURRENT, "if self.rng.random() < chance:", "ended with 3"),
        pytest.param("PASS     tape …", "PASS     tapes …", "does not say `PASS     tapes …`", marks=pytest.mark.nightly),
        pytest.param(
            f"{LAW} State it if it is known.\n+law = {{ kind = \"uniform\"",
            "-# No law is known.\n+law = { kind = \"uniform\"", "`git apply -` ended with 1", marks=pytest.mark.nightly,
        ),
    ],
)  # fmt: skip
def test_a_changed_block_is_noticed(
    old: str, new: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert PAGE.count(old) == 1
    with pytest.raises(PageIsWrong, match=said):
        reader_in(tmp_path, monkeypatch, capfd).read(PAGE.replace(old, new))


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
