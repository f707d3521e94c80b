"""One instance in JAX behind PettingZoo's faces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .jax_env import JaxEnv, output_leaves
from .leaves import pack_action
from .zoo_env import Array, Game, demand_seed


class JaxGame(Game):
    """A verified environment, one instance that is stepped by compiled functions."""

    def __init__(self, env: JaxEnv) -> None:
        super().__init__(str(env.contract.get("name", "")), env.leaves, env.players)
        self._env = env
        self._chance = np.random.default_rng()
        self._key: Any = None
        self._state: Any = None

    def begin(self, seed: int | None) -> dict[str, Array]:
        """See `Game.begin`."""
        demand_seed(seed)
        if seed is not None or self._key is None:
            number = int(self._chance.integers(1 << 62)) if seed is None else seed
            key_data = np.array([number >> 32, number & 0xFFFFFFFF], np.uint32)
            self._key = jax.random.wrap_key_data(jnp.asarray(key_data), impl="threefry2x32")
        self._key, self._state, leaves = _reset(self._env, self._key)
        return _host(leaves)

    def advance(self, actions: Mapping[str, Any]) -> dict[str, Array]:
        """See `Game.advance`."""
        taken = {path: self._env.held(path, action) for path, action in actions.items()}
        self._key, self._state, leaves = _step(self._env, self._key, self._state, taken)
        return _host(leaves)


def _host(leaves: Mapping[str, Any]) -> dict[str, Array]:
    return {path: np.asarray(leaf) for path, leaf in jax.device_get(leaves).items()}


@partial(jax.jit, static_argnums=0)
def _reset(env: JaxEnv, key: Any) -> Any:
    key, reset_key = jax.random.split(key)
    state, outputs = env.reset(reset_key)
    return key, state, output_leaves(outputs)


@partial(jax.jit, static_argnums=0)
def _step(env: JaxEnv, key: Any, state: Any, actions: Any) -> Any:
    key, step_key = jax.random.split(key)
    state, outputs = env.step(step_key, state, pack_action(actions))
    return key, state, output_leaves(outputs)
