"""The first requirements of a new task: what short explorations of its reference reached again and again.

Nobody but a task's author knows what is rare in it and matters. What exploration reaches without effort is a floor: a run
that does not come so far has hardly compared anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from harness.model import REWARD
from harness.occurrences import ENDS, Occurrences
from harness.protocol.environment import Pool
from harness.support.files import write_durably
from harness.task.contract import TASK_FILE, Mode, Task
from harness.task.require import Requirement
from harness.verify.exploration.explorer import Explorer
from harness.verify.levels.rollout import EXPLORED_SHARE
from harness.verify.occurrences import OccurrenceCount

RUNS = 3
"""What one exploration found by chance, another would miss."""
SHARE = 4
"""Each plays one part in so many of level 3's episodes, and explores at most as much as level 3 does for so few."""
FEWEST_EPISODES = 4
MARGIN = 10
"""All of them reached it so many times as often as it is required, in a small part of what level 3 does."""
MOST_TIMES = 20
MOST_REWARDS = 8
"""Where there are more rewards none of them is required."""
HEAD = """
# What level 3 must have reached: otherwise it is INCONCLUSIVE, however equal all was. Short explorations reached each of
# these at least {margin} times as often. Require more of what is rare and matters: features, bounds, rewards (docs/task.md).
"""


def write_first_requirements(task: Task, reference: Pool) -> tuple[Requirement, ...]:
    """Explore a reference, and add what was reached comfortably to the task's file; returns it.

    Raises:
        EnvironmentFailure: the reference could not answer; nothing was written.
    """
    found = first_requirements(task, [explored(task, reference, run) for run in range(RUNS)])
    if found:
        file = task.directory / TASK_FILE
        added = HEAD.format(margin=MARGIN) + "\n".join(map(_toml, found))
        write_durably(file, (file.read_text(encoding="utf-8") + added).encode())
    return found


def explored(task: Task, reference: Pool, run: int) -> Occurrences:
    """What occurs in some episodes and an exploration of the reference, as level 3 has them; `run` is the seed."""
    rng, counted = np.random.default_rng(run), OccurrenceCount(task)
    budgets, paired = task.budgets, task.mode is not Mode.LAW
    explorer = Explorer(task, reference, rng, restores="restore" in reference.spec.capabilities)
    policies = budgets.policies if paired else ("random",)
    for policy in policies:
        episodes = -(-max(FEWEST_EPISODES, budgets.episodes // SHARE) // len(policies))
        seeds = [int(seed) for seed in rng.integers(0, 1 << 31, episodes)]
        played = reference.drive(policy, seeds, budgets.horizon)
        counted.add(played)
        explorer.observe(played)
    for wave in explorer.waves(explorer.steps // EXPLORED_SHARE) if paired else ():
        counted.add(wave.played)
    table = counted.table()
    assert table is not None  # episodes were played
    return table


def first_requirements(task: Task, tables: Sequence[Occurrences]) -> tuple[Requirement, ...]:
    """What all of these explorations reached often enough to be required."""
    ends = [(kind, min(table.ends[kind] for table in tables)) for kind in ENDS]
    required = [Requirement(end=kind, times=_times(count)) for kind, count in ends if count >= MARGIN]
    for path in task.rewards:
        required += _of_rewards(task, path, [_earned(table, path) for table in tables])
    return tuple(required)


def _earned(table: Occurrences, path: str) -> Mapping[str, int]:
    return table.rewards if path == REWARD else table.players[path.removeprefix(f"{REWARD}/")].rewards


def _of_rewards(task: Task, path: str, tables: Sequence[Mapping[str, int]]) -> Iterator[Requirement]:
    leaf = None if path == REWARD else path
    for value in tables[0] if all(len(table) <= MOST_REWARDS for table in tables) else ():
        count = min(table.get(value, 0) for table in tables)
        if count >= MARGIN and _may_be_required(task, path, float(value)):
            yield Requirement(reward=float(value), leaf=leaf, times=_times(count))


def _times(count: int) -> int:
    return min(MOST_TIMES, count // MARGIN)


def _may_be_required(task: Task, path: str, reward: float) -> bool:
    """Whether a reward lies within the bounds that the reference states, which it need not keep to."""
    leaf = task.leaves[path]
    low, high = leaf.low is None or np.all(reward >= leaf.low), leaf.high is None or np.all(reward <= leaf.high)
    return math.isfinite(reward) and bool(low and high)


def _toml(required: Requirement) -> str:
    what = f'end = "{required.end}"' if required.end is not None else f"reward = {required.reward!r}"
    what += "" if required.leaf is None else f'\nleaf = "{required.leaf}"'
    return f"[[require]]\n{what}\ntimes = {required.times}\n"
