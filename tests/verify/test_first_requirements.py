"""The first requirements of a new task: what explorations reached comfortably, written so that it is read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.model import Leaf
from harness.occurrences import ENDS, Occurrences, RewardRange
from harness.protocol.environment import Pool
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.task.contract import Mode, Task
from harness.task.load import load_task
from harness.task.require import Requirement
from harness.verify.first_requirements import MARGIN, MOST_TIMES, explored, first_requirements, write_first_requirements
from tests.paths import WALK
from tests.verify.levels.conftest import Walk


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[tuple[Task, Pool]]:
    """The walk, as quick as most environments, and a worker of its reference."""
    made = Walk(tmp_path / "walk")
    made.edit("task.toml", [("episodes = 24", "episodes = 512")])
    task = load_task(made.directory)
    with closing(start_references(task, setup(task))) as reference:
        yield task, reference


def table(ends: int, rewards: Mapping[str, int] | None = None, spread: RewardRange | None = None) -> Occurrences:
    """What one exploration came to, with so many ends of each kind but the last."""
    return Occurrences(100, 1000, {**dict.fromkeys(ENDS, ends), "both": 0}, rewards or {}, spread)


def test_what_each_exploration_reached_ten_times_as_often_is_required() -> None:
    task = load_task(WALK)
    few, many = {"-1.0": 9, "0.5": 10, "1.0": 700}, {"-1.0": 900, "0.5": 100, "1.0": 500, "2.0": 90}
    assert first_requirements(task, [table(35, few), table(70, many)]) == (
        Requirement(end="terminated", times=3),
        Requirement(end="truncated", times=3),
        Requirement(reward=0.5, times=1),
        Requirement(reward=1.0, times=MOST_TIMES),
    )
    assert first_requirements(task, [table(MARGIN - 1)]) == ()


def test_rewards_are_required_where_they_are_few_numbers_within_their_bounds() -> None:
    task = load_task(WALK)
    spread = RewardRange("0.0", "9.0", 0, 1, 999)
    assert first_requirements(task, [table(0, {"1.0": 99}), table(0, spread=spread)]) == ()
    assert first_requirements(task, [table(0, {str(value): 99 for value in range(9)})]) == ()
    bounded = replace(task, leaves=task.leaves | {"reward": Leaf("reward", "float32", (), 0.0, 1.0)})
    rewards = {"-1.0": 99, "1.0": 99, "inf": 99, "nan": 99}
    assert first_requirements(bounded, [table(0, rewards)]) == (Requirement(reward=1.0, times=9),)


def test_what_is_written_is_read_again_and_reached_by_other_explorations(walk: tuple[Task, Pool]) -> None:
    task, reference = walk
    before = (task.directory / "task.toml").read_text()
    found = write_first_requirements(task, reference)
    assert {each.end for each in found} >= {"terminated", "truncated"}, "and its rewards are many"
    again = load_task(task.directory)
    assert again.required == found and (task.directory / "task.toml").read_text().startswith(before)
    for seed in (101, 102):
        ends = explored(task, reference, seed).ends
        assert all(ends[str(each.end)] > 2 * each.times for each in found)


def test_where_only_laws_are_compared_nothing_is_explored(walk: tuple[Task, Pool]) -> None:
    task, reference = walk
    counted = explored(replace(task, mode=Mode.LAW), reference, 1)
    assert counted.trajectories == 512 // 4
    assert explored(task, reference, 1).trajectories > counted.trajectories + 32
