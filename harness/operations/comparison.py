"""One case or one episode on both sides, told in one document."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import sidebyside
from harness.explain import case_facts, leaves_text
from harness.levels.known import ProbeCase
from harness.model import Case
from harness.session import Progress
from harness.sidebyside import Episode, SideBySide
from harness.task import Task
from harness.verify import copy_candidate, silent
from sandboxes import Driver

MAX_ROWS = 200
_COLUMNS = ("address", "before", "expected", "actual", "differs")


@dataclass(frozen=True)
class Compared:
    """What `compare` came to: `document` holds it all; `both` and `rows` for whoever shows it in another form."""

    document: dict[str, Any]
    both: SideBySide
    rows: list[tuple[str, str, str, str, bool]]


def compare(
    task: Task, workspace: Path, driver: Driver, what: Case | ProbeCase | Episode, progress: Progress = silent
) -> Compared:
    """Play one thing on the task's reference and on the candidate that lies in `workspace`.

    The document has `task`, `played` (facts as text), `steps`, and `difference`: None, or the first one with its `table`.

    Raises:
        TaskError, LockstepError, SandboxError: as `sidebyside.play`.
    """
    with tempfile.TemporaryDirectory(prefix="lockstep-tree-") as tree:
        copy_candidate(workspace, Path(tree))
        both = sidebyside.play(task, Path(tree), driver, what, progress)
    played = {"inputs": leaves_text(both.inputs or {})} if both.case is None else dict(case_facts(both.case))
    document: dict[str, Any] = {"task": task.name, "played": played, "steps": both.steps, "difference": None}
    found = both.difference
    if found is None:
        return Compared(document, both, [])
    rows = list(itertools.islice(sidebyside.rows_around(both), MAX_ROWS))
    document["difference"] = {
        "step": found.step,
        "path": found.path,
        "index": list(found.index),
        "expected": found.expected,
        "actual": found.actual,
        "rule": found.rule,
        "gap": found.gap,
        "table": [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
    }
    return Compared(document, both, rows)
