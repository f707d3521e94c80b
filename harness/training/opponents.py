"""Fixed opponents: whom a policy meets when it is judged, the same in every backend.

A policy takes one seat, its opponent all others. Both get their chance from the episode's seed, so two environments show
the same game as long as they answer alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from harness.candidate.adapters.jax.batch import key_data_of
from harness.candidate.faces.seats import TO_MOVE
from harness.model import Array, Leaves, Trajectory
from harness.training.host import narrowed, rows_where
from harness.training.policy import Policy
from harness.training.ppo import Ppo, step_noise

RANDOM = "random"
Playing = Callable[[Leaves, int, Array], Leaves]
"""What an opponent does in episodes that were begun: from leaves, the number of the step, and in which of them it is to
choose, to actions; what these say of the others is not taken.
"""
Choose = Callable[[str, Leaves, Sequence[int]], Leaves]
"""Asks a reference what one of its policies chooses: from its name, leaves, and a seed for each row, to actions."""
ROUNDED = 1e-5
_OPPONENT = 3  # what of a seed's key is an opponent's chance


class Opponent(ABC):
    """Whom a policy meets.

    Args:
        name: how to call it.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def play(self, seeds: Sequence[int]) -> Playing:
        """Begin one episode for each seed."""


class AtRandom(Opponent):
    """Legal actions, each as probable as the others."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(RANDOM)
        self._policy = policy

    def play(self, seeds: Sequence[int]) -> Playing:
        key_data = np.stack([key_data_of(seed) for seed in seeds])

        def playing(leaves: Leaves, step: int, _: Array) -> Leaves:
            seen = _narrow(self._policy, leaves)
            return jax.device_get(_at_random(self._policy, seen, key_data, np.int32(step)))

        return playing


class Checkpoint(Opponent):
    """A policy that was trained before.

    Args:
        name: how to call it.
        policy, learner: the policy, and leaves for it (`Trained.learner`).

    Raises:
        ValueError: the learner is not one of this policy.
    """

    def __init__(self, name: str, policy: Policy, learner: Leaves) -> None:
        super().__init__(name)
        self._policy = policy
        held = Ppo(policy).learner(learner)
        self._weights = (held.network, held.stats)

    def play(self, seeds: Sequence[int]) -> Playing:
        key_data = np.stack([key_data_of(seed) for seed in seeds])
        memory = self._policy.memory(len(seeds))

        def playing(leaves: Leaves, step: int, _: Array) -> Leaves:
            nonlocal memory
            seen = _narrow(self._policy, leaves)
            taken, memory = _chosen(self._policy, self._weights, seen, memory, key_data, np.int32(step))
            return jax.device_get(taken)

        return playing


class Scripted(Opponent):
    """A policy that the reference's adapter brings.

    Args:
        name: of the policy.
        choose: asks the reference. It sees all leaves, the state too.
    """

    def __init__(self, name: str, choose: Choose) -> None:
        super().__init__(name)
        self._choose = choose

    def play(self, seeds: Sequence[int]) -> Playing:
        def playing(leaves: Leaves, step: int, asked: Array) -> Leaves:
            rows = np.flatnonzero(asked)
            if not len(rows):
                return {}
            mixed = [_mixed(seeds[row], step) for row in rows.tolist()]
            chosen = self._choose(self.name, {path: array[rows] for path, array in leaves.items()}, mixed)
            whole = {path: np.zeros((len(seeds), *array.shape[1:]), array.dtype) for path, array in chosen.items()}
            for path, array in chosen.items():
                whole[path][rows] = array
            return whole

        return playing


class Table:
    """Who sits where in a number of episodes: seats and opponents take turns, so that each meets each equally often.

    Args:
        policy: that is judged; its environment has several players.
        opponents: whom it meets.
    """

    def __init__(self, policy: Policy, opponents: Sequence[Opponent]) -> None:
        self.policy, self.opponents = policy, list(opponents)
        self.players = policy.players

    def seat(self, episode: int) -> int:
        """The policy's seat in an episode."""
        return episode % len(self.players)

    def opponent(self, episode: int) -> int:
        """The number of the opponent in an episode."""
        return episode // len(self.players) % len(self.opponents)

    def places(self) -> list[tuple[str, str]]:
        """Player and opponent of each episode, as far as they differ: they then come again in the same order."""
        count = len(self.players) * len(self.opponents)
        return [(self.players[self.seat(n)], self.opponents[self.opponent(n)].name) for n in range(count)]

    def begin(self, seeds: Sequence[int], episodes: Sequence[int]) -> Callable[[Leaves, Leaves, int, Array], Leaves]:
        """Begin these episodes.

        Args:
            seeds: of the episodes.
            episodes: their numbers.

        Returns:
            What replaces, in the policy's actions, those of the seats that are not its own: from leaves, actions, the number
            of the step, and which episodes are over.
        """
        seats = np.array([self.seat(number) for number in episodes])
        facing = np.array([self.opponent(number) for number in episodes])
        rows = [np.flatnonzero(facing == number) for number in range(len(self.opponents))]
        playing = [
            opponent.play([seeds[row] for row in met.tolist()]) if len(met) else None
            for opponent, met in zip(self.opponents, rows, strict=True)
        ]

        def replaced(leaves: Leaves, actions: Leaves, step: int, over: Array) -> Leaves:
            merged = {path: np.array(array) for path, array in actions.items()}
            owners = {path: self.policy.owner(path) for path in merged}
            theirs = {
                path: ~over & ((leaves[TO_MOVE] if owner is None else owner) != seats) for path, owner in owners.items()
            }
            asked = np.any(list(theirs.values()), axis=0)
            for play, met in zip(playing, rows, strict=True):
                if play is None:
                    continue
                chosen = play({path: array[met] for path, array in leaves.items()}, step, asked[met])
                for path, array in chosen.items():
                    merged[path][met] = rows_where(theirs[path][met], np.asarray(array), merged[path][met])
            return merged

        return replaced

    def returns(self, episodes: Sequence[Trajectory]) -> Array:
        """What the policy earned in each of its episodes, float64."""
        return np.array([self._earned(one)[self.seat(number)] for number, one in enumerate(episodes)])

    def results(self, episodes: Sequence[Trajectory]) -> Array:
        """How each episode ended for the policy: 1 it alone earned most, 0 another as much, -1 another more."""
        ended = []
        for number, one in enumerate(episodes):
            earned, seat = self._earned(one), self.seat(number)
            ahead = earned[seat] - np.delete(earned, seat).max()
            # Rewards are rounded: what differs by their last bits is as much.
            ended.append(0.0 if abs(ahead) <= ROUNDED * max(1.0, np.abs(earned).max()) else np.sign(ahead))
        return np.array(ended)

    def _earned(self, episode: Trajectory) -> Array:
        return np.array([episode.leaves[f"reward/{player}"].sum(dtype=np.float64) for player in self.players])


def _mixed(seed: int, step: int) -> int:
    """A seed of one step of an episode."""
    return int(np.random.SeedSequence([seed, step, _OPPONENT]).generate_state(1, np.uint32)[0])


def _narrow(policy: Policy, leaves: Mapping[str, Any]) -> dict[str, Any]:
    return {path: narrowed(leaves[path]) for path in policy.observed_leaves}


@partial(jax.jit, static_argnums=0)
def _at_random(policy: Policy, leaves: Any, key_data: Any, step: Any) -> Any:
    observed = policy.observe(leaves)
    return policy.to_leaves(policy.at_random(observed, step_noise(policy, key_data, _OPPONENT, step)), observed.acts)


@partial(jax.jit, static_argnums=0)
def _chosen(policy: Policy, weights: Any, leaves: Any, memory: Any, key_data: Any, step: Any) -> Any:
    observed = policy.observe(leaves)
    network, stats = weights
    given, memory = policy.act(network, stats, observed, memory)
    return policy.to_leaves(policy.sample(given, step_noise(policy, key_data, _OPPONENT, step)), observed.acts), memory
