"""`lockstep prompt`: what an agent is given for one step of the recipe, filled from a session or a task."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import completion
from harness.cli.frame import EXIT_OK, Output, command


@command(
    "prompt",
    "what to tell an agent for a step of the recipe",
    "lockstep prompt translate --module dynamics",
    "lockstep prompt properties --task cartpole",
)
@click.argument("name", required=False)
@click.option("--session", "which", metavar="ID", help="The session it is for; default: the one that works here.")
@click.option(
    "--task",
    "directory",
    metavar="TASK",
    shell_complete=completion.tasks,
    help="A task alone, by its path or name, instead of a session.",
)
@click.option("--module", shell_complete=completion.modules, help="The module it is about; default: the recipe's next.")
@click.option("--event", type=click.IntRange(0), help="repair: the verdict to repair; default: the newest that failed.")
@click.option(
    "--measured",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="optimise_*: a file with what was measured.",
)
@click.option(
    "--specification",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="extract: a file with the rules; default: the locations that task.toml names.",
)
def prompt(
    output: Output,
    name: str | None,
    which: str | None,
    directory: str | None,
    module: str | None,
    event: int | None,
    measured: Path | None,
    specification: Path | None,
) -> int:
    """Print a prompt: translate, properties, interactions, repair, optimise_jax, optimise_rust or extract.

    Without a name it lists them.
    """
    from harness.session.prompts import render

    if which and directory:
        raise click.UsageError("give --session or --task, not both")
    if name is None:
        return _list(output)
    given = {"module": module, "event": None if event is None else str(event)}
    given |= {"measured": _text(measured), "specification": _text(specification)}
    arguments = {argument: value for argument, value in given.items() if value is not None}
    if directory:
        from harness.support.embedded import find_task
        from harness.task.load import load_task

        text = render(name, arguments=arguments, task=load_task(find_task(directory)))
    else:
        from harness.cli.locate import session_named

        text = render(name, session_named(which).id, arguments)
    output.emit({"prompt": name, "text": text}, text.rstrip())
    return EXIT_OK


def _list(output: Output) -> int:
    from harness.cli import show
    from harness.session.prompts import templates

    known = templates().values()
    rows = show.grid("left", "left")
    for template in known:
        rows.add_row(template.name, template.description)
    described = [
        {
            "name": template.name,
            "title": template.title,
            "description": template.description,
            "arguments": [{"name": each.name, "description": each.description} for each in template.arguments],
        }
        for template in known
    ]
    output.emit({"prompts": described}, rows)
    return EXIT_OK


def _text(path: Path | None) -> str | None:
    return None if path is None else path.read_text(encoding="utf-8", errors="replace")
