"""Invariants and features take the shortest episode, too: a reset that no step follows, as one restored at its end is."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.model import Case, Trajectory
from harness.task.load import load_task
from harness.task.suite import load_suite
from tests.paths import ENVIRONMENTS

TASKS = sorted(file.parent for file in ENVIRONMENTS.glob("*/properties.py"))


@pytest.mark.parametrize("directory", TASKS, ids=lambda path: path.name)
def test_an_episode_without_a_step(directory: Path) -> None:
    task = load_task(directory)
    suite = load_suite(task)
    assert suite.invariants or suite.features
    actions = {path: leaf.zeros(0) for path, leaf in task.actions.items()}
    leaves = {path: leaf.zeros(1) for path, leaf in task.leaves.items() if path not in actions}
    reset = Trajectory(Case(0, actions), leaves)
    for item in suite.invariants:
        item.violations(reset)  # zeros need not be a state that holds
    for item in suite.features:
        assert set(item.shown(reset)) <= {0}, item.name
