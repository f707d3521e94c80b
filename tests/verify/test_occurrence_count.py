"""What is counted is what a hand counts in the trajectories, in whatever portions they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.model import Case, Leaf, Trajectory
from harness.occurrences import ENDS, Occurrences
from harness.task.contract import Candidate, Reference, Task
from harness.task.require import Requirement
from harness.verdict import Outcome
from harness.verify.levels import requirements
from harness.verify.occurrences import OccurrenceCount

LEAVES = {
    "observation": Leaf("observation", "float32", (2,), [-1.0, -np.inf], [1.5, np.inf]),
    "action": Leaf("action", "int32", (), -1, 2),
    "reward": Leaf("reward", "float32"),
    "terminated": Leaf("terminated", "bool"),
    "truncated": Leaf("truncated", "bool"),
    "state/n": Leaf("state/n", "uint8", (), 0, 200),
    "state/x": Leaf("state/x", "float64", (), None, 2.0),
    "state/free": Leaf("state/free", "float64"),
    "state/wide": Leaf("state/wide", "uint8", (40, 40), 0, 255),
}


def task(*required: Requirement) -> Task:
    """A task of these leaves, of which nothing runs."""
    return Task(
        "t", "", "translate", Path(), Reference(None), Candidate("jax", ""), leaves=LEAVES, modules=(), required=required
    )  # fmt: skip


def trajectory(rng: np.random.Generator, rewards: tuple[float, ...] = (-0.5, 0.0, 0.1)) -> Trajectory:
    """A trajectory of chance, up to 12 steps."""
    steps = int(rng.integers(0, 12))
    leaves = {
        "observation": rng.integers(-1, 2, (steps + 1, 2)).astype(np.float32) / 2,
        "reward": rng.choice(rewards, steps + 1).astype(np.float32),
        "terminated": np.arange(steps + 1) == (steps if rng.random() < 0.4 else -1),
        "truncated": np.arange(steps + 1) == (steps if rng.random() < 0.4 else -1),
        "state/n": rng.integers(0, 200, steps + 1).astype(np.uint8),
        "state/x": rng.uniform(-3, 2, steps + 1),
        "state/free": rng.uniform(-3, 2, steps + 1),
        "state/wide": rng.integers(1, 256, (steps + 1, 40, 40)).astype(np.uint8),
    }
    # There are more actions than steps: what comes after the end is never taken.
    actions = {"action": np.concatenate([rng.integers(-1, 2, steps), [2, 2]]).astype(np.int32)}
    return Trajectory(Case(0, actions), leaves)


def counted(task: Task, played: list[Trajectory], portion: int = 7) -> Occurrences:
    count = OccurrenceCount(task)
    for start in range(0, len(played), portion):
        count.add(played[start : start + portion])
    table = count.table()
    assert table is not None
    return table


@pytest.mark.parametrize("seed", range(5))
def test_the_table_is_what_a_hand_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    played = [trajectory(rng) for _ in range(60)]
    ends: Counter[str] = Counter()
    rewards: Counter[str] = Counter()
    taken: set[int] = set()
    on: set[tuple[str, str]] = set()
    for each in played:
        for step in range(1, each.timesteps):
            rewards[str(each.leaves["reward"][step])] += 1
            taken.add(int(each.case.actions["action"][step - 1]))
        if each.steps:
            last = (bool(each.leaves["terminated"][-1]), bool(each.leaves["truncated"][-1]))
            ends[{(True, True): "both", (True, False): "terminated", (False, True): "truncated"}.get(last, "")] += 1
        for step in range(each.timesteps):
            view = each.leaves["observation"][step]
            on |= {("observation", "low")} if view[0] <= -1 else set()
            on |= {("observation", "high")} if view[0] >= 1.5 else set()
            on |= {("state/n", "low")} if each.leaves["state/n"][step] == 0 else set()
            on |= {("state/n", "high")} if each.leaves["state/n"][step] >= 200 else set()
            on |= {("state/x", "high")} if each.leaves["state/x"][step] >= 2 else set()
            on |= {("state/wide", "low")} if (each.leaves["state/wide"][step] == 0).any() else set()
            on |= {("state/wide", "high")} if (each.leaves["state/wide"][step] == 255).any() else set()
    table = counted(task(), played)
    assert (table.trajectories, table.steps) == (60, sum(each.steps for each in played))
    assert table.ends == {kind: ends[kind] for kind in ("terminated", "truncated", "both")}
    assert min(table.ends.values()) > 0
    assert (table.rewards, table.reward_range) == (rewards, None)
    assert list(table.rewards) == ["-0.5", "0.0", "0.1"], "by size, as float32 writes them"
    assert table.untaken == {"action": (2,)} and taken == {-1, 0, 1}
    bounds = {(path, side) for path in ("observation", "state/n", "state/wide") for side in ("low", "high")}
    unreached = {(path, side) for path, sides in table.unreached.items() for side in sides}
    assert unreached == (bounds | {("state/x", "high")}) - on


def test_portions_and_order_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    many = tuple(float(value) for value in range(-20, 20))
    for rewards in ((-0.5, 0.0, float("nan")), many):
        played = [trajectory(rng, rewards) for _ in range(80)]
        whole = counted(task(), played, 80)
        assert counted(task(), played, 1) == whole == counted(task(), played[::-1], 13)


@pytest.mark.parametrize(
    ("ends", "never"),
    [
        ((3, 4, 0), ["end both"]),
        ((3, 4, 1), []),
        ((3, 0, 0), ["end truncated"]),
        ((0, 0, 0), ["end terminated", "end truncated"]),
    ],
)
def test_both_ends_at_once_are_missed_where_each_came_alone(ends: tuple[int, ...], never: list[str]) -> None:
    table = Occurrences(10, 100, dict(zip(ENDS, ends, strict=True)), {}, None)
    assert list(table.never) == never


def test_of_many_rewards_range_and_signs_are_told() -> None:
    rng = np.random.default_rng(4)
    played = [trajectory(rng, tuple(np.linspace(-2, 9, 99))) for _ in range(99)]
    all_rewards = np.concatenate([each.leaves["reward"][1:] for each in played])
    table = counted(task(), played)
    assert table.rewards == {} and table.reward_range is not None
    spread = table.reward_range
    assert (spread.smallest, spread.largest) == (str(all_rewards.min()), str(all_rewards.max()))
    assert (spread.negative, spread.positive) == (np.sum(all_rewards < 0), np.sum(all_rewards > 0))
    assert spread.negative + spread.zero + spread.positive == len(all_rewards)


def test_one_zero_is_as_good_as_the_other_and_what_is_no_number_reaches_no_bound() -> None:
    rng = np.random.default_rng(5)
    below, above = (trajectory(rng, (zero,)) for zero in (-0.0, 0.0))
    assert below.steps and above.steps
    nowhere = replace(below, leaves={**below.leaves, "state/x": np.full(below.timesteps, np.nan)})
    table = counted(task(), [nowhere, above], 1)
    assert table.rewards == {"0.0": below.steps + above.steps}
    assert "high" in table.unreached["state/x"]


def test_nothing_compared_is_no_table() -> None:
    count = OccurrenceCount(task())
    count.add([])
    assert count.table() is None


REQUIRED: Mapping[str, Requirement] = {
    "end": Requirement(end="both"),
    "reward": Requirement(reward=0.1),
    "action": Requirement(action=1, leaf="action"),
    "bound": Requirement(leaf="observation", bound="low"),
    "large bound": Requirement(leaf="state/wide", bound="high"),
    "feature": Requirement(feature="a draw"),
}


def by_hand(required: Requirement, played: list[Trajectory]) -> int:
    """How often a requirement is met, one step after the other."""
    times = 0
    for each in played:
        leaves = each.leaves
        steps = range(1, each.timesteps)
        if required.end is not None:
            times += bool(each.steps and leaves["terminated"][-1] and leaves["truncated"][-1])
        elif required.reward is not None:
            times += sum(leaves["reward"][step] == np.float32(0.1) for step in steps)
        elif required.action is not None:
            times += sum(each.case.actions["action"][step - 1] == 1 for step in steps)
        elif required.leaf == "observation":
            times += sum(leaves["observation"][step][0] <= -1 for step in range(each.timesteps))
        else:
            times += sum((leaves["state/wide"][step] == 255).any() for step in range(each.timesteps))
    return int(times)


@pytest.mark.parametrize("kind", REQUIRED)
def test_what_is_required_is_judged_by_how_often_it_occurred(kind: str) -> None:
    rng = np.random.default_rng(6)
    played = [trajectory(rng) for _ in range(60)]
    for each in played:
        each.leaves["observation"][:, 0] *= 2  # so that -1 comes
    required = REQUIRED[kind]
    times = 17 if kind == "feature" else by_hand(required, played)
    assert times > 2
    for asked, outcome in ((times, Outcome.PASS), (times + 1, Outcome.INCONCLUSIVE)):
        wanted = replace(required, times=asked)
        other = Requirement(end="terminated", level=2)
        made = task(wanted, other)
        count = OccurrenceCount(made)
        count.add(played[:40])
        count.add(played[40:])
        [check] = requirements.checks(made, 3, count, {"a draw": 17})
        assert (check.name, check.outcome) == ("requirements", outcome)
        assert f"{required} {times} of {asked} times" in check.detail
        assert ("missed: " in check.detail) == (outcome is Outcome.INCONCLUSIVE)
        assert list(requirements.checks(made, 1, count, {})) == []


def test_of_several_requirements_those_that_were_missed_are_named() -> None:
    made = task(
        Requirement(end="terminated"), Requirement(action=2, leaf="action", times=3), Requirement(feature="a draw")
    )
    count = OccurrenceCount(made)
    count.add([trajectory(np.random.default_rng(seed)) for seed in range(30)])
    [check] = requirements.checks(made, 3, count, {})
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "missed: action 2 0 of 3 times; feature a draw 0 of 1 times. No difference" in check.detail
