"""What level 4 compares: groups of policies, what they earned in both backends, and how far apart that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.stats

from harness.model import REWARD, Array, Trajectory, is_observed
from harness.training.opponents import Table
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
    results: dict[str, list[Array]] = field(default_factory=lambda: {CANDIDATE: [], REFERENCE: []})
    """Of several players how each episode ended for the policy; see `Table.results`."""
    same: bool = True
    """Whether every episode so far was the same in both backends, step by step."""

    def keep(self, backend: str, played: Sequence[Trajectory], table: Table | None, *, whole: bool) -> None:
        """Keep what is needed of the next policy's episodes: returns and a sample of what was visited, or all of them."""
        if table is None:
            self.returns[backend].append(np.array([one.leaves[REWARD].sum(dtype=np.float64) for one in played]))
        else:
            self.returns[backend].append(table.returns(played))
            self.results[backend].append(table.results(played))
        self.visited[backend].append(_visited(played))
        if whole:
            self.outcomes[backend] += played

    def means(self, backend: str, seat: int | None = None, seats: int = 1) -> Array:
        """The mean return of each policy in a backend, `[policies]`; of the episodes at one of so many seats, if asked."""
        taken = slice(None) if seat is None else slice(seat, None, seats)
        return np.array([returns[taken].mean() for returns in self.returns[backend]])


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


def described_results(groups: Sequence[Group], table: Table) -> Iterator[dict[str, Any]]:
    """How often policies won, drew and lost in each backend, by seat and opponent, with 95% intervals of these shares."""
    for group in groups:
        for backend, by_policy in group.results.items() if group.trained else ():
            where = {"trained_in": group.backend, "steps": group.steps, "played_in": backend}
            yield from (where | each for each in results_by_place(table, by_policy))


def results_by_place(table: Table, by_policy: Sequence[Array]) -> Iterator[dict[str, Any]]:
    """Shares of wins, draws and losses for each player and opponent, over the results of all policies (`Table.results`)."""
    for place, (player, opponent) in enumerate(table.places()):
        ended = np.concatenate([results[place :: len(table.places())] for results in by_policy])
        yield {"player": player, "opponent": opponent, **shares_of(ended)}


def shares_of(ended: Array) -> dict[str, Any]:
    """Shares of wins (1), draws (0) and losses (-1), each with its exact 95% interval (Clopper and Pearson, 1934)."""
    described: dict[str, Any] = {"episodes": len(ended)}
    for name, result in (("won", 1), ("drawn", 0), ("lost", -1)):
        times = int((ended == result).sum())
        interval = scipy.stats.binomtest(times, len(ended)).proportion_ci()
        described[name] = {"share": times / len(ended), "interval_95": [float(interval.low), float(interval.high)]}
    return described


def _visited(played: Sequence[Trajectory]) -> Array:
    """What episodes showed, every so many timesteps, as columns `[elements, timesteps]`."""
    paths = [path for path in played[0].leaves if is_observed(path)]
    columns = [
        np.concatenate([one.leaves[path].reshape(one.timesteps, -1) for one in played]) for path in sorted(paths)
    ]
    timesteps = np.concatenate(columns, axis=1).astype(np.float64)
    return timesteps[np.linspace(0, len(timesteps) - 1, min(len(timesteps), VISITED_TIMESTEPS)).astype(int)].T


def distance(first: Sequence[Array], second: Sequence[Array]) -> float:
    """How far apart two sets of visited states lie: the largest Kolmogorov-Smirnov distance of an observation's elements."""
    one, other = (np.concatenate(list(side), axis=1) for side in (first, second))
    return float(hypotheses.ks_two_samples(one, other).distance.max())
