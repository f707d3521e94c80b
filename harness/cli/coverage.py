"""`lockstep coverage`: what the tests of each level reach of the reference, and of a candidate in Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from harness.cli.frame import EXIT_ERROR, EXIT_OK, Output, command
from harness.cli.verify import candidate_option, chosen_candidate, demand_no_choice, sandbox_option, seed_option
from harness.measure.coverage.asking import ASKING_SECONDS

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADER = ("level", "lines", "", "adds", "branches", "", "adds", "features", "asked again", "seconds")


@command("coverage", "what the tests of each level reach of the reference, and of a crate")
@click.argument("where", metavar="[TASK|SESSION]", default=".")
@click.option("--level", "levels", type=click.IntRange(1, 3), multiple=True, help="Only these levels; default: 1 to 3.")
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
    from harness.support.embedded import find_task
    from harness.task.load import load_task
    from sandboxes import choose

    found = session_rather_than_task(where)
    if found is not None:
        demand_no_choice(candidate)
        with opened(found.id) as session, output.progress() as progress:
            output.kept = "nothing was recorded of this measurement"
            document = coverage_session(
                session, levels or None, seed=seed, driver=sandbox, progress=progress, seconds=seconds
            )
    else:
        task = chosen_candidate(load_task(find_task(where)), candidate)
        with output.progress() as progress:
            document = coverage_directory(task, choose(sandbox), levels or None, seed, progress, seconds=seconds)
    output.emit(document, *_shown(document))
    return EXIT_OK if _is_measured(document) else EXIT_ERROR


def _is_measured(document: dict[str, Any]) -> bool:
    """Whether anything was counted, lines or features of the reference or lines of the candidate, and no level failed."""
    sides = [document, document.get("candidate", {"files": [], "levels": []})]
    levels = [each for side in sides for each in side["levels"]]
    counted = any(side["files"] for side in sides) or any(each["features"] for each in levels)
    return counted and not any(each["error"] for each in levels)


def _shown(document: dict[str, Any]) -> list[RenderableType | str]:
    from rich.text import Text

    several = document["modules"] if len(document["modules"]) > 1 else []
    output_lines = _measured(document, {"module": several})
    if "candidate" in document:
        # A crate has many functions: those that were reached as a whole need no line.
        own = document["candidate"]
        partly = [each for each in own["modules"] if each["lines"][0] < each["lines"][1]]
        parts = {"file": own["files"], "function, of those not reached as a whole": partly}
        output_lines += ["", Text("of the candidate's own code", "bold"), *_measured(own, parts)]
    output_lines += [Text(f"note: {each}", "yellow") for each in document["remarks"]]
    bound = document["divergence_bound_95"]
    if bound is not None:
        output_lines += ["", f"at most {bound:.2%} of episodes diverge (95%)"]
    if "event" in document:
        output_lines.append(f"recorded as event {document['event']}")
    return output_lines


def _measured(document: dict[str, Any], parts: dict[str, list[dict[str, Any]]]) -> list[RenderableType | str]:
    """What was reached of one side, in all and by its parts: what they are called, and each with its figures."""
    from rich.text import Text

    from harness.cli import show

    table = show.grid("left", *["right"] * 9, header=HEADER)
    for each in document["levels"]:
        counted = f"{each['repeated']}/{each['asked']}"
        table.add_row(f"level {each['level']}", *_figures(each, True), counted, f"{each['seconds']:.1f}")
    table.add_row("together", *_figures(document["together"], False), "", "")
    output_lines: list[RenderableType | str] = [table] if document["files"] else []
    for kind, rows in parts.items():
        shares = show.grid("left", *["right"] * 4, header=(kind, "lines", "", "branches", ""))
        for each in rows:
            figures = each.get("figures", each)
            shares.add_row(each["name"], *_share(figures["lines"]), *_share(figures["branches"]))
        output_lines += ["", shares] if rows else []
    whole = document["levels"][-1]["whole"] if document["levels"] else {}
    in_modules = {each["name"]: each["figures"]["lines"][1] for each in document["files"]}
    for name, (lines, of_lines, branches, of_branches) in whole.items():
        if of_lines == in_modules[name]:
            continue
        last = document["levels"][-1]["level"]
        counts = f"{lines} of {of_lines} lines, {branches} of {of_branches} branches at level {last}"
        output_lines.append(Text(f"the whole of {name}: {counts}", "dim"))
    if document["never"]:
        output_lines += ["", Text("reached by no level:", "bold yellow")]
        for gap in document["never"]:
            span = f"{gap['first']}-{gap['last']}" if gap["last"] > gap["first"] else str(gap["first"])
            output_lines += [f"  {gap['file']}:{span}", *(Text(f"    {line}", "dim") for line in gap["text"])]
        hidden = document["never_count"] - len(document["never"])
        output_lines += [f"  and {hidden} more places"] if hidden else []
    if document["untaken"]:
        output_lines += ["", Text("branches that no level took, though their line was reached:", "yellow")]
        output_lines += [f"  {branch}" for branch in document["untaken"]]
    if document["unreached_features"]:
        output_lines += [
            "",
            Text(f"features that no level reached: {', '.join(document['unreached_features'])}", "yellow"),
        ]
    output_lines += [Text(f"level {each['level']} could not be measured: {each['error']}", "magenta")
             for each in document["levels"] if each["error"]]  # fmt: skip
    return output_lines + [Text(f"not measured: {each}", "yellow") for each in document["not_measured"]]


def _figures(each: dict[str, Any], adds: bool) -> list[str]:
    figures = []
    for name in ("lines", "branches"):
        added = f"+{each[f'adds_{name}']}" if adds and each[name][1] else ""
        figures += [*_share(each[name]), added]
    done, total = each["features_reached"]
    return [*figures, f"{done}/{total}" if total else ""]


def _share(reached: list[int]) -> list[str]:
    done, total = reached
    return [f"{done}/{total}", f"{int(100 * done / total)}%"] if total else ["", ""]
