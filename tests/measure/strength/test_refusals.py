"""What cannot be measured, and says so before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import sandboxes
from harness.errors import TaskError
from harness.measure.strength.run import Settings, StrengthError, measure
from harness.task.contract import Task
from harness.task.load import load_task


@pytest.fixture
def task(holed_walk: Path) -> Task:
    return load_task(holed_walk)


def test_a_level_that_the_task_has_not_is_refused(task: Task, tmp_path: Path) -> None:
    with pytest.raises(StrengthError, match="no level 4"):
        measure(task, task.directory, sandboxes.choose(None), Settings(level=4), journals=tmp_path)


def test_of_a_candidate_in_jax_nobody_counts_what_it_runs(task: Task, tmp_path: Path) -> None:
    with pytest.raises(StrengthError, match="a candidate in Rust and levels 1 to 3 for --by-coverage"):
        measure(task, task.directory, sandboxes.choose(None), Settings(by_coverage=True), journals=tmp_path)


def test_an_unknown_mutant_is_named(task: Task, tmp_path: Path) -> None:
    with pytest.raises(StrengthError, match="no mutant 0123"):
        measure(task, task.directory, sandboxes.choose(None), Settings(only=("0123",)), journals=tmp_path)


def test_an_explanation_that_fits_nothing_stops_a_measurement_of_the_tasks_own_candidate(
    task: Task, tmp_path: Path
) -> None:
    entry = {"file": "env.py", "function": "gone", "operator": "constant", "before": "1", "after": "2"}
    lines = [f"{name} = {value!r}" for name, value in {**entry, "verdict": "missed", "because": "x"}.items()]
    survivors = task.directory / "survivors.toml"
    digest = task.digest
    survivors.write_text("\n".join(["[[survivor]]", *lines]))
    try:
        assert load_task(task.directory).digest == digest, "explanations change no verdict"
        with pytest.raises(TaskError, match="gone, constant: 1 -> 2"):
            measure(task, task.directory, sandboxes.choose(None), journals=tmp_path)
    finally:
        survivors.unlink()
