"""A film of one case: reference and candidate side by side, picture by picture, marked from where they part.

Both sides are drawn by the reference (`harness.verify.pictures`). Pillow writes `.webp`, `.gif` and `.png`; ffmpeg, where
it is installed, `.mp4` and `.webm`: it gets the pictures through a pipe.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from harness.errors import LockstepError, SetupError, TaskError
from harness.model import ENDINGS, STATE, Array, Leaves
from harness.protocol.environment import Environment
from harness.support.progress import Progress
from harness.support.text import one_line
from harness.verify import pictures
from harness.verify.side_by_side import SideBySide

BY_PILLOW = (".webp", ".gif", ".png")
BY_FFMPEG = {
    ".mp4": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"),
    ".webm": ("-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-b:v", "0", "-crf", "32"),
}

PANEL = 400
"""The longer side of a side's picture in the film, in pixels; small pictures are enlarged by whole numbers."""
MARGIN, LINE = 12, 24
HELD_BYTES = 600 << 20
"""Pillow holds all pictures of a .gif or .png at once; a film that needs more memory is refused."""

BACKGROUND, INK, DIM, QUIET, ALARM = (250, 250, 250), (20, 20, 20), (110, 110, 110), (200, 200, 200), (200, 0, 0)


def check_target(path: Path) -> None:
    """Check that a film can be written to a file, before anything is played.

    Raises:
        SetupError: the suffix is unknown, ffmpeg is needed and missing, or the directory does not exist.
    """
    suffix = path.suffix.lower()
    everywhere = f"{', '.join(BY_PILLOW)} need nothing"
    if suffix not in (*BY_PILLOW, *BY_FFMPEG):
        known = ", ".join((*BY_PILLOW, *BY_FFMPEG))
        raise SetupError(
            f"a film cannot be written as `{suffix or path.name}`", where=str(path), expected=f"one of {known}"
        )
    if suffix in BY_FFMPEG and shutil.which("ffmpeg") is None:
        raise SetupError(
            f"{suffix} is written by ffmpeg, which is not on PATH",
            where=str(path),
            next_step=f"install ffmpeg, or name another file: {everywhere}",
        )
    if not path.absolute().parent.is_dir():
        raise SetupError(
            "there is no such directory", where=str(path.parent), next_step="make it, or name another file"
        )


def check_renderer(renderer: Environment) -> None:
    """Check that a reference can draw.

    Raises:
        TaskError: it has no capability `render`.
    """
    if not pictures.can_draw(renderer):
        raise TaskError(
            "this reference draws no pictures: it lacks the capability `render`",
            next_step="give its adapter a method `render` (docs/protocol.md, Pictures), or leave out --video",
        )


class Film:
    """The pictures of one case on both sides, composed one after the other.

    Args:
        both: what was played.
        renderer: a worker of the reference, which draws; nothing else may ask it meanwhile.

    Raises:
        EnvironmentFailure: from iterating, when the reference does not answer.
    """

    def __init__(self, both: SideBySide, renderer: Environment) -> None:
        assert both.case is not None
        self._both, self._renderer = both, renderer
        self._case = both.case
        self._font = ImageFont.load_default(14)
        self.length = max(_timesteps(both.expected), _timesteps(both.actual))

    def __iter__(self) -> Iterator[Image.Image]:
        both = self._both
        walk = None if pictures.can_restore(self._renderer) else pictures.draw_walk(self._renderer, self._case)
        left = right = self._panel(None)
        for timestep in range(self.length):
            # A side that has ended keeps its last picture.
            if timestep < _timesteps(both.expected):
                left = self._panel(self._drawn(both.expected, timestep) if walk is None else next(walk))
            if timestep < _timesteps(both.actual):
                state = _state(both.actual, timestep)
                same = bool(state) and state == _state(both.expected, timestep)
                right = left if same else self._panel(None if walk is not None else self._drawn(both.actual, timestep))
            yield self._composed(timestep, left, right)

    def _drawn(self, leaves: Leaves, timestep: int) -> Array | None:
        return pictures.draw(
            self._renderer, {path: array[timestep] for path, array in leaves.items() if path.startswith(STATE)}
        )

    def _panel(self, picture: Array | None) -> Image.Image:
        """One side's picture in the film's size; without one, a grey field that says so."""
        if picture is None:
            empty = Image.new("RGB", (PANEL, PANEL), QUIET)
            ImageDraw.Draw(empty).text((PANEL // 2, PANEL // 2), "no picture", DIM, self._font, anchor="mm")
            return empty
        image = Image.fromarray(picture)
        longer = max(image.size)
        if longer > PANEL:
            return image.resize([max(1, side * PANEL // longer) for side in image.size], Image.Resampling.BOX)
        zoom = PANEL // longer
        return image.resize([side * zoom for side in image.size], Image.Resampling.NEAREST)

    def _composed(self, timestep: int, left: Image.Image, right: Image.Image) -> Image.Image:
        if timestep == 0:
            sizes = [panel.size for panel in (left, right)]
            self._position = max(width for width, _ in sizes), max(height for _, height in sizes)
        width, height = self._position
        # Even sizes: most encoders of films want them.
        whole = Image.new(
            "RGB", ((2 * width + 3 * MARGIN) // 2 * 2, (height + 2 * LINE + 3 * MARGIN) // 2 * 2), BACKGROUND
        )
        pen = ImageDraw.Draw(whole)
        found = self._both.difference
        parted = found is not None and timestep >= found.step
        pen.text((MARGIN, MARGIN), f"step {timestep} of {self.length - 1}", INK, self._font)
        if parted and found is not None:
            text = f"DIFFERENT since step {found.step}: {found.path} ({found.rule})"
            text = one_line(text)
            pen.text((2 * MARGIN + width, MARGIN), text, ALARM, self._font)
        top = 2 * MARGIN + 2 * LINE
        sides = (("reference", left, self._both.expected), ("candidate", right, self._both.actual))
        for number, (name, panel, leaves) in enumerate(sides):
            x = MARGIN + number * (width + MARGIN)
            alarmed = parted and number == 1
            pen.text((x, MARGIN + LINE), name + _ending(leaves, timestep), ALARM if alarmed else DIM, self._font)
            whole.paste(panel, (x, top - MARGIN))
            thick = 4 if alarmed else 1
            box = (
                x - thick,
                top - MARGIN - thick,
                x + panel.width + thick - 1,
                top - MARGIN + panel.height + thick - 1,
            )
            pen.rectangle(box, None, ALARM if alarmed else QUIET, thick)
        return whole


def write(film: Film, path: Path, fps: float, progress: Progress) -> None:
    """Write a film; an older file is replaced only by a whole one.

    Raises:
        LockstepError: it cannot be written, or the reference does not draw.
    """
    check_target(path)
    counted = _counted(film, progress)
    first = next(counted)
    unfinished = Path(tempfile.mkdtemp(prefix=".lockstep-film-", dir=path.absolute().parent)) / path.name
    try:
        if path.suffix.lower() in BY_FFMPEG:
            _by_ffmpeg(first, counted, unfinished, fps)
        else:
            _by_pillow(film, first, counted, unfinished, fps)
        unfinished.replace(path)
    except OSError as error:
        raise LockstepError(f"the film cannot be written: {error}", where=str(path)) from error
    finally:
        shutil.rmtree(unfinished.parent, ignore_errors=True)


def _by_pillow(film: Film, first: Image.Image, rest: Iterator[Image.Image], path: Path, fps: float) -> None:
    suffix = path.suffix.lower()
    timing: dict[str, Any] = {"duration": round(1000 / fps), "loop": 0}
    if suffix == ".webp":
        _Reel(film.length, first, rest).save(path, save_all=True, lossless=True, quality=20, **timing)
        return
    needed = first.width * first.height * 3 * film.length
    if needed > HELD_BYTES:
        raise LockstepError(
            f"{film.length} pictures are too many for a {suffix}, which is put together in memory ({needed >> 20} MB)",
            where=str(path),
            next_step="write a .webp instead, or fewer --steps",
        )
    timing |= {"disposal": 1} if suffix == ".gif" else {}
    first.save(path, save_all=True, append_images=list(rest), **timing)


def _by_ffmpeg(first: Image.Image, rest: Iterator[Image.Image], path: Path, fps: float) -> None:
    size = f"{first.width}x{first.height}"
    source = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{fps:g}", "-i", "-")
    command = ["ffmpeg", "-loglevel", "error", "-y", *source, "-an", *BY_FFMPEG[path.suffix.lower()], str(path)]
    with tempfile.TemporaryFile() as said:
        encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
        assert encoder.stdin is not None
        try:
            with suppress(BrokenPipeError):  # it has ended early, and has said why
                for picture in chain([first], rest):
                    encoder.stdin.write(picture.tobytes())
                encoder.stdin.close()
        except BaseException:
            encoder.kill()
            encoder.wait()
            raise
        if encoder.wait() != 0:
            said.seek(0)
            message = said.read().decode(errors="replace").strip()
            raise LockstepError(
                f"ffmpeg failed (exit status {encoder.returncode}): {message[-500:]}",
                where=str(path),
                next_step=f"name a file that Pillow writes: {', '.join(BY_PILLOW)}",
            )


class _Reel(Image.Image):
    """What Pillow saves as an animation: an image that shows its next picture when it is wound on.

    Given a list of pictures, Pillow would have all of them in memory before it encodes the first.
    """

    def __init__(self, length: int, first: Image.Image, rest: Iterator[Image.Image]) -> None:
        super().__init__()
        self.n_frames = length
        self._rest, self._at = rest, 0
        self._show(first)

    def _show(self, picture: Image.Image) -> None:
        self.im, self._mode, self._size = picture.im, picture.mode, picture.size

    def seek(self, frame: int) -> None:
        """Wind on by one; Pillow never jumps, and winds back only when all is encoded, which needs no picture."""
        if frame == self._at + 1:
            self._show(next(self._rest))
        self._at = frame

    def tell(self) -> int:
        """The number of the picture that is shown."""
        return self._at


def _counted(film: Film, progress: Progress) -> Iterator[Image.Image]:
    for number, picture in enumerate(film):
        progress("drawing and encoding", number, film.length)
        yield picture


def _timesteps(leaves: Leaves) -> int:
    return len(next(iter(leaves.values())))


def _state(leaves: Leaves, timestep: int) -> dict[str, tuple[str, bytes]] | None:
    """A side's state bit by bit: where both have the same, one picture does for both. None beyond its end."""
    if timestep >= _timesteps(leaves):
        return None
    state = {path: np.asarray(array[timestep]) for path, array in leaves.items() if path.startswith(STATE)}
    return {path: (array.dtype.str, array.tobytes()) for path, array in state.items()}


def _ending(leaves: Leaves, timestep: int) -> str:
    """What is said of a side whose episode is over by this timestep."""
    last = _timesteps(leaves) - 1
    over = [name for name in ENDINGS if np.any(leaves[name][last])]
    return f": {' and '.join(over)} in step {last}" if timestep >= last and over else ""
