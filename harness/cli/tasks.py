"""`lockstep new`, `setup` and `check-reference`: making a task and finding out whether its reference can be trusted."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.calls import ShellCalls
from harness.cli import completion
from harness.cli.frame import EXIT_ERROR, EXIT_FAIL, EXIT_OK, Output, command

if TYPE_CHECKING:
    from harness.support.progress import Progress
    from harness.task.contract import Task


@command(
    "new",
    "make a task from an environment",
    "lockstep new pole --gymnasium CartPole-v1",
    "lockstep new mine --factory my_package.envs:make",
    "lockstep new four --pettingzoo pettingzoo.classic.connect_four_v3",
    "lockstep new harbour --spec RULES.md",
    "lockstep new breakout --gymnasium MinAtar/Breakout-v1 --require minatar==1.0.15",
)
@click.argument("name")
@click.option("--gymnasium", metavar="ID", help="An environment that Gymnasium makes, such as CartPole-v1.")
@click.option("--factory", metavar="MODULE:FUNCTION", help="A function that returns a Gymnasium environment.")
@click.option("--pettingzoo", metavar="MODULE", help="An environment of PettingZoo's: MODULE, or MODULE:FUNCTION.")
@click.option("--openspiel", metavar="NAME", help="A game of OpenSpiel's for two or more players, as connect_four.")
@click.option("--command", "program", metavar="COMMAND", help="A program that speaks the protocol (docs/protocol.md).")
@click.option(
    "--adapter", metavar="FILE", help="An adapter written by hand: FILE.py, or FILE.py:CLASS (docs/protocol.md)."
)
@click.option(
    "--spec",
    "rules",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Rules in words, in Markdown: a task whose reference is yet to be written (docs/specification.md).",
)
@click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="MODULE",
    help="A module that registers the id, or MODULE:FUNCTION for a function that does; may be repeated.",
)
@click.option(
    "--require", "requirements", multiple=True, metavar="PIN", help="A pinned requirement of it; may be repeated."
)
@click.option("--directory", type=click.Path(path_type=Path), help="Where to make the task; default: ./NAME.")
@click.option(
    "--candidate", type=click.Choice(["jax", "rust"]), default="jax", show_default=True,
    help="What the candidate is to be written in.",
)  # fmt: skip
def new(
    output: Output,
    name: str,
    gymnasium: str | None,
    factory: str | None,
    pettingzoo: str | None,
    openspiel: str | None,
    program: str | None,
    adapter: str | None,
    rules: Path | None,
    imports: tuple[str, ...],
    requirements: tuple[str, ...],
    directory: Path | None,
    candidate: str,
) -> int:
    """Make a task from an environment: run it, find out what it offers, and write a complete task directory.

    With --spec there is no environment yet: the rules get numbers, and `lockstep spec` goes on from there.
    """
    from harness.authoring.scaffold import new as make
    from harness.task.load import load_task

    sources = (gymnasium, factory, pettingzoo, openspiel, program, adapter, rules)
    if sum(given is not None for given in sources) != 1:
        raise click.UsageError(
            "give one of --gymnasium, --factory, --pettingzoo, --openspiel, --adapter, --command and --spec"
        )
    if imports and gymnasium is None:
        raise click.UsageError("--import goes with --gymnasium")
    location = directory or Path(name)
    if rules is not None:
        return _from_rules(output, name, location, rules)
    output.kept = f"an unfinished {location} may be left; remove it and begin again"
    with output.progress() as progress:
        made = make(
            name,
            location,
            gymnasium=gymnasium,
            factory=factory,
            pettingzoo=pettingzoo,
            openspiel=openspiel,
            command=None if program is None else shlex.split(program),
            adapter=adapter,
            imports=imports,
            requirements=requirements,
            candidate=candidate,
            progress=lambda line: progress(line, 0, 1),
        )
        output.kept = f"the task in {made} is whole; what it requires is yours to add"
        task = load_task(made)
        tolerant, required, said = _first_entries(task, progress)
    output.emit(
        {"task": name, "directory": str(made), "tolerances": list(tolerant), "required": required},
        "\n".join([f"the task {name} is in {made}", *said]) + "\n\n"
        "Read task.toml and QUIRKS.md first: they say what could not be found out.\n"
        f"Then: {ShellCalls.check_reference(location)}\n      {ShellCalls.start(location)}",
    )
    return EXIT_OK


def _from_rules(output: Output, name: str, location: Path, rules: Path) -> int:
    from harness.cli.spec import statements
    from harness.operations import specification
    from harness.specification.begin import rules_in

    document = specification.begin(name, location, rules_in(rules), rules.name)
    output.emit(
        document,
        *statements(document["statements"]),
        "",
        f"the specification of {name} is in {document['directory']}: look through its statements\n"
        f"its record is the session {document['session']}\n"
        f"next: {ShellCalls.check_specification(location)}",
    )
    return EXIT_OK


def _first_entries(task: Task, progress: Progress) -> tuple[tuple[str, ...], int, list[str]]:
    """Find what bounds the state, what the reference's rounding forgives and what its explorations reach, and add it all to
    the task's file.

    Returns:
        The leaves that have a tolerance, the number of requirements, and what to say of it all.
    """
    from harness.errors import EnvironmentFailure
    from harness.reference.install import setup as build
    from harness.reference.start import start_references
    from harness.task.load import load_task
    from harness.verify.first_bounds import write_first_bounds
    from harness.verify.first_requirements import write_first_requirements
    from harness.verify.rounding.first_tolerances import write_first_tolerances

    tolerant: tuple[str, ...] = ()
    required, said = 0, []
    environment = build(task)
    try:
        with closing(start_references(task, environment)) as reference:
            bounded, unbounded = write_first_bounds(task, reference)
            task = load_task(task.directory)
            if bounded:
                said.append(f"bounds were written for {', '.join(bounded)}: what an observation shows, or counts steps")
            if unbounded:
                said.append(f"bounds were taken from {', '.join(unbounded)}: other leaves have to move with them")
            progress("measuring how far rounding carries a step", 0, 1)
            try:
                tolerant = write_first_tolerances(task, environment, reference)
            except EnvironmentFailure as failure:
                said.append(f"no tolerances were written, as the reference did not answer disturbed: {failure.what}")
            progress("exploring the reference for what can be required", 0, 1)
            required = len(write_first_requirements(task, reference))
        said.append(f"{required} requirements were written: what level 3 has to reach")
    except EnvironmentFailure as failure:
        said.append(f"no requirements were written, as the reference did not answer: {failure.what}")
    if tolerant:
        said.append(f"tolerances were written for {', '.join(tolerant)}: what rounding alone may change")
    return tolerant, required, said


@command("setup", "build the environment of a task's reference", "lockstep setup pong")
@click.argument("task", default=".", shell_complete=completion.tasks)
def setup(output: Output, task: str) -> int:
    """Build the environment of a task's reference, once; a second call finds it built."""
    from harness.reference.install import setup as build
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    found = load_task(find_task(task))
    output.kept = "an unfinished environment is built again by the next call"
    with output.progress() as progress:
        built = build(found, lambda line: progress(line, 0, 1))
    document = {"task": found.name, "prefix": str(built.prefix), "python": str(built.python)}
    output.emit(document, f"the reference of {found.name} is ready in {built.prefix}")
    return EXIT_OK


@command("check-reference", "find out what is wrong with a reference", "lockstep check-reference mine")
@click.argument("task", default=".", shell_complete=completion.tasks)
def check_reference(output: Output, task: str) -> int:
    """Find out what is wrong with a reference or its adapter before anything is compared with it."""
    from harness.authoring.conformance import check_reference as check
    from harness.cli import show
    from harness.reference.install import setup as build
    from harness.reference.start import start_reference
    from harness.support.embedded import find_task
    from harness.task.load import load_task
    from harness.verdict import Outcome

    found = load_task(find_task(task))
    with output.progress() as progress:
        built = build(found, lambda line: progress(line, 0, 1))
        results = check(lambda: start_reference(found, built), found, progress=progress)
    worst = Outcome.worst([result.outcome for result in results])
    failed = [
        result.name
        for result in results
        if result.outcome is not Outcome.PASS and result.outcome is not Outcome.SKIPPED
    ]
    said = show.said(f"the reference of {found.name} can be compared with", "green")
    if failed:
        said = show.said("mend the adapter first", "bold red", f": {len(failed)} of {len(results)} checks did not pass")
    document = {"task": found.name, "outcome": str(worst), "checks": [result.to_json() for result in results]}
    output.emit(document, show.checks(results), "", said)
    return {Outcome.PASS: EXIT_OK, Outcome.FAIL: EXIT_FAIL}.get(worst, EXIT_ERROR)
