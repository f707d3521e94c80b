"""`lockstep coverage`: what the tests of each level reach of the reference, and of a candidate in Rust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from harness.cli import completion
from harness.cli.frame import EXIT_ERROR, EXIT_OK, Output, command
from harness.cli.verify import candidate_option, chosen_candidate, demand_no_choice, sandbox_option, seed_option
from harness.measure.coverage.asking import ASKING_SECONDS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.measure.coverage.result import Count, Coverage
    from harness.operations.coverage import CoverageReport

    Parts = Mapping[str, tuple[Count, Count]]

HEADER = ("level", "lines", "", "adds", "branches", "", "adds", "features", "asked again", "seconds")


@command(
    "coverage",
    "what the tests of each level reach of the reference, and of a crate",
    "lockstep coverage cartpole",
    "lockstep coverage --level 1    # in a session's workspace; recorded there",
)
@click.argument("where", metavar="[TASK|SESSION]", default=".", shell_complete=completion.tasks_and_sessions)
@click.option(
    "--level",
    "levels",
    type=click.IntRange(1, 3),
    multiple=True,
    shell_complete=completion.levels,
    help="Only these levels; default: 1 to 3.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=ASKING_SECONDS,
    show_default=True,
    help="For so long at most the questions of one level are asked again.",
)
@seed_option
@candidate_option
@sandbox_option
def coverage(
    output: Output,
    where: str,
    levels: tuple[int, ...],
    seconds: float,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
) -> int:
    """Run the tests of levels 1 to 3 and count the lines, branches and declared features of the reference that they reach;
    of a candidate in Rust also those of its own code.

    What is judged is not touched: what it was asked is asked again of workers that count. Of a session the newest
    verified tree is taken, and the figures are recorded.
    """
    from harness.cli.locate import opened, session_rather_than_task
    from harness.operations.coverage import coverage_directory, coverage_session
    from harness.policy.floor import permitted
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    found = session_rather_than_task(where)
    if found is not None:
        demand_no_choice(candidate)
        with opened(found.id) as session, output.progress() as progress:
            output.kept = "nothing was recorded of this measurement"
            report = coverage_session(
                session, levels or None, seed=seed, driver=sandbox, progress=progress, seconds=seconds
            )
    else:
        task = chosen_candidate(load_task(find_task(where)), candidate)
        with output.progress() as progress:
            report = coverage_directory(task, permitted(sandbox), levels or None, seed, progress, seconds=seconds)
    output.emit(report.to_json(), *_shown(report))
    return EXIT_OK if report.measured else EXIT_ERROR


def _shown(report: CoverageReport) -> list[RenderableType | str]:
    from rich.text import Text

    modules = _modules(report.reference) if len(report.reference.modules) > 1 else {}
    output_lines = _measured(report.reference, {"module": modules})
    if (own := report.candidate) is not None:
        # A crate has many functions: those that were reached as a whole need no line.
        partly = {name: found for name, found in _modules(own).items() if found[0][0] < found[0][1]}
        files = {name: own.of_file(name) for name in own.files}
        parts = {"file": files, "function, of those not reached as a whole": partly}
        output_lines += ["", Text("of the candidate's own code", "bold"), *_measured(own, parts)]
    output_lines += [Text(f"note: {each}", "yellow") for each in report.remarks]
    if report.bound is not None:
        output_lines += ["", f"at most {report.bound:.2%} of episodes diverge (95%)"]
    if report.event is not None:
        output_lines.append(f"recorded as event {report.event}")
    return output_lines


def _modules(reached: Coverage) -> Parts:
    return {name: (reached.lines(None, name), reached.branches(None, name)) for name in reached.modules}


def _measured(reached: Coverage, parts: Mapping[str, Parts]) -> list[RenderableType | str]:
    """What was reached of one side, in all and by its parts: what they are called, and each with its figures."""
    from rich.text import Text

    from harness.cli import show
    from harness.measure.coverage.result import SHOWN_GAPS

    levels = sorted(reached.levels.items())
    table = show.grid("left", *["right"] * 9, header=HEADER)
    for level, found in levels:
        counted = f"{found.repeated}/{found.asked}"
        table.add_row(f"level {level}", *_figures(reached, level), counted, f"{round(found.seconds, 2):.1f}")
    table.add_row("together", *_figures(reached, None), "", "")
    output_lines: list[RenderableType | str] = [table] if reached.files else []
    for kind, each in parts.items():
        shares = show.grid("left", *["right"] * 4, header=(kind, "lines", "", "branches", ""))
        for name, (lines, branches) in each.items():
            shares.add_row(name, *_share(lines), *_share(branches))
        output_lines += ["", shares] if each else []
    for name, (lines, of_lines, branches, of_branches) in levels[-1][1].whole.items() if levels else ():
        if of_lines == reached.of_file(name)[0][1]:
            continue
        counts = f"{lines} of {of_lines} lines, {branches} of {of_branches} branches at level {levels[-1][0]}"
        output_lines.append(Text(f"the whole of {name}: {counts}", "dim"))
    if gaps := reached.never():
        output_lines += ["", Text("reached by no level:", "bold yellow")]
        for gap in gaps[:SHOWN_GAPS]:
            span = f"{gap.first}-{gap.last}" if gap.last > gap.first else str(gap.first)
            output_lines += [f"  {gap.file}:{span}", *(Text(f"    {line}", "dim") for line in reached.shown_lines(gap))]
        hidden = len(gaps) - SHOWN_GAPS
        output_lines += [f"  and {hidden} more places"] if hidden > 0 else []
    if untaken := reached.untaken():
        output_lines += ["", Text("branches that no level took, though their line was reached:", "yellow")]
        output_lines += [f"  {name}:{branch}" for name, branch in untaken[:SHOWN_GAPS]]
    if reached.unreached_features:
        output_lines += ["", Text(f"features that no level reached: {', '.join(reached.unreached_features)}", "yellow")]
    failed = [(level, found.error) for level, found in levels if found.error]
    output_lines += [Text(f"level {level} could not be measured: {error}", "magenta") for level, error in failed]
    return output_lines + [Text(f"not measured: {each}", "yellow") for each in reached.not_measured]


def _figures(reached: Coverage, level: int | None) -> list[str]:
    """Lines, branches and features: those of one level, with what it adds to those below it, or those of all together."""
    chosen = None if level is None else [level]
    figures = []
    for number, share in enumerate((reached.lines(chosen), reached.branches(chosen))):
        added = f"+{reached.added(level)[number]}" if level is not None and share[1] else ""
        figures += [*_share(share), added]
    done, total = reached.features(chosen)
    return [*figures, f"{done}/{total}" if total else ""]


def _share(reached: Count) -> list[str]:
    done, total = reached
    return [f"{done}/{total}", f"{int(100 * done / total)}%"] if total else ["", ""]
