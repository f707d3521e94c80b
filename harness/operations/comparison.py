"""One case or one episode on both sides, reported in one document."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.grids import Grid
from harness.model import ENDINGS, REWARD, Array, Case, Leaves, is_reward
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.verify import side_by_side
from harness.verify.directory import copy_candidate
from harness.verify.explain import case_facts, leaves_text
from harness.verify.levels.known import ProbeCase
from harness.verify.pair import Pair
from harness.verify.side_by_side import Episode, SideBySide
from sandboxes import Driver
from sandboxes.removal import scratch_directory

MAX_ROWS = 40
MAX_GRIDS = 3
"""So many arrays are shown; the table names the others that differ."""
_COLUMNS = ("address", "before", "expected", "actual", "differs")


@dataclass(frozen=True)
class Compared:
    """What `compare` came to: `document` holds it all; `both`, `rows` and `grids` for whoever shows it in another form."""

    document: dict[str, Any]
    both: SideBySide
    rows: list[tuple[str, str, str, str, bool]]
    grids: Mapping[str, Grid] = field(default_factory=dict)


def compare(
    task: Task, workspace: Path, driver: Driver, what: Case | ProbeCase | Episode, progress: Progress = silent
) -> Compared:
    """Play one thing on the task's reference and on the candidate that lies in `workspace`.

    The document has `task`, `played` (facts as text), `steps`, and `difference`: None, or the first one with its `table`,
    and under `grids` the arrays that differ in the same timestep.

    Raises:
        TaskError, LockstepError, SandboxError: as `side_by_side.played`.
    """
    with compared(task, workspace, driver, what, progress) as (done, _):
        return done


@contextmanager
def compared(
    task: Task, workspace: Path, driver: Driver, what: Case | ProbeCase | Episode, progress: Progress = silent
) -> Iterator[tuple[Compared, Pair]]:
    """`compare`, with both sides still running."""
    with scratch_directory("lockstep-tree-") as tree:
        copy_candidate(workspace, tree)
        with side_by_side.played(task, tree, driver, what, progress) as (both, pair):
            yield _described(task, both), pair


def sides(both: SideBySide) -> dict[str, dict[str, Any]]:
    """How an episode went on each side.

    Each has `steps`, `return` (the sum of its rewards; None if that is not finite; of several players one for each, by
    name), and `ended`: how, or empty where its actions ran out.
    """
    return {name: _side(leaves) for name, leaves in (("reference", both.expected), ("candidate", both.actual))}


def _side(leaves: Leaves) -> dict[str, Any]:
    endings = [path for path in ENDINGS if np.any(leaves[path][-1])]
    paid = {path.removeprefix(f"{REWARD}/"): _total(array) for path, array in leaves.items() if is_reward(path)}
    return {
        "steps": len(leaves[ENDINGS[0]]) - 1,
        "return": paid.get(REWARD) if REWARD in leaves else paid,
        "ended": " and ".join(endings),
    }


def _total(rewards: Array) -> float | None:
    total = float(np.sum(rewards, dtype=np.float64))
    return total if math.isfinite(total) else None


def _described(task: Task, both: SideBySide) -> Compared:
    played = {"inputs": leaves_text(both.inputs or {})} if both.case is None else dict(case_facts(both.case))
    document: dict[str, Any] = {"task": task.name, "played": played, "steps": both.steps, "difference": None}
    found = both.difference
    if found is None:
        return Compared(document, both, [])
    rows = list(itertools.islice(side_by_side.values_around(both), MAX_ROWS))
    differing = side_by_side.grids_around(both)
    grids = dict(itertools.islice(differing.items(), MAX_GRIDS))
    document["difference"] = {
        "step": found.step,
        "path": found.path,
        "index": list(found.index),
        "expected": found.expected,
        "actual": found.actual,
        "rule": found.rule,
        "gap": found.gap,
        "table": [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
        "grids": {path: grid.to_json() for path, grid in grids.items()},
    }
    return Compared(document, both, rows, grids)
