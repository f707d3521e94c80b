"""The face that Gymnasium's vector environments have. It needs Gymnasium 1.1 or newer, and only this file does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .jax_env import OBSERVED, JaxEnv, bounds, select

Array = np.ndarray[Any, Any]


class JaxVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` instances of a verified environment, stepped together.

    Conventions are those of Gymnasium's own `SyncVectorEnv`: `metadata["autoreset_mode"]` says what happens to an ended
    episode. NEXT_STEP resets it in the step after its end, ignoring that step's action. SAME_STEP resets it at once and
    hands the terminal observation in `infos["final_obs"]`. DISABLED leaves it to
    `reset(options={"reset_mask": ...})`. Legal actions, where the task has them, are in `infos["legal_actions"]`.

    Args:
        env: the environment.
        num_envs: how many instances.
        autoreset_mode: one of Gymnasium's modes, or its value (`NextStep`, `SameStep`, `Disabled`).

    Raises:
        ValueError: the environment has a reward for each of several agents, which this interface cannot show.
    """

    def __init__(
        self, env: JaxEnv, num_envs: int, autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP
    ) -> None:
        if env.leaves["reward"]["shape"]:
            raise ValueError(f"a vector environment shows one reward, this one has {env.leaves['reward']['shape']}")
        self.env = env
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self.single_observation_space = _nested_space(env.nested("observation", partial(_space, "observation")))
        self.single_action_space = _nested_space(
            env.pack_action({p: _space(p, leaf) for p, leaf in env.actions.items()})
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._words: Any = None
        self._state: Any = None
        self._observed: dict[str, Any] = {}
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes: in all instances, or in those that `options["reset_mask"]` (bools) names.

        Args:
            seed: instance `i` gets `seed + i`, or `seed[i]`; None goes on with the chance that it had.
        """
        mask = self._mask(options)
        if self._state is None and not mask.all():
            raise gymnasium.error.ResetNeeded("the first reset must be one of all instances")
        words, state, outputs = _reset(self.env, self._seeded(seed, mask))
        fresh = (words, state, {name: outputs[name] for name in OBSERVED if name in outputs})
        if not mask.all():
            fresh = _pick(mask, fresh, (self._words, self._state, self._observed))
        self._words, self._state, self._observed = fresh
        self._ended = self._ended & ~mask
        return self._observation(), self._infos()

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """One step in every instance: observations, rewards, terminations, truncations, infos."""
        if self._state is None:
            raise gymnasium.error.ResetNeeded("step() before the first reset()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            raise gymnasium.error.ResetNeeded(
                f"the episodes of instances {np.flatnonzero(self._ended).tolist()} have ended, and nothing resets them by "
                'itself in mode DISABLED: call reset(options={"reset_mask": ...}) with True for them'
            )
        actions = self._as_leaves(actions)
        self._words, self._state, outputs, final = _step(
            self.env, self.autoreset_mode.value, self._words, self._state, actions, self._ended
        )
        self._observed = {name: outputs[name] for name in OBSERVED if name in outputs}
        reward, terminated, truncated = (np.array(outputs[name]) for name in ("reward", "terminated", "truncated"))
        self._ended = terminated | truncated
        infos = self._infos()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            infos |= self._final_infos(jax.device_get(final))
            self._ended = np.zeros(self.num_envs, bool)
        return self._observation(), reward, terminated, truncated, infos

    def _observation(self) -> Any:
        return jax.tree.map(np.array, self._observed["observation"])

    def _infos(self) -> dict[str, Any]:
        if "legal_actions" not in self._observed:
            return {}
        return {
            "legal_actions": np.array(self._observed["legal_actions"]),
            "_legal_actions": np.ones(self.num_envs, bool),
        }

    def _final_infos(self, final: Mapping[str, Any]) -> dict[str, Any]:
        """What ended: Gymnasium keeps one object for each instance, None where no episode ended."""
        observations = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(self._ended):
            observations[index] = jax.tree.map(lambda array, i=index: np.array(array[i]), final["observation"])
        info: dict[str, Any] = {}
        if "legal_actions" in final:
            info = {"legal_actions": jax.tree.map(np.array, final["legal_actions"]), "_legal_actions": self._ended}
        return {
            "final_obs": observations,
            "_final_obs": self._ended,
            "final_info": info,
            "_final_info": self._ended,
        }

    def _mask(self, options: Mapping[str, Any] | None) -> Array:
        if not options or "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(options["reset_mask"])
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"reset_mask must be {self.num_envs} bools with at least one True, it is {mask!r}")
        return mask

    def _seeded(self, seed: int | Sequence[int | None] | None, mask: Array) -> Array:
        """The words of each instance's random key: from its seed, else those that it has."""
        if isinstance(seed, int):
            super().reset(seed=seed)
            seeds: list[int | None] = [seed + index for index in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs if seed is None else list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{self.num_envs} instances need as many seeds, {len(seeds)} were given")
        if self._words is None:
            words = self.np_random.integers(0, 1 << 32, (self.num_envs, 2), dtype=np.uint32)
        else:
            words = np.array(self._words)
        for index, single in enumerate(seeds):
            if single is not None and mask[index]:
                words[index] = single >> 32, single & 0xFFFFFFFF
        return words

    def _as_leaves(self, actions: Any) -> Any:
        """Actions in the dtypes that the environment declares: Gymnasium's spaces may widen them."""
        declared = self.env.pack_action({path: np.dtype(leaf["dtype"]) for path, leaf in self.env.actions.items()})
        return jax.tree.map(lambda dtype, array: np.asarray(array, dtype), declared, actions)


@partial(jax.jit, static_argnums=0)
def _reset(env: JaxEnv, words: Any) -> Any:
    def one(words: Any) -> Any:
        key, reset_key = jax.random.split(_key(words))
        return jax.random.key_data(key), *env.reset(reset_key)

    return jax.vmap(one)(words)


@partial(jax.jit, static_argnums=(0, 1))
def _step(env: JaxEnv, mode: str, words: Any, state: Any, actions: Any, ended: Any) -> Any:
    """Keys, states, outputs, and in mode SAME_STEP the outputs from before the auto-reset."""

    def one(words: Any, state: Any, action: Any, ended: Any) -> Any:
        key, step_key = jax.random.split(_key(words))
        words = jax.random.key_data(key)
        if mode == AutoresetMode.SAME_STEP.value:
            transition = env.transition(step_key, state, action)
            return words, transition["state"], transition["outputs"], transition["final_outputs"]
        if mode == AutoresetMode.DISABLED.value:
            return words, *env.step(step_key, state, action), {}
        step_key, reset_key = jax.random.split(step_key)
        return words, *select(ended, env.reset(reset_key), env.step(step_key, state, action)), {}

    return jax.vmap(one)(words, state, actions, ended)


@jax.jit
def _pick(mask: Any, if_true: Any, if_false: Any) -> Any:
    return jax.vmap(select)(mask, if_true, if_false)


def _key(words: Any) -> jax.Array:
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def _nested_space(value: Any) -> spaces.Space[Any]:
    if isinstance(value, Mapping):
        return spaces.Dict({name: _nested_space(part) for name, part in value.items()})
    return value


def _space(path: str, leaf: Mapping[str, Any]) -> spaces.Space[Any]:
    low, high = bounds(leaf)
    dtype, shape = np.dtype(leaf["dtype"]), tuple(leaf["shape"])
    if dtype.kind == "f":
        return spaces.Box(low, high, shape, dtype.type)
    if dtype.kind == "b":
        return spaces.MultiBinary(shape) if shape else spaces.Discrete(2)
    if shape == ():
        return spaces.Discrete(int(high) - int(low) + 1, start=int(low))
    if path.startswith("action") and len(shape) == 1:
        return spaces.MultiDiscrete(high.astype(np.int64) - low + 1, dtype=dtype.type, start=low)
    return spaces.Box(low, high, shape, dtype.type)
