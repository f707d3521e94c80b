"""`lockstep compare`: one case or one episode on both sides. `lockstep rollout` plays the same and films it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.verify import candidate_option, chosen_candidate, demand_no_choice, sandbox_option, seed_option

if TYPE_CHECKING:
    from harness.task.contract import Task
    from sandboxes import Driver

MAX_SHOWN = 300


def played_options(run: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what is played: a case, or an episode under a policy."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in (
        sandbox_option,
        candidate_option,
        seed_option,
        click.option("--steps", type=click.IntRange(1), help="Its length at most; default: the task's horizon."),
        click.option("--policy", default="random", show_default=True, help="Or an episode under this policy."),
        click.option("--case", "case_file", type=file, help="Play the case in this file."),
        click.argument("directory", default=".", shell_complete=completion.tasks_and_sessions),
    ):
        run = option(run)
    return run


def both_sides(directory: str, candidate: str | None, sandbox: str | None) -> tuple[Task, Path, Driver]:
    """The task, where its candidate lies, and the sandbox that it runs in.

    In the workspace of a session the trusted task and the session's own sandbox are taken.
    """
    from harness.cli.locate import session_at
    from harness.policy.floor import permitted
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    here = session_at(Path(directory)) if Path(directory).is_dir() else None
    if here is not None:
        demand_no_choice(candidate)
    workspace = find_task(directory) if here is None else here.workspace
    task = chosen_candidate(load_task(workspace if here is None else here.trusted), candidate)
    if sandbox is None and here is not None:
        sandbox = _driver_of(here.id)
    return task, workspace, permitted(sandbox)


def what_to_play(task: Task, case_file: Path | None, policy: str, steps: int | None, seed: int | None) -> Any:
    """A case, a probe's input, or an episode, as the options say."""
    from harness.verify import side_by_side

    if case_file is not None:
        return side_by_side.read_case(case_file)
    return side_by_side.Episode(policy, secrets.randbits(31) if seed is None else seed, steps or task.budgets.horizon)


@command(
    "compare",
    "play one case on both sides",
    "lockstep compare cartpole --policy random --seed 7",
    "lockstep compare --case cases/a-case.json",
)
@played_options
def compare(
    output: Output,
    directory: str,
    case_file: Path | None,
    policy: str,
    steps: int | None,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
) -> int:
    """Play one case or one episode on both sides, and show the first difference."""
    from rich.text import Text

    from harness.cli import show
    from harness.operations.comparison import compare as play

    task, workspace, driver = both_sides(directory, candidate, sandbox)
    with output.progress() as progress:
        compared = play(task, workspace, driver, what_to_play(task, case_file, policy, steps, seed), progress)
    both, document = compared.both, compared.document
    described = show.grid("left", "left")
    for name, value in document["played"].items():
        described.add_row(name, Text(value[:MAX_SHOWN]))
    if both.difference is None:
        count = "in this probe's answer" if both.case is None else f"in {both.steps} steps"
        output.emit(document, described, f"\nno difference {count}")
        return EXIT_OK
    output.emit(document, described, show.first_difference(both, compared.rows, compared.grids))
    return EXIT_FAIL


def _driver_of(session: str) -> str | None:
    from harness.session.view import SessionView

    with SessionView(session) as view:
        return view.sandbox
