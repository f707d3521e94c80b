"""What level 4 compares: groups of policies, what they earned in both backends, and how far apart that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.model import Array, Trajectory
from harness.training.trained import Trained
from harness.verify.levels.transfer_policies import CANDIDATE, REFERENCE
from harness.verify.statistics import equivalence, hypotheses
from harness.verify.statistics.equivalence import Decision, Interval

VISITED_TIMESTEPS = 200
"""So many timesteps of a policy's episodes stand for the states that it visits."""


@dataclass
class Group:
    """Policies trained in one backend with one budget, and what they did in both; lists go by policy."""

    backend: str
    steps: int
    trained: list[Trained] = field(default_factory=list)
    returns: dict[str, list[Array]] = field(default_factory=lambda: {CANDIDATE: [], REFERENCE: []})
    visited: dict[str, list[Array]] = field(default_factory=lambda: {CANDIDATE: [], REFERENCE: []})
    outcomes: dict[str, list[Trajectory]] = field(default_factory=lambda: {CANDIDATE: [], REFERENCE: []})
    same: bool = True
    """Whether every episode so far was the same in both backends, step by step."""

    def keep(self, backend: str, played: Sequence[Trajectory], *, whole: bool) -> None:
        """Keep what is needed of the next policy's episodes: returns and a sample of what was visited, or all of them."""
        self.returns[backend].append(np.array([one.leaves["reward"].sum(dtype=np.float64) for one in played]))
        self.visited[backend].append(_visited(played))
        if whole:
            self.outcomes[backend] += played

    def means(self, backend: str) -> Array:
        """The mean return of each policy in a backend, `[policies]`."""
        return np.array([returns.mean() for returns in self.returns[backend]])


@dataclass(frozen=True)
class Comparison:
    """Two sets of mean returns, in pairs, and what is said of them; `first` less `second` is compared with the margin.

    Attributes:
        name: of the comparison; `by`, what the sides of a pair differ in: where they were `played`, or `trained`.
        first, second: mean returns `[policies]`, in the candidate and in the reference.
        identical: whether the episodes are the same on both sides.
        visited: how far apart the visited states lie (`distance`).
        alike: how many pairs of trainings ended with the same policy, bit by bit.
    """

    name: str
    by: str
    first: Array
    second: Array
    identical: bool
    visited: float
    alike: int

    def interval(self, margin: float, level: float) -> Interval:
        """The interval of the difference; of length 0 where the episodes themselves are the same."""
        if self.identical:
            nothing = np.zeros(())
            return Interval(nothing, nothing, nothing)
        return equivalence.of_pairs(self.first - self.second, margin, level)

    def described(
        self, interval: Interval, decision: Decision, margin: float, rng: np.random.Generator
    ) -> dict[str, Any]:
        """A JSON-ready description, with figures that decide nothing beside those that do."""
        needed = None
        if decision is Decision.UNDECIDED:
            needed = equivalence.seeds_to_decide(interval, len(self.first), margin)
        differences = self.first - self.second
        return {
            "name": self.name,
            "decision": str(decision),
            "identical": self.identical,
            "trainings": len(self.first),
            "means": [float(self.first.mean()), float(self.second.mean())],
            "difference": float(interval.difference),
            "interval": [float(interval.low), float(interval.high)],
            "bootstrap_95": list(equivalence.bootstrap_of_pairs(differences, rng)),
            "bootstrap_middle_half_95": list(equivalence.bootstrap_of_pairs(differences, rng, middle=True)),
            "effect_size": equivalence.effect_size(self.first, self.second),
            "probability_of_improvement": equivalence.probability_of_improvement(self.first, self.second),
            "visited_distance": self.visited,
            "same_policies": self.alike,
            "trainings_to_decide": needed,
        }


def described_policies(group: Group) -> Iterator[dict[str, Any]]:
    """A JSON-ready line for each policy: where, for how long and from which seed it was trained, and what it earned."""
    for number, policy in enumerate(group.trained):
        played = {side: returns[number] for side, returns in group.returns.items() if number < len(returns)}
        yield {
            "trained_in": group.backend,
            "seed": policy.seed,
            "steps": policy.steps,
            "digest": policy.digest,
            "returns": {side: float(returns.mean()) for side, returns in played.items()},
        }


def _visited(played: Sequence[Trajectory]) -> Array:
    """What episodes showed, every so many timesteps, as columns `[elements, timesteps]`."""
    paths = [path for path in played[0].leaves if path.split("/", 1)[0] == "observation"]
    columns = [
        np.concatenate([one.leaves[path].reshape(one.timesteps, -1) for one in played]) for path in sorted(paths)
    ]
    timesteps = np.concatenate(columns, axis=1).astype(np.float64)
    return timesteps[np.linspace(0, len(timesteps) - 1, min(len(timesteps), VISITED_TIMESTEPS)).astype(int)].T


def distance(first: Sequence[Array], second: Sequence[Array]) -> float:
    """How far apart two sets of visited states lie: the largest Kolmogorov-Smirnov distance of an observation's elements."""
    one, other = (np.concatenate(list(side), axis=1) for side in (first, second))
    return float(hypotheses.ks_two_samples(one, other).distance.max())
