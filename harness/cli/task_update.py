"""`lockstep task update`: a person brings a changed task into a session that goes on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_OK, Output, command


@click.group("task", short_help="bring a changed task into a session; what passed is judged anew")
def task() -> None:
    """The task of a session: a person may change it while the session goes on."""


@command(
    "update",
    "bring a changed task into a session; what passed is judged anew",
    "lockstep task update ./pole --reason 'the angle needs a tolerance'",
)
@click.argument("changed", metavar="TASK", shell_complete=completion.tasks)
@click.option("--session", shell_complete=completion.sessions, help="Default: the session of the current directory.")
@click.option("--reason", required=True, help="Why the task changes; recorded.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def update(output: Output, changed: str, session: str | None, reason: str, yes: bool) -> int:
    """Bring a changed task (its name or its directory) into a session: a person's decision.

    The changes are shown first. The record keeps both tasks, and nothing that passed counts until it passes again by the
    changed one. Files of the candidate that nobody has written yet are made anew. Where the session has an SSH key
    (`lockstep start --ssh-key`), that key signs the change.
    """
    from harness.cli import show
    from harness.cli.locate import opened, session_named
    from harness.operations import task_update
    from harness.support.embedded import find_task

    directory = find_task(changed)
    with opened(session_named(session).id) as held:
        shown = task_update.show(held, directory)
        output.show(*_lines(shown))
        if not yes:
            if output.json or not sys.stdin.isatty():
                raise click.UsageError("nothing was changed: give --yes to change the task without being asked")
            click.confirm("Change the task of this session?", abort=True, err=True)
        document = task_update.update(held, directory, reason, shown["after"])
    output.emit(shown | document, show.status(document), "next: `lockstep verify`, or let the agent go on")
    return EXIT_OK


def _lines(shown: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for change in shown["changes"]:
        lines += change["diff"] or [f"{change['kind']} {change['path']}"]
    lines += ["", f"task    {shown['before'][:16]} to {shown['after'][:16]}"]
    steps = [f"level {step['level']}" + (f" of {step['module']}" if step["module"] else "") for step in shown["passed"]]
    lines += [f"passed  {', '.join(steps)}: to be judged anew"] if steps else []
    lines += (
        [f"cases   dropped, since leaves or draws changed: {', '.join(shown['dropped'])}"] if shown["dropped"] else []
    )
    lines += [f"stubs   made anew: {', '.join(shown['stubs'])}"] if shown["stubs"] else []
    return [*lines, ""]


task.add_command(update)
