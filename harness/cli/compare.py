"""`lockstep compare`: one case or one episode on both sides."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import click

from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.verify import sandbox_option, seed_option

MAX_SHOWN = 300


@command("compare", "play one case on both sides")
@click.argument("directory", default=".")
@click.option(
    "--case",
    "case_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Play the case in this file.",
)
@click.option("--policy", default="random", show_default=True, help="Or an episode under this policy.")
@click.option("--steps", type=click.IntRange(1), help="Its length at most; default: the task's horizon.")
@seed_option
@sandbox_option
def compare(
    output: Output,
    directory: str,
    case_file: Path | None,
    policy: str,
    steps: int | None,
    seed: int | None,
    sandbox: str | None,
) -> int:
    """Play one case or one episode on both sides, and show the first difference."""
    from rich.text import Text

    from harness import sidebyside
    from harness.cli import show
    from harness.cli.places import session_at
    from harness.data import find_task
    from harness.operations.comparison import compare as play
    from harness.taskfile import load_task
    from sandboxes import choose

    here = session_at(Path(directory)) if Path(directory).is_dir() else None
    workspace = find_task(directory) if here is None else here.workspace
    task = load_task(workspace if here is None else here.trusted)
    if sandbox is None and here is not None:
        sandbox = _driver_of(here.id)
    what: Any = sidebyside.Episode(
        policy, secrets.randbits(31) if seed is None else seed, steps or task.budgets.horizon
    )
    if case_file is not None:
        what = sidebyside.read_case(case_file)
    with output.progress() as progress:
        compared = play(task, workspace, choose(sandbox), what, progress)
    both, document = compared.both, compared.document
    described = show.grid("left", "left")
    for name, value in document["played"].items():
        described.add_row(name, Text(value[:MAX_SHOWN]))
    if both.difference is None:
        count = "in this probe's answer" if both.case is None else f"in {both.steps} steps"
        output.emit(document, described, f"\nno difference {count}")
        return EXIT_OK
    output.emit(document, described, show.first_difference(both, compared.rows))
    return EXIT_FAIL


def _driver_of(session: str) -> str | None:
    from harness.record.view import SessionView

    with SessionView(session) as view:
        return view.sandbox
