"""`lockstep rollout`: an episode on reference and candidate, in figures and as a film of both side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.calls import ShellCalls
from harness.cli.compare import both_sides, played_options, what_to_play
from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.operations.comparison import Compared


@command(
    "rollout", "play an episode on both sides, and film it", "lockstep rollout pong --policy track --video film.mp4"
)
@played_options
@click.option(
    "--video",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Film both side by side: .webp, .gif or .png; with ffmpeg also .mp4 or .webm.",
)
@click.option(
    "--fps", type=click.FloatRange(1, 100), default=25, show_default=True, help="Steps per second of the film."
)
def rollout(
    output: Output,
    directory: str,
    case_file: Path | None,
    policy: str,
    steps: int | None,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
    video: Path | None,
    fps: float,
) -> int:
    """Play an episode on reference and candidate: how long it was, what it paid, how it ended, and where they first differ.

    With --video it is filmed: each side's picture is drawn by the reference from that side's own canonical state.
    """
    from harness.errors import TaskError
    from harness.operations import comparison, film
    from harness.verify.levels.known import ProbeCase

    task, workspace, driver = both_sides(directory, candidate, sandbox)
    what = what_to_play(task, case_file, policy, steps, seed)
    if case_file is not None and isinstance(what, ProbeCase):
        calls = ShellCalls(workspace=Path(directory), candidate=candidate)
        raise TaskError(
            "this is the input of a probe, not an episode",
            where=str(case_file),
            next_step=f"ask both sides for it with `{calls.compare(case_file)}`",
        )
    if video is not None:
        film.check_target(video)
    output.kept = "no film was written"
    with output.progress() as progress, comparison.compared(task, workspace, driver, what, progress) as (played, pair):
        document = played.document | {"sides": comparison.sides(played.both), "video": None}
        if video is not None:
            film.check_renderer(pair.reference.first)
            reel = film.Film(played.both, pair.reference.first)
            film.write(reel, video, fps, progress)
            size = video.stat().st_size
            document["video"] = {"file": str(video), "pictures": reel.length, "fps": fps, "bytes": size}
    output.emit(document, *_shown(played, document))
    return EXIT_OK if played.both.difference is None else EXIT_FAIL


def _shown(played: Compared, document: dict[str, Any]) -> list[RenderableType]:
    from harness.cli import show

    table = show.grid("left", "right", "right", "left", header=("", "steps", "return", "ended by"))
    for name, side in document["sides"].items():
        table.add_row(
            name,
            str(side["steps"]),
            _returned(side["return"]),
            side["ended"] or "its last action",
        )
    output_lines: list[RenderableType] = [table]
    if played.both.difference is None:
        output_lines.append(f"\nno difference in {played.both.steps} steps")
    else:
        output_lines.append(show.first_difference(played.both, played.rows, played.grids))
    if document["video"] is not None:
        about = document["video"]
        output_lines.append(
            f"\nthe film is {about['file']} ({about['pictures']} pictures, {about['bytes'] / 1e6:.1f} MB)"
        )
    return output_lines


def _returned(earned: float | dict[str, float | None] | None) -> str:
    if isinstance(earned, dict):
        return ", ".join(f"{player} {_returned(each)}" for player, each in earned.items())
    return "not finite" if earned is None else f"{earned:g}"
