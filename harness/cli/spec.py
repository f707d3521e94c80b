"""`lockstep spec`: from rules in words to a reference that two readings of them agree on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command, exit_code
from harness.cli.verify import seed_option

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.specification.record import SpecificationRecord

READINGS = click.Choice(["first", "second"])
task_argument = click.argument("task", default=".", type=click.Path(path_type=Path), shell_complete=completion.tasks)


@click.group("spec", short_help="rules in words: statements, scenarios, two readings, rulings")
def spec() -> None:
    """A task that is made from rules in words (docs/specification.md); `lockstep new NAME --spec RULES.md` begins one."""


@command("number", "put a number on each statement that has none", "lockstep spec number ./harbour")
@task_argument
def number(output: Output, task: Path) -> int:
    """Put a number on each statement of the rules that has none, and show all statements."""
    from harness.operations import specification

    with _recorded(task) as record:
        document = specification.number(record)
    output.emit(document, *statements(document["statements"]), "", f"{document['added']} statements got a number")
    return EXIT_OK


@command(
    "check", "where a specification stands: what has no scenario, what contradicts itself", "lockstep spec check ."
)
@task_argument
def check(output: Output, task: Path) -> int:
    """Read rules, sheet and scenarios, and say what is missing. Nothing is run, and a record that there is says it, too.

    Exits with 1 where scenarios contradict one another, a statement has none, or something was changed after it was frozen.
    """
    from harness.errors import SessionLocked
    from harness.operations import specification
    from harness.specification.place import find
    from harness.specification.record import record_of
    from harness.support.home import lockstep_home

    if record_of(lockstep_home(), find(task)) is None:
        document = specification.check(task)
    else:
        try:
            with _recorded(task) as record:
                document = specification.checked(record)
        except SessionLocked:  # somebody works on it: what is there can be read all the same
            document = specification.check(task)
    output.emit(document, *_checked(document))
    open_ = document["contradictions"] or document["without_scenario"] or document["changed_since"]
    return EXIT_FAIL if open_ else EXIT_OK


@command("prompt", "what to tell an agent that works on a specification", "lockstep spec prompt scenarios")
@click.argument("name", type=click.Choice(["sheet", "scenarios", "reading"]))
@task_argument
@click.option("--which", type=READINGS, default="first", show_default=True, help="Of `reading`: which one is written.")
def prompt(output: Output, name: str, task: Path, which: str) -> int:
    """Print a prompt: sheet, scenarios or reading. Give each to a session that has not seen the others' work."""
    from harness.specification.place import find, read
    from harness.specification.prompts import render

    text = render(name, read(find(task)), which)
    output.emit({"prompt": name, "text": text}, text.rstrip())
    return EXIT_OK


@command("play", "play the scenarios against one reading", "lockstep spec play . first")
@task_argument
@click.argument("which", type=READINGS)
def play(output: Output, task: Path, which: str) -> int:
    """Play all scenarios against one reading, which need not have a second one. Exits with 1 where it misses one."""
    from harness.operations import specification

    with _recorded(task) as record, output.progress() as progress:
        document = specification.play(record, which, progress=progress)
    output.emit(document, *_missed(which, document["missed"], document["played"]))
    return EXIT_FAIL if document["missed"] else EXIT_OK


@command("compare", "hold two readings against each other and the scenarios", "lockstep spec compare ./harbour")
@task_argument
@seed_option
def compare(output: Output, task: Path, seed: int | None) -> int:
    """Play the scenarios against both readings, and hold these against each other at levels 1 to 3.

    A difference is neither reading's fault by itself. Either one misread the text, or the text can be read in two ways: then
    `lockstep spec rule` adds what holds, and both are repaired.
    """
    from harness.operations import specification

    with _recorded(task) as record, output.progress() as progress:
        document = specification.compare(record, seed=seed, progress=progress)
    output.emit(document, *_compared(document))
    return exit_code(document["outcome"])


@command(
    "rule", "add a ruling where the text can be read in two ways", "lockstep spec rule . 'half is rounded up' --on 15"
)
@task_argument
@click.argument("ruling")
@click.option("--on", "rules_on", type=click.IntRange(1), multiple=True, required=True, metavar="NUMBER",
              help="The statement that it makes clear; may be repeated.")  # fmt: skip
def rule(output: Output, task: Path, ruling: str, rules_on: tuple[int, ...]) -> int:
    """Add a numbered line to the rules. It is a statement like any other: scenarios cite it."""
    from harness.operations import specification

    with _recorded(task) as record:
        document = specification.rule(record, ruling, rules_on)
    said = f"statement {document['statement']['number']}: {document['statement']['text']}"
    output.emit(document, said, "next: write a scenario that cites it, and repair the readings")
    return EXIT_OK


@command("strength", "which faults of a reading no scenario notices", "lockstep spec strength . first --sample 100")
@task_argument
@click.argument("which", type=READINGS)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="So many faults, at random; default: all.")
@seed_option
def strength(output: Output, task: Path, which: str, sample: int | None, seed: int | None) -> int:
    """Plant faults in a reading, one at a time, and list by statement those that no scenario notices."""
    from harness.operations import specification

    with _recorded(task) as record, output.progress() as progress:
        document = specification.strength(record, which, sample=sample, seed=seed or 0, progress=progress)
    output.emit(document, *_strength(document))
    return EXIT_OK


@command("freeze", "make the task of what was agreed on, and sign it", "lockstep spec freeze . first")
@task_argument
@click.argument("which", type=READINGS)
@click.option(
    "--candidate", type=click.Choice(["jax", "rust"]), default="jax", show_default=True,
    help="What the candidate is to be written in.",
)  # fmt: skip
def freeze(output: Output, task: Path, which: str, candidate: str) -> int:
    """Make one reading the reference of a task, once everything agrees, and sign rules, scenarios and reference together.

    The seed is drawn once the files are recorded: no reading can have been written for it.
    """
    from harness.operations import specification

    output.kept = "nothing was frozen; repeat the command, which goes on from the same seed"
    with _recorded(task) as record, output.progress() as progress:
        document = specification.frozen(record, which, candidate=candidate, progress=progress)
    lines = [
        f"the {which} reading is the reference of {document['task']}",
        f"commit {document['commit']} in {document['repository']}",
        "",
        "Read task.toml first, and divide its one module. Then: `lockstep start`",
    ]
    output.emit(document, "\n".join(lines))
    return EXIT_OK


@contextmanager
def _recorded(task: Path) -> Iterator[SpecificationRecord]:
    """The record of the specification in a task directory, to be written; its host, if it has one, is asked to let go."""
    from harness.host.client import release
    from harness.specification.record import SpecificationRecord, located
    from harness.support.home import lockstep_home

    found = located(lockstep_home(), task)
    release(found.id)
    with SpecificationRecord(found) as record:
        yield record


def statements(found: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """Statements as a table, for a person to look through."""
    from rich.text import Text

    from harness.cli import show

    table = show.grid("right", "left")
    for one in found:
        table.add_row(str(one["number"]), Text(" ".join(one["text"].split())))
    return [table]


def _checked(document: Mapping[str, Any]) -> list[RenderableType | str]:
    lines: list[RenderableType | str] = [
        f"{len(document['statements'])} statements, {document['scenarios']} scenarios, "
        f"{'a sheet' if document['sheet'] else 'no sheet yet'}"
    ]
    if document["without_scenario"]:
        wanted = set(document["without_scenario"])
        lines += ["", "without a scenario:"]
        lines += statements([one for one in document["statements"] if one["number"] in wanted])
    lines += ["", "contradictions:", *document["contradictions"]] if document["contradictions"] else []
    if document["frozen"]:
        changed = document["changed_since"]
        lines += [
            "",
            f"changed since it was frozen: {', '.join(changed)}" if changed else "frozen, and unchanged since",
        ]
    recorded = [f"session: {document['session']}"] if document["session"] else []
    return [*lines, "", *recorded, f"next: {document['next']}"]


def _missed(which: str, missed: Sequence[Mapping[str, Any]], played: int) -> list[RenderableType | str]:
    lines: list[RenderableType | str] = [f"the {which} reading misses {len(missed)} of {played} scenarios"]
    for one in missed:
        lines.append(f"  {one['where']} {one['scenario']} (statements {', '.join(map(str, one['cites']))})")
        lines += [f"    {miss}" for miss in one["misses"]]
    return lines


def _compared(document: Mapping[str, Any]) -> list[RenderableType | str]:
    from harness.cli import show
    from harness.verdict import Divergence, LevelReport

    lines: list[RenderableType | str] = []
    for which, missed in document["missed"].items():
        lines += _missed(which, missed, document["scenarios"][which])
    for level in document["levels"]:
        report = LevelReport.from_json(level)
        lines += ["", f"level {report.level}", show.checks(report.checks)]
    for found in document["divergences"]:
        lines += [
            "",
            show.divergence(Divergence.from_json(found)),
            "`expected` is the first reading, `actual` the second",
        ]
    lines += [f"a reading refused to go on: {said}" for said in document["refusals"]]
    style = {"PASS": "green", "FAIL": "bold red"}.get(document["outcome"], "bold magenta")
    return [*lines, "", show.said(document["summary"], style), f"seed {document['seed']}"]


def _strength(document: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{document['survived']} of {document['planted']} faults in the {document['reading']} reading go unnoticed"
    ]
    for one in document["by_statement"]:
        lines += ["", f"statement {one['statement']}" if one["statement"] else "at lines that cite no statement"]
        lines += [f"  {name}" for name in one["survived"]]
    return lines


for _command in (number, check, prompt, play, compare, rule, strength, freeze):
    spec.add_command(_command)
