"""`lockstep new`, `setup` and `check-reference`: making a task and finding out whether its reference can be trusted."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path

import click

from harness.calls import ShellCalls
from harness.cli import completion
from harness.cli.frame import EXIT_ERROR, EXIT_FAIL, EXIT_OK, Output, command


@command(
    "new",
    "make a task from an environment",
    "lockstep new pole --gymnasium CartPole-v1",
    "lockstep new mine --factory my_package.envs:make",
)
@click.argument("name")
@click.option("--gymnasium", metavar="ID", help="An environment that Gymnasium makes, such as CartPole-v1.")
@click.option("--factory", metavar="MODULE:FUNCTION", help="A function that returns a Gymnasium environment.")
@click.option("--command", "program", metavar="COMMAND", help="A program that speaks the protocol (docs/protocol.md).")
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
    program: str | None,
    requirements: tuple[str, ...],
    directory: Path | None,
    candidate: str,
) -> int:
    """Make a task from an environment: run it, find out what it offers, and write a complete task directory."""
    from harness.authoring.scaffold import new as make
    from harness.errors import EnvironmentFailure
    from harness.reference.install import setup as build
    from harness.reference.start import start_references
    from harness.task.load import load_task
    from harness.verify.first_requirements import write_first_requirements

    if sum(given is not None for given in (gymnasium, factory, program)) != 1:
        raise click.UsageError("give one of --gymnasium, --factory and --command")
    location = directory or Path(name)
    output.kept = f"an unfinished {location} may be left; remove it and begin again"
    with output.progress() as progress:
        made = make(
            name,
            location,
            gymnasium=gymnasium,
            factory=factory,
            command=None if program is None else shlex.split(program),
            requirements=requirements,
            candidate=candidate,
            progress=lambda line: progress(line, 0, 1),
        )
        output.kept = f"the task in {made} is whole; what it requires is yours to add"
        task = load_task(made)
        progress("exploring the reference for what can be required", 0, 1)
        try:
            with closing(start_references(task, build(task))) as reference:
                required = len(write_first_requirements(task, reference))
            said = f"{required} requirements were written: what level 3 has to reach"
        except EnvironmentFailure as failure:
            required, said = 0, f"no requirements were written, as the reference did not answer: {failure.what}"
    output.emit(
        {"task": name, "directory": str(made), "required": required},
        f"the task {name} is in {made}\n{said}\n\n"
        "Read task.toml and QUIRKS.md first: they say what could not be found out.\n"
        f"Then: {ShellCalls.check_reference(location)}\n      {ShellCalls.start(location)}",
    )
    return EXIT_OK


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
        progress("asking the reference", 0, 1)
        results = check(lambda: start_reference(found, built), found)
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
