"""`lockstep rollout`: an episode on both sides, and its film."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from harness.operations import film
from tests.cli.conftest import RIGHT, WRONG, Result
from tests.edits import edit
from tests.tools import needs
from tests.verify.pictures.conftest import ADAPTER, CAN_DRAW, RENDER

Run = Callable[..., Result]
ALARM = np.array(film.ALARM)


@pytest.fixture
def drawing(walk: Path) -> Path:
    """The walk with a reference that draws, in which the command line is given."""
    for old, new in (CAN_DRAW, RENDER):
        edit(walk / ADAPTER, old, new)
    return walk


def alarming(picture: Image.Image) -> int:
    """How many pixels have the colour that marks a difference."""
    return int((np.asarray(picture.convert("RGB")) == ALARM).all(axis=2).sum())


@pytest.mark.slow
def test_an_episode_is_reported_and_a_film_of_it_says_so_where_nothing_differs(drawing: Path, lockstep: Run) -> None:
    result = lockstep("rollout", "--seed", "3", "--steps", "6", "--video", "same.webp", "--fps", "10", "--json")
    assert result.code == 0, result.out
    sides = result.document["sides"]
    assert sides["reference"] == sides["candidate"] and sides["reference"]["steps"] == result.document["steps"]
    reported = result.document["video"]
    assert (
        reported["pictures"] == result.document["steps"] + 1 and reported["bytes"] == Path("same.webp").stat().st_size
    )
    with Image.open("same.webp") as reel:
        assert reel.n_frames == reported["pictures"]  # type: ignore[attr-defined]
        reel.seek(reel.n_frames - 1)  # type: ignore[attr-defined]
        assert alarming(reel) == 0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".webp", ".gif", ".png"])
def test_a_film_is_marked_from_the_first_difference_on(drawing: Path, lockstep: Run, suffix: str) -> None:
    edit(drawing / "candidate" / "env.py", RIGHT, WRONG)
    result = lockstep("rollout", "--seed", "3", "--steps", "20", "--video", f"parts{suffix}", "--json")
    assert result.code == 1, result.out
    at = result.document["difference"]["step"]
    with Image.open(f"parts{suffix}") as reel:
        marked = []
        for number in range(reel.n_frames):  # type: ignore[attr-defined]
            reel.seek(number)
            marked.append(alarming(reel) > 0)
    assert not any(marked[:at]) and all(marked[at:]) and 0 < at < len(marked)


@pytest.mark.slow
def test_without_a_film_the_figures_and_the_first_difference_are_reported(walk: Path, lockstep: Run) -> None:
    edit(walk / "candidate" / "env.py", RIGHT, WRONG)
    result = lockstep("rollout", "--seed", "3", "--policy", "right", "--steps", "30")
    assert result.code == 0, result.out
    assert "no difference in 6 steps" in result.out and "terminated" in result.out
    result = lockstep("rollout", "--seed", "3", "--steps", "20")
    assert result.code == 1 and "first difference" in result.out and "state/place" in result.out


@pytest.mark.slow
def test_a_reference_that_does_not_draw_says_what_to_do(walk: Path, lockstep: Run) -> None:
    result = lockstep("rollout", "--steps", "3", "--video", "film.webp")
    assert result.code == 3
    assert "draws no pictures" in result.err and "render" in result.err
    assert not list(walk.glob("*film*"))


def test_a_suffix_that_needs_ffmpeg_says_so_before_anything_is_played(
    walk: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    result = lockstep("rollout", "--video", "film.mp4")
    assert result.code == 3
    assert "ffmpeg" in result.err and ".webp, .gif, .png need nothing" in result.err


@pytest.mark.parametrize(
    ("target", "complaint"), [("film.mov", "cannot be written as `.mov`"), ("no/such/film.gif", "no such directory")]
)
def test_a_target_that_cannot_be_written_is_refused_before_anything_is_played(
    walk: Path, lockstep: Run, target: str, complaint: str
) -> None:
    result = lockstep("rollout", "--video", target)
    assert result.code == 3 and complaint in result.err


def test_a_probe_is_no_episode(walk: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = '{"probe": "ending", "inputs": {"place": {"dtype": "float64", "shape": [1], "values": [1.0]}, '
    Path("probe.json").write_text(probe + '"steps": {"dtype": "int32", "shape": [1], "values": [1]}}}')
    result = lockstep("rollout", "--case", "probe.json")
    assert result.code == 3 and "`lockstep compare --case probe.json`" in result.err
    monkeypatch.chdir(walk.parent)
    result = lockstep("rollout", walk.name, "--case", f"{walk.name}/probe.json")
    assert f"`lockstep compare {walk.name} --case {walk.name}/probe.json`" in result.err


class Reel:
    """Three pictures, each of one colour."""

    length = 3

    def __iter__(self):
        for value in (10, 20, 30):
            yield Image.new("RGB", (8, 6), (value, value, value))


def silent(what: str, done: int, total: int) -> None:
    """Nobody listens."""


def stand_in(directory: Path, body: str) -> None:
    """A program named ffmpeg: the real one is not everywhere."""
    program = directory / "ffmpeg"
    program.write_text(f"#!{sys.executable}\nimport sys\n{body}")
    program.chmod(0o755)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_ffmpeg_gets_every_picture_and_where_to_write(on_path: Path) -> None:
    stand_in(
        on_path, "data = sys.stdin.buffer.read()\nopen(sys.argv[-1], 'wb').write(' '.join(sys.argv).encode() + data)\n"
    )
    film.write(Reel(), on_path / "film.mp4", 30, silent)  # type: ignore[arg-type]
    written = (on_path / "film.mp4").read_bytes()
    assert b"-s 8x6 -r 30 -i -" in written
    assert written.endswith(bytes([10] * 144 + [20] * 144 + [30] * 144))


def test_a_failing_ffmpeg_is_quoted_and_leaves_the_older_film(on_path: Path) -> None:
    stand_in(on_path, "sys.exit('Unknown encoder libx264')\n")
    (on_path / "film.mp4").write_text("older")
    with pytest.raises(film.LockstepError, match="Unknown encoder libx264"):
        film.write(Reel(), on_path / "film.mp4", 30, silent)  # type: ignore[arg-type]
    assert (on_path / "film.mp4").read_text() == "older"
    assert not list(on_path.glob(".lockstep-film-*"))


@needs("ffmpeg", package="ffmpeg")
@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_the_real_ffmpeg_writes_a_film(tmp_path: Path, suffix: str) -> None:
    film.write(Reel(), tmp_path / f"film{suffix}", 30, silent)  # type: ignore[arg-type]
    assert (tmp_path / f"film{suffix}").stat().st_size > 100
