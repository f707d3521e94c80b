"""The faces that PettingZoo's environments have, over one instance of a verified environment of several players.

They need PettingZoo 1.25 or newer, and numpy.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from .leaf_spaces import action_space, observation_space
from .leaves import flatten, mask_of, nested, pack_action
from .seats import ALIVE, TO_MOVE, Seats, of_player
from .vector_env import SteppedVectorEnv

Array = np.ndarray[Any, Any]


class Game:
    """One instance that is stepped by hand, and what it shows by the paths of its leaves.

    Args:
        contract: of the environment.
        envs: a vector environment of it with one instance, in mode DISABLED.
    """

    def __init__(self, contract: Mapping[str, Any], envs: SteppedVectorEnv) -> None:
        self.name = str(contract.get("name", ""))
        self.leaves: Mapping[str, Any] = contract["leaves"]
        self.seats = Seats(self.leaves, contract.get("players", ()))
        self._envs = envs

    def begin(self, seed: int | None) -> dict[str, Array]:
        """Begin an episode from a seed, or with the chance that there is.

        Raises:
            ValueError: no episode can begin from the seed.
        """
        seen, infos = self._envs.reset(seed=None if seed is None else int(seed))
        return _of_one({"observation": seen, **infos})

    def advance(self, actions: Mapping[str, Any]) -> dict[str, Array]:
        """Step with the action leaves, by path."""
        given = pack_action({path: np.asarray(action)[None] for path, action in actions.items()})
        seen, reward, terminated, truncated, infos = self._envs.step(given)
        ends = {"terminated": terminated, "truncated": truncated}
        return _of_one({"observation": seen, "reward": reward, **ends, **infos})


class _Shown:
    """What players are shown of a game: spaces, observations with their masks, and who is out."""

    def __init__(self, game: Game) -> None:
        self.game, self.players = game, game.seats.players
        seen, self._masks = observation_space(game.leaves), {}
        acts = {path: action_space({path: game.leaves[path]}) for path in game.seats.actions.values()}
        self.actions, self.observations = {}, {}
        for player, path in game.seats.actions.items():
            # Each player has a space of its own: it may be seeded.
            self.actions[player] = copy.deepcopy(_part(acts[path], player))
            own = copy.deepcopy(_part(seen, player))
            mask = mask_of(path)
            if mask in game.leaves:
                self._masks[player] = mask
                own = spaces.Dict(
                    {"observation": own, "action_mask": spaces.Box(0, 1, tuple(game.leaves[mask]["shape"]), np.int8)}
                )
            self.observations[player] = own

    def observe(self, leaves: Mapping[str, Array], player: str, moves: bool = True) -> Any:
        """What a player sees; its mask allows nothing where another is to move."""
        seen = of_player(nested(leaves, "observation", _as_spaces_have_it), player)
        if player not in self._masks:
            return seen
        mask = np.array(leaves[self._masks[player]], np.int8)
        return {"observation": seen, "action_mask": mask if moves else np.zeros_like(mask)}

    def earned(self, leaves: Mapping[str, Array], player: str) -> float:
        """What the last step paid a player."""
        return float(leaves[f"reward/{player}"])

    def ends(self, leaves: Mapping[str, Array], player: str) -> tuple[bool, bool]:
        """Whether it is over for a player: terminated, truncated."""
        out = not leaves.get(f"{ALIVE}/{player}", True)
        return bool(leaves["terminated"]) or out, bool(leaves["truncated"])

    def told(self, leaves: Mapping[str, Array], player: str) -> dict[str, Any]:
        """A player's info: whether it is to move, where some players are and others are not."""
        moves = leaves.get(f"{TO_MOVE}/{player}")
        return {} if moves is None else {TO_MOVE: bool(moves)}

    def packed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Action leaves by path, of those who act; the others' choices do not matter."""
        actions = {path: self.game.seats.idle(player) for player, path in self.game.seats.actions.items()}
        return actions | {self.game.seats.actions[player]: action for player, action in given.items()}


class TurnsEnv(AECEnv[str, Any, Any]):
    """A game of turns as PettingZoo's `AECEnv`.

    Raises:
        TypeError: the players act at the same time.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        if not game.seats.turns:
            raise TypeError("the players of this environment do not act in turns: make_parallel() has its interface")
        self.metadata = {"name": game.name, "render_modes": [], "is_parallelizable": False}
        self.render_mode = None
        self._shown = _Shown(game)
        self.possible_agents = list(self._shown.players)
        self.observation_spaces, self.action_spaces = self._shown.observations, self._shown.actions
        self._leaves: dict[str, Array] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's action."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode."""
        self.agents = list(self.possible_agents)
        self._leaves = self._shown.game.begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[int(self._leaves[TO_MOVE])]

    def observe(self, agent: str) -> Any:
        """What an agent sees now."""
        return self._shown.observe(self._leaves, agent, agent == self.agent_selection)

    def step(self, action: Any) -> None:
        """The move of `agent_selection`; None where it is out."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._leaves = self._shown.game.advance(self._shown.packed({agent: action}))
        for each in self.agents:
            self.rewards[each] = self._shown.earned(self._leaves, each)
            self.terminations[each], self.truncations[each] = self._shown.ends(self._leaves, each)
        self._accumulate_rewards()
        named = self.possible_agents[int(self._leaves[TO_MOVE])]
        self.agent_selection = named if named in self.agents else self.agents[0]
        if not all(self.terminations[each] or self.truncations[each] for each in self.agents):
            self._deads_step_first()

    def close(self) -> None:
        """Nothing is held."""


class AtOnceEnv(ParallelEnv[str, Any, Any]):
    """An environment whose players act at the same time, as PettingZoo's `ParallelEnv`.

    Raises:
        TypeError: the players act in turns.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        if game.seats.turns:
            raise TypeError("the players of this environment act in turns: make_aec() has its interface")
        self.metadata = {"name": game.name, "render_modes": []}
        self.render_mode = None
        self._shown = _Shown(game)
        self.possible_agents = list(self._shown.players)
        self.agents: list[str] = []
        self.observation_spaces, self.action_spaces = self._shown.observations, self._shown.actions

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's action."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode: observations and infos by agent."""
        leaves = self._shown.game.begin(seed)
        self.agents = list(self.possible_agents)
        seen = {agent: self._shown.observe(leaves, agent) for agent in self.agents}
        return seen, {agent: self._shown.told(leaves, agent) for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """One step: observations, rewards, terminations, truncations and infos of the agents that acted."""
        acted = list(self.agents)
        missing = [agent for agent in acted if agent not in actions]
        if missing:
            raise ValueError(f"there is no action of {', '.join(missing)}, who have not dropped out")
        leaves = self._shown.game.advance(self._shown.packed({agent: actions[agent] for agent in acted}))
        ends = {agent: self._shown.ends(leaves, agent) for agent in acted}
        self.agents = [agent for agent in acted if not any(ends[agent])]
        return (
            {agent: self._shown.observe(leaves, agent) for agent in acted},
            {agent: self._shown.earned(leaves, agent) for agent in acted},
            {agent: ends[agent][0] for agent in acted},
            {agent: ends[agent][1] for agent in acted},
            {agent: self._shown.told(leaves, agent) for agent in acted},
        )


def _as_spaces_have_it(value: Array) -> Any:
    """A copy; a single whole number as Gymnasium's `Discrete` has it."""
    return np.int64(value) if value.ndim == 0 and value.dtype.kind in "iu" else np.array(value)


def _of_one(outputs: Mapping[str, Any]) -> dict[str, Array]:
    """The outputs of the only instance by path; infos that tell which instances others are of are left out."""
    told = {name: value for name, value in outputs.items() if not name.startswith("_")}
    return {path: array[0] for name, value in told.items() for path, array in flatten(name, value).items()}


def _part(space: spaces.Space[Any], player: str) -> spaces.Space[Any]:
    return space[player] if isinstance(space, spaces.Dict) and player in space.spaces else space
