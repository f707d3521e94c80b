"""The face that code written for JaxMARL knows: observations, actions, rewards and ends in dicts by the name of an agent.

As there, `step` resets an ended episode within the step. JaxMARL itself is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .jax_env import JaxEnv
from .jax_gymnax import Discrete, space_of
from .leaves import nested
from .restarts import restarted, select
from .seats import ALIVE, TO_MOVE, Seats, of_player

ALL = "__all__"


class MarlState(NamedTuple):
    """A state, and what is seen of it."""

    state: Any
    seen: Any


class MarlEnv:
    """A verified environment of several players in JaxMARL's shape, all of it free to be vmapped, jitted and scanned.

    In a game of turns every agent gives an action, and that of who is to move is taken.

    Attributes:
        agents: the names of the players.
        observation_spaces, action_spaces: by agent.

    Raises:
        TypeError: one agent plays, or an action of a player is more than one leaf.
    """

    def __init__(self, env: JaxEnv) -> None:
        self.env = env
        self._seats = Seats(env.leaves, env.players)
        self.agents = list(self._seats.players)
        self.num_agents = len(self.agents)
        seen = nested(env.leaves, "observation", space_of)
        self.observation_spaces = {agent: of_player(seen, agent) for agent in self.agents}
        self.action_spaces = {agent: space_of(env.leaves[path]) for agent, path in self._seats.actions.items()}

    @property
    def name(self) -> str:
        """The environment's name."""
        return str(self.env.contract.get("name", ""))

    def reset(self, key: jax.Array) -> tuple[dict[str, Any], MarlState]:
        """Begin an episode: observations by agent, and the state."""
        held = MarlState(*self._begin(key))
        return self.get_obs(held), held

    def step(
        self, key: jax.Array, state: MarlState, actions: Mapping[str, Any], reset_state: MarlState | None = None
    ) -> tuple[dict[str, Any], MarlState, dict[str, Any], dict[str, Any], dict[str, Any]]:
        """One step with auto-reset: observations, state, rewards, dones, infos.

        Args:
            reset_state: where an ended episode goes on, in place of a reset.
        """
        key, reset_key = jax.random.split(key)
        _, after, rewards, dones, infos = self.step_env(key, state, actions)
        if reset_state is None:
            held = MarlState(*restarted(dones[ALL], self._begin, reset_key, *after))
        else:
            held = select(dones[ALL], reset_state, after)
        return self.get_obs(held), held, rewards, dones, infos

    def step_env(
        self, key: jax.Array, state: MarlState, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], MarlState, dict[str, Any], dict[str, Any], dict[str, Any]]:
        """One step without auto-reset; `dones` of an agent that dropped out is true before that of all."""
        if "action" in self.env.actions:
            taken: Any = jnp.stack([jnp.asarray(actions[agent]) for agent in self.agents])[state.seen[TO_MOVE]]
        else:
            taken = {agent: actions[agent] for agent in self.agents}
        after, outputs = self.env.step(key, state.state, taken)
        over = outputs["terminated"] | outputs["truncated"]
        alive = outputs.get(ALIVE, {})
        dones = {agent: over | ~alive[agent] if agent in alive else over for agent in self.agents} | {ALL: over}
        rewards = {agent: outputs["reward"][agent].astype(jnp.float32) for agent in self.agents}
        held = MarlState(after, self._observed(outputs))
        infos = {name: outputs[name] for name in ("terminated", "truncated", TO_MOVE) if name in outputs}
        return self.get_obs(held), held, rewards, dones, infos

    def get_obs(self, state: MarlState) -> dict[str, Any]:
        """What each agent sees."""
        return {agent: of_player(state.seen["observation"], agent) for agent in self.agents}

    def get_avail_actions(self, state: MarlState) -> dict[str, Any]:
        """Which actions each agent may take, bool; all of who is not to move, as its choice does not matter.

        Raises:
            TypeError: the environment does not tell.
        """
        if "legal_actions" not in state.seen:
            raise TypeError("this environment has no mask: every action is legal")
        told = state.seen["legal_actions"]
        masks = {agent: self._mask(told, agent) for agent in self.agents}
        idle = {agent: ~mask.any(-1, keepdims=True) for agent, mask in masks.items()}
        moves = state.seen.get(TO_MOVE, {})
        for number, agent in enumerate(self.agents):
            if self._seats.turns:
                idle[agent] |= moves != number
            elif agent in moves:
                idle[agent] |= ~moves[agent]
        return {agent: mask | idle[agent] for agent, mask in masks.items()}

    def observation_space(self, agent: str) -> Any:
        """The space of what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of an agent's action."""
        return self.action_spaces[agent]

    def _begin(self, key: jax.Array) -> tuple[Any, dict[str, Any]]:
        state, outputs = self.env.reset(key)
        return state, self._observed(outputs)

    def _mask(self, told: Any, agent: str) -> Any:
        """What an agent may do; all where only others have a mask."""
        mask = told.get(agent) if isinstance(told, Mapping) else told
        space = self.action_spaces[agent]
        return jnp.ones((space.n,) if isinstance(space, Discrete) else space.shape, bool) if mask is None else mask

    def _observed(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {name: outputs[name] for name in ("observation", "legal_actions", TO_MOVE) if name in outputs}
