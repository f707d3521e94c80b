"""`lockstep verify --all`: many tasks, each with each of its candidates."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.frame import Output, exit_code

if TYPE_CHECKING:
    from harness.farm.engine import Engine
    from harness.session.request import VerificationRequest


def run(
    output: Output,
    directory: str | None,
    request: VerificationRequest,
    candidate: str | None,
    sandbox: str | None,
    engine: Engine | None,
) -> int:
    """Verify every task in a folder, or those that come with Lockstep."""
    from rich.text import Text

    from harness.cli import show
    from harness.operations.verify_all import tasks_in, verify_all
    from harness.verdict import Outcome

    if request.module is not None or request.message:
        raise click.UsageError("--all takes no --module and no --message: it records nothing")
    tasks = tasks_in(None if directory is None else Path(directory), candidate)
    seed = secrets.randbits(63) if request.seed is None else request.seed
    output.kept = "nothing is recorded outside a session"
    with output.progress() as progress:
        found, nodes = verify_all(tasks, request.level, seed, sandbox, progress, engine)
    worst = Outcome.worst([each.outcome for each in found])
    table = show.grid("left", "left", "left", "right", "left", header=("task", "candidate", "", "", ""))
    for each in found:
        seconds = "" if each.verdict is None else f"{each.verdict.duration_s:.0f} s"
        first = each.error or (each.verdict.reason if each.verdict is not None else "")
        if each.verdict is not None and each.verdict.divergences:
            first = str(each.verdict.divergences[0])
        said = show.outcome_text(str(each.outcome))
        table.add_row(each.task, each.candidate, said, seconds, Text(first.split("\n", 1)[0]))
    document = {
        "outcome": str(worst), "recorded": False, "seed": seed, "nodes": nodes,
        "verdicts": [each.to_json() for each in found],
    }  # fmt: skip
    output.emit(document, table, "", f"seed {seed}; nothing was recorded")
    return exit_code(worst)
