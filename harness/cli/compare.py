"""`lockstep compare`: one case or one episode on both sides."""

from __future__ import annotations

import itertools
import secrets
import tempfile
from pathlib import Path
from typing import Any

import click

from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.verify import sandbox_option, seed_option

MAX_SHOWN = 300
MAX_ROWS = 200


@command("compare", "play one case on both sides")
@click.argument("directory", default=".")
@click.option(
    "--case",
    "case_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Play the case in this file.",
)
@click.option("--policy", default="random", show_default=True, help="Or an episode under this policy.")
@click.option("--steps", type=click.IntRange(1), help="Its length at most; default: the task's horizon.")
@seed_option
@sandbox_option
def compare(
    output: Output,
    directory: str,
    case_file: Path | None,
    policy: str,
    steps: int | None,
    seed: int | None,
    sandbox: str | None,
) -> int:
    """Play one case or one episode on both sides, and show the first difference."""
    from rich.text import Text

    from harness import sidebyside
    from harness.cli import show
    from harness.cli.places import session_at
    from harness.data import find_task
    from harness.explain import case_facts, leaves_text
    from harness.taskfile import load_task
    from harness.verify import copy_candidate
    from sandboxes import choose

    here = session_at(Path(directory)) if Path(directory).is_dir() else None
    workspace = find_task(directory) if here is None else here.workspace
    task = load_task(workspace if here is None else here.trusted)
    what: Any = sidebyside.Episode(
        policy, secrets.randbits(31) if seed is None else seed, steps or task.budgets.horizon
    )
    if case_file is not None:
        what = sidebyside.read_case(case_file)
    with output.progress() as progress, tempfile.TemporaryDirectory(prefix="lockstep-tree-") as tree:
        copy_candidate(workspace, Path(tree))
        both = sidebyside.play(task, Path(tree), choose(sandbox), what, progress)
    played = {"inputs": leaves_text(both.inputs or {})} if both.case is None else dict(case_facts(both.case))
    document: dict[str, Any] = {"task": task.name, "played": played, "steps": both.steps, "difference": None}
    described = show.grid("left", "left")
    for name, value in played.items():
        described.add_row(name, Text(value[:MAX_SHOWN]))
    if both.difference is None:
        count = "in this probe's answer" if both.case is None else f"in {both.steps} steps"
        output.emit(document, described, f"\nno difference {count}")
        return EXIT_OK
    found = both.difference
    rows = list(itertools.islice(sidebyside.rows_around(both), MAX_ROWS))
    names = ("address", "before", "expected", "actual", "differs")
    document["difference"] = {
        "step": found.step,
        "path": found.path,
        "index": list(found.index),
        "expected": found.expected,
        "actual": found.actual,
        "rule": found.rule,
        "gap": found.gap,
        "table": [dict(zip(names, row, strict=True)) for row in rows],
    }
    output.emit(document, described, show.first_difference(both, rows))
    return EXIT_FAIL
