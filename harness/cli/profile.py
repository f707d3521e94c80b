"""`lockstep profile`: steps per second beside the reference and its peers, and where a step's time goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from harness.cli import completion
from harness.cli.frame import EXIT_ERROR, EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.verify import (
    candidate_option,
    chosen_candidate,
    demand_no_choice,
    device_option,
    sandbox_option,
    seed_option,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from harness.measure.profile.result import Profile

EXITS = {"PASS": EXIT_OK, "FAIL": EXIT_FAIL, "ERROR": EXIT_ERROR}


@command("profile", "measure a candidate's speed beside reference and peers", "lockstep profile cartpole --batch 1024")
@click.argument("where", metavar="[TASK|SESSION]", default=".", shell_complete=completion.tasks_and_sessions)
@click.option("--batch", "batches", type=click.IntRange(1), multiple=True, help="Batch size; default: the task's.")
@click.option(
    "--seconds-per",
    type=click.FloatRange(0.01, 600.0),
    default=0.5,
    show_default=True,
    help="Seconds of measuring for each kind of run at each batch size.",
)
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(["step", "scan", "train"]), help="Only these kinds of run."
)
@click.option("--peer", "peers", multiple=True, metavar="NAME", help="Beside these peers of the task; default: all.")
@click.option("--no-peers", is_flag=True, help="Beside no peer.")
@click.option(
    "--devices", type=click.IntRange(1), default=1, help="Of a candidate in JAX: also spread over so many devices."
)
@seed_option
@candidate_option
@sandbox_option
@device_option
def profile(
    output: Output,
    where: str,
    batches: tuple[int, ...],
    seconds_per: float,
    kinds: tuple[str, ...],
    peers: tuple[str, ...],
    no_peers: bool,
    devices: int,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
) -> int:
    """Measure random-action steps, scanned rollouts and training of a candidate, beside its reference and its peers.

    What was timed is then played again by the reference: if they disagree, no figure counts and the exit code is 1. In the
    workspace of a session a snapshot of it is measured, and the figures are recorded.
    """
    from harness.cli.locate import opened, session_rather_than_task
    from harness.measure.profile.run import Settings
    from harness.operations.profiling import profile_directory, profile_session
    from harness.policy.floor import permitted
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    if no_peers and peers:
        raise click.UsageError("give --peer or --no-peers, not both")
    sizes = tuple(dict.fromkeys(batches)) or None
    chosen = () if no_peers else peers or None
    settings = Settings(batches=sizes, seconds_per=seconds_per, peers=chosen, devices=devices)
    if kinds:
        settings = replace(settings, kinds=tuple(dict.fromkeys(kinds)))
    found = session_rather_than_task(where)
    if found is not None:
        demand_no_choice(candidate)
        if "train" in kinds:
            settings = replace(settings, train_at=sizes or load_task(found.trusted).batch_sizes)
        with opened(found.id) as session, output.progress() as progress:
            output.kept = "nothing was recorded of this profile"
            report = profile_session(session, settings, seed=seed, driver=sandbox, progress=progress)
    else:
        task = chosen_candidate(load_task(find_task(where)), candidate)
        if "train" in kinds:
            settings = replace(settings, train_at=sizes or task.batch_sizes)
        with output.progress() as progress:
            report = profile_directory(task, permitted(sandbox), settings, seed, progress)
    output.emit(report.to_json(), *_shown(report.profile))
    return EXITS[report.profile.outcome]


def _shown(measured: Profile) -> list[RenderableType | str]:
    from rich.text import Text

    from harness.cli import show
    from harness.measure.profile import text

    output_lines: list[RenderableType | str] = [table_of(measured), "", *text.behind(measured)]
    if measured.hot is not None:
        output_lines += ["", "where a step's time goes (share, kind, line of the candidate):"]
        hot = show.grid("right", "left", "left")
        for row in text.operations(measured.hot):
            hot.add_row(*row)
        output_lines.append(show.indented(hot))
    if measured.advice is not None:
        output_lines += ["", text.next_step(measured.advice)]
    if measured.error:
        output_lines.append(Text("could not be measured: " + measured.error, "magenta"))
    return output_lines


def table_of(measured: Profile) -> Table:
    """The measurements of a profile; no digit of a figure is cut where the names of peers are long."""
    from harness.cli import show
    from harness.measure.profile import text

    table = show.grid("left", "left", *["right"] * 7, "left", header=text.header(measured), unbroken=False)
    for row in text.rows(measured):
        table.add_row(*row)
    return table
