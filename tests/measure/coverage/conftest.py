"""The walk of tests/verify/levels with places that count, and a branch that only a walk to the far left comes to."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.questions import Questions
from tests.edits import edit
from tests.paths import WALK

BEFORE = "    def step(self, action, draws=None):\n        before = self._place\n"
PLANTED = BEFORE + "        if self._place < -3.5:\n            self._far = True\n            self._tired = True\n"
Edit = tuple[str, str, str]


def make_task(directory: Path, *edits: Edit, source: str = '["reference/adapter.py"]') -> Task:
    """The walk with its modules' `source`, the planted branch, and edits: file, text that stands there once, what for it."""
    shutil.copytree(WALK, directory, ignore=shutil.ignore_patterns("__pycache__"))
    toml = 'leaves = ["state/place", "state/steps", "observation", "reward"]\n'
    ours: list[Edit] = [("reference/adapter.py", BEFORE, PLANTED)]
    if source:
        ours.append(("task.toml", toml, f"{toml}source = {source}\n"))
    for file, old, new in [*ours, *edits]:
        edit(directory / file, old, new)
    return load_task(directory)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Task]:
    def made(*edits: Edit, source: str = '["reference/adapter.py"]') -> Task:
        return make_task(tmp_path / "walk", *edits, source=source)

    return made


def walks(*walked: Sequence[int]) -> Questions:
    """The questions of a level that played these actions, each from a reset."""
    questions = Questions()
    for actions in walked:
        case = {"seed": 1, "actions": {"action": np.array(actions, np.int32)}}
        questions.add("worker", "rollout", {"cases": [case]})
    return questions


def line(task: Task, text: str) -> int:
    """The number of the one line of the reference that holds this text."""
    lines = (task.directory / "reference" / "adapter.py").read_text().splitlines()
    [found] = [number for number, each in enumerate(lines, 1) if text in each]
    return found
