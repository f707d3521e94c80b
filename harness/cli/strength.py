"""`lockstep strength`: faults planted in a verified candidate, and which of them the levels find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.verify import (
    candidate_option,
    chosen_candidate,
    demand_no_choice,
    on_option,
    sandbox_option,
    seed_option,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.measure.strength.rare.curve import Curve
    from harness.measure.strength.recorded import Recorded
    from harness.measure.strength.result import Strength
    from harness.operations.strength import Kind, M

COLOURS = {"survived": "bold yellow", "unjudged": "bold magenta", "argued": "yellow", "equivalent": "dim"}


@command(
    "strength",
    "measure how many planted faults the tests find",
    "lockstep strength pong --sample 150 --seed 7",
    "lockstep strength cartpole --rare",
)
@click.argument("where", metavar="[TASK|SESSION]", default=".", shell_complete=completion.tasks_and_sessions)
@click.option(
    "--level",
    type=click.IntRange(1, 4),
    shell_complete=completion.levels,
    default=3,
    show_default=True,
    help="The highest level to run; level 4 trains, and only judges what survives the others.",
)
@click.option("--every-level", is_flag=True, help="Run each level alone on every mutant, to see what each would find.")
@click.option(
    "--by-coverage",
    is_flag=True,
    help="Of a crate: judge all from one seed, and run no level on a mutant in a function that is not run from it.",
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="So many mutants, at random; default: all.")
@click.option("--only", multiple=True, metavar="ID", help="Only this mutant; may be given several times.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="How many at once; default: one for each core.")
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 1 where a smaller share of the mutants that are not equivalent is killed.",
)
@click.option(
    "--rare",
    is_flag=True,
    help="Instead: the detection curve, what share of faults in rare states is caught, by how rare they are.",
)
@click.option("--predicates", type=click.IntRange(1, 2000), metavar="N", help="Of --rare: faults for each share.")
@click.option(
    "--steps", type=click.IntRange(1000), metavar="N", help="Of --rare: steps of random play; ten show a share."
)
@click.option("--runs", type=click.IntRange(1, 100), metavar="N", help="Of --rare: seeds of verifications.")
@click.option(
    "--exploring",
    type=click.IntRange(1, 1000),
    multiple=True,
    metavar="N",
    help="Of --rare: explore N times as long; may be given several times. Default: 1, and 10 as a certificate does.",
)
@click.option(
    "--plant", type=click.IntRange(0, 2000), metavar="N", help="Of --rare: judge so many of the faults as mutants."
)
@click.option("--fresh", is_flag=True, help="Start from the beginning where an interrupted measurement could go on.")
@seed_option
@candidate_option
@sandbox_option
@on_option
def strength(
    output: Output,
    where: str,
    level: int,
    every_level: bool,
    by_coverage: bool,
    sample: int | None,
    only: tuple[str, ...],
    jobs: int | None,
    at_least: float | None,
    rare: bool,
    predicates: int | None,
    steps: int | None,
    runs: int | None,
    exploring: tuple[int, ...],
    plant: int | None,
    fresh: bool,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
    on: str | None,
) -> int:
    """Plant faults in a verified candidate, one at a time, and run the levels on each until one finds it.

    Mutants that are proved to be the same program are left out. What survives is listed with its place; the task's
    survivors.toml may explain it, and the exit code is 1 where something is not explained. In a session the newest verified
    commit is measured, and the figures are recorded. What an interruption leaves is gone on with by the same command.

    With --rare nothing is planted in the text: a fault is there where a rare rule applies, and a few verifications tell
    which of thousands of such faults they catch.
    """
    from harness.measure.strength import text
    from harness.measure.strength.run import Settings
    from harness.operations.strength import MUTANTS

    of_rare = {"predicates": predicates, "steps": steps, "runs": runs, "exploring": exploring or None, "plant": plant}
    of_rare = {name: value for name, value in of_rare.items() if value is not None}
    if rare:
        if level != 3 or every_level or by_coverage or sample or only or jobs or at_least is not None:
            raise click.UsageError(
                "--rare takes no --level, --every-level, --by-coverage, --sample, --only, --jobs or --at-least"
            )
        return _rare(output, where, {**of_rare, "fresh": fresh}, seed, candidate, sandbox, on)
    if of_rare:
        raise click.UsageError(f"--{next(iter(of_rare))} belongs to --rare")
    settings = Settings(
        level=level, every_level=every_level, sample=sample, only=only, jobs=jobs, fresh=fresh, by_coverage=by_coverage
    )
    report = _measured(output, MUTANTS, where, settings, seed, candidate, sandbox, on)
    left = text.verdict(report.measured, at_least)
    output.emit(report.to_json(), *_shown(report.measured, left))
    return EXIT_FAIL if left else EXIT_OK


def _rare(
    output: Output,
    where: str,
    chosen: dict[str, Any],
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
    on: str | None,
) -> int:
    from harness.measure.strength.rare import text
    from harness.measure.strength.rare.run import Settings
    from harness.operations.strength import RARE

    settings = Settings(**chosen)
    report = _measured(output, RARE, where, settings, seed, candidate, sandbox, on)
    left = text.verdict(report.measured)
    output.emit(report.to_json(), *_curve_shown(report.measured, left))
    return EXIT_FAIL if left else EXIT_OK


def _measured(
    output: Output,
    kind: Kind[M],
    where: str,
    settings: Any,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
    on: str | None,
) -> Recorded[M]:
    """Measure a session, or a task's own candidate."""
    from harness.cli.locate import opened, session_rather_than_task
    from harness.operations.spreading import engine_on
    from harness.operations.strength import measure_directory, measure_session
    from harness.policy.floor import permitted
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    output.kept = "what was found so far is kept: the same command goes on with it"
    found = session_rather_than_task(where)
    if found is None:
        task = chosen_candidate(load_task(find_task(where)), candidate)
        with engine_on(on) as engine, output.progress() as progress:
            return measure_directory(kind, task, permitted(sandbox), settings, seed, progress, engine)
    demand_no_choice(candidate)
    with engine_on(on) as engine, opened(found.id) as session, output.progress() as progress:
        return measure_session(kind, session, settings, seed=seed, driver=sandbox, progress=progress, engine=engine)


def _curve_shown(curve: Curve, left: list[str]) -> list[RenderableType | str]:
    from rich.text import Text

    from harness.cli import show
    from harness.measure.strength.rare import text

    header = text.header(curve)
    table = show.grid("left", *["right"] * (len(header) - 1), header=header)
    for row in text.rows(curve):
        table.add_row(*row)
    lines: list[RenderableType | str] = [table, "", *text.summary(curve)]
    if rows := list(text.family_rows(curve)):
        families = show.grid("left", "left", *["right"] * (len(header) - 2), header=(header[0], "family", *header[2:]))
        for row in rows:
            families.add_row(*row)
        lines += ["", "missed, by family:", families]
    if rows := list(text.missed(curve)):
        lines += ["", "missed:", *(show.indented(Text.assemble((f"{held}  ", "dim"), said)) for held, said in rows)]
    if left:
        lines += ["", *(Text(line, "bold red") for line in left)]
    return [*lines, "", f"seed {curve.seed}, {curve.duration_s:.0f} s"]


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
