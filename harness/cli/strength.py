"""`lockstep strength`: faults planted in a verified candidate, and which of them the levels find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.verify import candidate_option, chosen_candidate, demand_no_choice, sandbox_option, seed_option

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.measure.strength.result import Strength

COLOURS = {"survived": "bold yellow", "unjudged": "bold magenta", "argued": "yellow", "equivalent": "dim"}


@command("strength", "measure how many planted faults the tests find")
@click.argument("where", metavar="[TASK|SESSION]", default=".")
@click.option(
    "--level",
    type=click.IntRange(1, 4),
    default=3,
    show_default=True,
    help="The highest level to run; level 4 trains, and only judges what survives the others.",
)
@click.option("--every-level", is_flag=True, help="Run each level alone on every mutant, to see what each would find.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="So many mutants, at random; default: all.")
@click.option("--only", multiple=True, metavar="ID", help="Only this mutant; may be given several times.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="How many at once; default: one for each core.")
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 1 where a smaller share of the mutants that are not equivalent is killed.",
)
@click.option("--fresh", is_flag=True, help="Start from the beginning where an interrupted measurement could go on.")
@seed_option
@candidate_option
@sandbox_option
def strength(
    output: Output,
    where: str,
    level: int,
    every_level: bool,
    sample: int | None,
    only: tuple[str, ...],
    jobs: int | None,
    at_least: float | None,
    fresh: bool,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
) -> int:
    """Plant faults in a verified candidate, one at a time, and run the levels on each until one finds it.

    Mutants that are proved to be the same program are left out. What survives is listed with its place; the task's
    survivors.toml may explain it, and the exit code is 1 where something is not explained. In a session the newest verified
    commit is measured, and the figures are recorded. What an interruption leaves is gone on with by the same command.
    """
    from harness.cli.locate import opened, session_rather_than_task
    from harness.measure.strength import text
    from harness.measure.strength.run import Settings
    from harness.operations.strength import strength_directory, strength_session
    from harness.policy.floor import permitted
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    settings = Settings(level=level, every_level=every_level, sample=sample, only=only, jobs=jobs, fresh=fresh)
    output.kept = "what was found so far is kept: the same command goes on with it"
    found = session_rather_than_task(where)
    if found is not None:
        demand_no_choice(candidate)
        with opened(found.id) as session, output.progress() as progress:
            report = strength_session(session, settings, seed=seed, driver=sandbox, progress=progress)
    else:
        task = chosen_candidate(load_task(find_task(where)), candidate)
        with output.progress() as progress:
            report = strength_directory(task, permitted(sandbox), settings, seed, progress)
    left = text.verdict(report.strength, at_least)
    output.emit(report.to_json(), *_shown(report.strength, left))
    return EXIT_FAIL if left else EXIT_OK


def _shown(measured: Strength, left: list[str]) -> list[RenderableType | str]:
    from rich.text import Text

    from harness.cli import show
    from harness.measure.strength import text

    header = text.EVERY_HEADER if measured.settings["every_level"] else text.LEVEL_HEADER
    table = show.grid("left", *["right"] * (len(header) - 1), header=header)
    for row in text.level_rows(measured):
        table.add_row(*row)
    output_lines: list[RenderableType | str] = [table, "", *text.summary(measured)]
    if rows := list(text.remaining(measured)):
        output_lines += ["", "not killed:"]
        for status, identifier, name, why in rows:
            output_lines.append(
                show.indented(Text.assemble((f"{status:<11}", COLOURS[status]), identifier, "  ", name))
            )
            output_lines.append(show.indented(show.indented(Text(why, "dim"))))
    if left:
        output_lines += ["", *(Text(line, "bold red") for line in left)]
    return [*output_lines, "", f"seed {measured.seed}, {measured.duration_s:.0f} s"]
