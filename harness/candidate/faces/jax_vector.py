"""The face that Gymnasium's vector environments have, in JAX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np
from gymnasium.vector import AutoresetMode

from .jax_env import JaxEnv
from .leaves import OBSERVED, Actions, pack_action
from .over_devices import compiled, demand_share
from .restarts import restarted, select
from .vector_env import Stepped, SteppedVectorEnv

Array = np.ndarray[Any, Any]


class JaxVectorEnv(SteppedVectorEnv):
    """`num_envs` instances of a verified environment, stepped together by one compiled function.

    Args:
        env: the environment.
        num_envs, autoreset_mode: see `SteppedVectorEnv`, which has all that users call.
        devices: over how many devices of this process the instances are spread equally; their episodes are the same.
    """

    def __init__(
        self,
        env: JaxEnv,
        num_envs: int,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        devices: int = 1,
    ) -> None:
        super().__init__(env.leaves, num_envs, autoreset_mode)
        demand_share(num_envs, devices)
        self.env = env
        self._reset, self._step, self._pick = _programs(env, self.autoreset_mode.value, devices)
        self._key_data: Any = None
        self._state: Any = None
        self._observed: dict[str, Any] = {}
        self._last: dict[str, Any] = {}

    def _taking(self, declared: Mapping[str, Mapping[str, Any]]) -> Actions:
        return Actions(declared, (self.num_envs,), jax.dtypes.canonicalize_dtype)

    def _begin(self, seeds: Sequence[int | None], mask: Array) -> None:
        key_data, state, outputs = self._reset(self._seeded(seeds, mask))
        fresh = (key_data, state, _observed(outputs))
        if not mask.all():
            fresh = self._pick(mask, fresh, (self._key_data, self._state, self._observed))
        self._key_data, self._state, self._observed = fresh

    def _advance(self, actions: Mapping[str, Array], ended: Array) -> Stepped:
        taken = pack_action(actions)
        self._key_data, self._state, outputs, final = self._step(self._key_data, self._state, taken, ended)
        self._observed, self._last = _observed(outputs), _observed(final)
        return Stepped(*(jax.tree.map(np.array, outputs[name]) for name in Stepped._fields))

    def _seen(self, name: str) -> Any:
        return jax.tree.map(np.array, self._observed.get(name))

    def _final(self, name: str) -> Any:
        return jax.tree.map(np.array, self._last.get(name))

    def _seeded(self, seeds: Sequence[int | None], mask: Array) -> Array:
        """The key data of each instance: from its seed, else what it has."""
        if self._key_data is None:
            key_data = self.np_random.integers(0, 1 << 32, (self.num_envs, 2), dtype=np.uint32)
        else:
            key_data = np.array(self._key_data)
        for index, single in enumerate(seeds):
            if single is not None and mask[index]:
                key_data[index] = single >> 32, single & 0xFFFFFFFF
        return key_data


def _observed(outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: outputs[name] for name in OBSERVED if name in outputs}


@lru_cache(maxsize=32)
def _programs(env: JaxEnv, mode: str, devices: int) -> tuple[Any, Any, Any]:
    """`_reset`, `_step` and `_pick`, compiled once for all that have the same environment."""
    return (
        compiled(partial(_reset, env), (0,), 0, devices),
        compiled(partial(_step, env, mode), (0, 0, 0, 0), 0, devices),
        compiled(_pick, (0, 0, 0), 0, devices),
    )


def _reset(env: JaxEnv, key_data: Any) -> Any:
    def one(key_data: Any) -> Any:
        key, reset_key = jax.random.split(_key(key_data))
        return jax.random.key_data(key), *env.reset(reset_key)

    return jax.vmap(one)(key_data)


def _step(env: JaxEnv, mode: str, key_data: Any, state: Any, actions: Any, ended: Any) -> Any:
    """Keys, states, outputs, and in mode SAME_STEP the outputs from before the auto-reset."""

    def one(key_data: Any, state: Any, action: Any, ended: Any) -> Any:
        key, step_key = jax.random.split(_key(key_data))
        key_data = jax.random.key_data(key)
        if mode == AutoresetMode.SAME_STEP.value:
            transition = env.transition(step_key, state, action)
            return key_data, transition["state"], transition["outputs"], transition["final_outputs"]
        if mode == AutoresetMode.DISABLED.value:
            return key_data, *env.step(step_key, state, action), {}
        step_key, reset_key = jax.random.split(step_key)
        return key_data, *restarted(ended, env.reset, reset_key, *env.step(step_key, state, action)), {}

    return jax.vmap(one)(key_data, state, actions, ended)


def _pick(mask: Any, if_true: Any, if_false: Any) -> Any:
    return jax.vmap(select)(mask, if_true, if_false)


def _key(key_data: Any) -> jax.Array:
    return jax.random.wrap_key_data(key_data, impl="threefry2x32")
