"""Counts what occurs in the reference's answers that a candidate is compared with: the table of outcomes of a level.

Whatever is counted follows from what was compared, and not from the order or the portions in which it came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.model import ENDINGS, REWARD, Array, Leaf, Trajectory
from harness.occurrences import ENDS, MOST_ACTIONS, MOST_REWARDS, SIDES, Earned, Occurrences, RewardRange
from harness.task.contract import Task
from harness.task.require import Requirement, has_bound

SMALL = 1 << 10
"""A leaf of at most so many elements is looked at in all trajectories of a portion at once."""


class OccurrenceCount:
    """The table of outcomes of one task, as it grows.

    Args:
        task: whose leaves are counted; what it requires is counted however many other values there are.
    """

    def __init__(self, task: Task) -> None:
        self._trajectories = self._steps = self._longest = 0
        self._ends: Counter[str] = Counter()
        self._rewards = {path: _Rewards(leaf) for path, leaf in task.rewards.items()}
        self._results: Counter[tuple[str, ...]] | None = Counter() if task.players else None
        self._bounds = _bounds(task)
        self._taken = {
            path: np.zeros(int(leaf.high) - int(leaf.low) + 1, np.int64)
            for path, leaf in task.actions.items()
            if _has_few_values(leaf)
        }
        self._low = {path: int(task.leaves[path].low) for path in self._taken}
        self._required = {each: 0 for each in task.required if each.reward is not None or each.action is not None}

    def add(self, played: Sequence[Trajectory]) -> None:
        """Count trajectories of the reference."""
        if not played:
            return
        self._trajectories += len(played)
        self._steps += sum(trajectory.steps for trajectory in played)
        self._longest = max(self._longest, *(trajectory.steps for trajectory in played))
        for trajectory in played:
            ended = [bool(trajectory.steps and trajectory.leaves[path][-1]) for path in ENDINGS]
            if any(ended):
                self._ends[ENDS[2] if all(ended) else ENDS[ended.index(True)]] += 1
                self._add_result(trajectory)
        rewards = {path: np.concatenate([one.leaves[path][1:].reshape(-1) for one in played]) for path in self._rewards}
        for path, values in rewards.items():
            self._rewards[path].add(values)
        actions = {
            path: _actions(path, played)
            for path in {*self._taken, *(each.leaf for each in self._required if each.action is not None)}
            if path
        }
        for path, counts in self._taken.items():
            values = actions[path].astype(np.int64) - self._low[path]
            known = values[(values >= 0) & (values < len(counts))]
            self._taken[path] = counts + np.bincount(known, minlength=len(counts))
        for each in self._required:
            values = actions[str(each.leaf)] if each.reward is None else rewards[each.leaf or REWARD]
            wanted = each.reward if each.reward is not None else each.action
            self._required[each] += int(np.count_nonzero(values == values.dtype.type(wanted)))
        for bound in self._bounds:
            if not bound.count or bound.required:
                bound.look(played)

    def times(self, required: Requirement) -> int:
        """How often something that the task requires occurred; not for features, which are counted elsewhere."""
        if required.end is not None:
            return self._ends[required.end]
        if required.bound is not None:
            return next(
                each.count for each in self._bounds if (each.path, each.side) == (required.leaf, required.bound)
            )
        return self._required[required]

    def table(self) -> Occurrences | None:
        """All that was counted; None where nothing was."""
        if not self._trajectories:
            return None
        earned = {path: Earned(*rewards.counted()) for path, rewards in self._rewards.items()}
        alone = earned.pop(REWARD, Earned({}))
        results = self._results or {}
        unreached: dict[str, tuple[str, ...]] = {}
        for bound in self._bounds:
            if not bound.count:
                unreached[bound.path] = (*unreached.get(bound.path, ()), bound.side)
        return Occurrences(
            trajectories=self._trajectories,
            steps=self._steps,
            ends={kind: self._ends[kind] for kind in ENDS},
            rewards=alone.rewards,
            reward_range=alone.reward_range,
            unreached=unreached,
            untaken={
                path: tuple(int(value) + self._low[path] for value in np.flatnonzero(counts == 0))
                for path, counts in self._taken.items()
                if not counts.all()
            },
            longest=self._longest,
            players={path.removeprefix(f"{REWARD}/"): each for path, each in earned.items()},
            results={", ".join(result): results[result] for result in sorted(results, key=_in_order)} if earned else {},
        )

    def _add_result(self, ended: Trajectory) -> None:
        if self._results is not None:
            self._results[tuple(_text(ended.leaves[path][-1]) for path in self._rewards)] += 1
            if len(self._results) > MOST_REWARDS:
                self._results = None


class _Rewards:
    """Rewards by value, as long as there are few values; by range and sign in any case."""

    def __init__(self, leaf: Leaf) -> None:
        self._dtype = np.dtype(leaf.dtype)
        self._values: Counter[str] | None = Counter()
        self._extremes: tuple[Any, Any] | None = None
        self._signs = np.zeros(3, np.int64)

    def add(self, rewards: Array) -> None:
        known = rewards[~np.isnan(rewards)] if self._dtype.kind == "f" else rewards
        if len(known):
            seen = [known.min(), known.max(), *(self._extremes or ())]
            self._extremes = min(seen), max(seen)
        self._signs += [np.count_nonzero(known < 0), np.count_nonzero(known == 0), np.count_nonzero(known > 0)]
        if self._values is not None:
            for value, count in zip(*np.unique(rewards, return_counts=True), strict=True):
                self._values[_text(value)] += int(count)
            if len(self._values) > MOST_REWARDS:
                self._values = None

    def counted(self) -> tuple[dict[str, int], RewardRange | None]:
        """The rewards by value, and the range of many: the one or the other."""
        if self._values is not None:
            return {value: self._values[value] for value in sorted(self._values, key=_order)}, None
        assert self._extremes is not None  # there were many values
        smallest, largest = map(_text, self._extremes)
        negative, zero, positive = map(int, self._signs)
        return {}, RewardRange(smallest, largest, negative, zero, positive)


@dataclass
class _Bound:
    """A finite bound of a leaf: `limit` `[*leaf shape]`, which of its elements are `finite`, and in how many timesteps a
    value lay on it or beyond. Where nothing requires the number, the first portion that has one is the last looked at.
    """

    path: str
    side: str
    limit: Array
    finite: Array
    required: bool
    count: int = 0

    def look(self, played: Sequence[Trajectory]) -> None:
        arrays = [trajectory.leaves[self.path] for trajectory in played]
        for array in [np.concatenate(arrays)] if self.limit.size <= SMALL else arrays:
            on = array <= self.limit if self.side == SIDES[0] else array >= self.limit
            if not self.finite.all():
                on &= self.finite
            self.count += int(np.count_nonzero(on.reshape(len(array), -1).any(axis=1)))


def _bounds(task: Task) -> list[_Bound]:
    required = {(each.leaf, each.bound) for each in task.required}
    found = []
    for path, leaf in task.outputs.items():
        for side, bound in zip(SIDES, (leaf.low, leaf.high), strict=True):
            if has_bound(path, leaf, side):
                limit = np.broadcast_to(np.asarray(bound, leaf.dtype), leaf.shape)
                found.append(_Bound(path, side, limit, np.isfinite(limit), (path, side) in required))
    return found


def _has_few_values(leaf: Leaf) -> bool:
    whole = not leaf.shape and np.dtype(leaf.dtype).kind in "iu"
    return whole and int(leaf.high) - int(leaf.low) < MOST_ACTIONS


def _actions(path: str, played: Sequence[Trajectory]) -> Array:
    """The actions that were taken: none after an episode's end."""
    return np.concatenate([trajectory.case.actions[path][: trajectory.steps] for trajectory in played])


def _text(value: Any) -> str:
    """A number of a leaf as text, by its own type; there is one zero."""
    return str(value + value.dtype.type(0))


def _in_order(result: tuple[str, ...]) -> list[tuple[bool, float, str]]:
    return [_order(value) for value in result]


def _order(value: str) -> tuple[bool, float, str]:
    """Numbers as text by size, NaN last."""
    return value == "nan", float(value), value
