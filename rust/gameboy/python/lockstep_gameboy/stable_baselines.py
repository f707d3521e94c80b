"""A vector environment of Gymnasium's as Stable-Baselines3 wants one. It needs Stable-Baselines3 2.6 or newer."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv

Array = np.ndarray[Any, Any]


class StableBaselinesVecEnv(VecEnv):
    """`make_vec(..., autoreset_mode="SameStep")`, with or without Gymnasium's wrappers around it, for `PPO` and its like.

    Where an episode has ended, the observation is that of the next one, and its info has what the algorithms look for:
    `terminal_observation`, `TimeLimit.truncated`, and under `RecordEpisodeStatistics` `episode`, with its return and length.

    Args:
        envs: the vector environment. It is closed with this one.

    Raises:
        ValueError: its episodes do not begin again in the step in which they end, as those of Stable-Baselines3 do.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {mode}; expected AutoresetMode.SAME_STEP, as Stable-Baselines3 resets")
        self.envs = envs
        self._actions: Array = np.zeros(0)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Array:
        """Begin an episode in every environment, with the seed and the options that `seed` and `set_options` named before.

        Raises:
            ValueError: each environment has options of its own; here all begin together.
        """
        options = self._options[0]
        if any(other != options for other in self._options):
            raise ValueError(f"the options are {self._options}; expected the same for every environment")
        observation, infos = self.envs.reset(seed=self._seeds[0], options=options or None)
        self.reset_infos = [self._info(infos, number) for number in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return deepcopy(observation)

    def step_async(self, actions: Array) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """That step: observations, rewards, which episodes ended, and an info for each environment."""
        observation, reward, terminated, truncated, infos = self.envs.step(self._actions)
        ended = terminated | truncated
        told = [self._info(infos, number) for number in range(self.num_envs)]
        for number in np.flatnonzero(ended).tolist():
            self.reset_infos[number] = dict(told[number])
            told[number] |= self._info(infos.get("final_info", {}), number)
            told[number]["terminal_observation"] = infos["final_obs"][number]
            told[number]["TimeLimit.truncated"] = bool(truncated[number] and not terminated[number])
        # It is kept until after the next step, which may write into the same array.
        return deepcopy(observation), np.asarray(reward, np.float32), ended, told

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, as often as environments are asked for: they share it.

        Raises:
            AttributeError: neither the vector environment nor what is wrapped in it has such a one.
        """
        return [self._attribute(attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused, as `VecEnv` lets an environment refuse what it cannot do: all of them share their attributes.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(f"{attr_name} cannot be set: the environments share their attributes")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Refused likewise: no environment is an object of its own that could be called.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(f"{method_name} cannot be called: no environment is an object of its own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for each: a wrapper of Gymnasium's for single environments is around none of them."""
        return [False for _ in self._get_indices(indices)]

    def _attribute(self, name: str) -> Any:
        if name == "render_mode":
            return None
        place: Any = self.envs
        while not hasattr(place, name) and hasattr(place, "env"):
            place = place.env
        return getattr(place, name)

    @staticmethod
    def _info(infos: dict[str, Any], number: int) -> dict[str, Any]:
        """What Gymnasium's infos tell of one environment."""
        told: dict[str, Any] = {}
        for name, value in infos.items():
            if name.startswith("_") or name in ("final_obs", "final_info"):
                continue
            mask = infos.get(f"_{name}")
            if mask is not None and not mask[number]:
                continue
            if isinstance(value, dict):
                told[name] = StableBaselinesVecEnv._info(value, number)
            elif isinstance(value, Sequence | np.ndarray) and len(value) > number:
                told[name] = value[number].item() if isinstance(value[number], np.generic) else value[number]
        return told
