"""Environments of the breadth benchmark that no registry has: one for each kind of space, and those of other libraries."""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class _Counting(gymnasium.Env[Any, Any]):
    """Counts what it is told, and adds a die now and then."""

    count: int

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.count = int(self.np_random.integers(3))
        return self._get_obs(), {}

    def step(self, action: Any) -> Any:
        self.count += self.told(action) + int(self.np_random.integers(2))
        return self._get_obs(), 1.0, self.count > 40, False, {}

    def told(self, action: Any) -> int:
        """How far an action counts."""
        raise NotImplementedError

    def _get_obs(self) -> Any:
        raise NotImplementedError


class Dictionary(_Counting):
    """Dict."""

    observation_space = spaces.Dict({"count": spaces.Discrete(99), "even": spaces.MultiBinary(2)})
    action_space = spaces.Dict({"by": spaces.Discrete(3)})

    def told(self, action: Any) -> int:
        return int(action["by"])

    def _get_obs(self) -> Any:
        return {"count": self.count, "even": np.array([self.count % 2, 1 - self.count % 2], np.int8)}


class Pair(_Counting):
    """Tuple."""

    observation_space = spaces.Tuple([spaces.Discrete(99), spaces.Box(0, 1, (2,), np.float32)])
    action_space = spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)])

    def told(self, action: Any) -> int:
        return int(sum(action))

    def _get_obs(self) -> Any:
        return self.count, np.array([self.count / 99, 0], np.float32)


class Digits(_Counting):
    """MultiDiscrete."""

    observation_space = spaces.MultiDiscrete([10, 10])
    action_space = spaces.MultiDiscrete([2, 3])

    def told(self, action: Any) -> int:
        return int(action.sum())

    def _get_obs(self) -> Any:
        return np.array(divmod(self.count, 10), np.int64)


class Bits(_Counting):
    """MultiBinary."""

    observation_space = spaces.MultiBinary(6)
    action_space = spaces.MultiBinary(2)

    def told(self, action: Any) -> int:
        return int(action.sum())

    def _get_obs(self) -> Any:
        return np.array([self.count >> bit & 1 for bit in range(6)], np.int8)


class Words(_Counting):
    """Text."""

    observation_space = spaces.Text(3, charset="0123456789")
    action_space = spaces.Text(3, min_length=1, charset="xy")

    def told(self, action: Any) -> int:
        return action.count("x")

    def _get_obs(self) -> Any:
        return str(self.count)


def deep_sea() -> Any:
    """A registered environment that cannot be made without an argument, its size."""
    gymnasium.register_envs(importlib.import_module("shimmy"))
    return gymnasium.make("bsuite/deep_sea-v0", size=10)


def crafter() -> Any:
    """Crafter, which is of the old Gym's kind."""
    return importlib.import_module("crafter").Env()


def pettingzoo() -> Any:
    """Rock, paper, scissors."""
    return importlib.import_module("pettingzoo.classic").rps_v2.env()


def _jumanji(name: str) -> Any:
    wrapper = importlib.import_module("jumanji.wrappers").JumanjiToGymWrapper
    return wrapper(importlib.import_module("jumanji").make(name))


def jumanji_snake() -> Any:
    """Snake, by Jumanji's own wrapper."""
    return _jumanji("Snake-v1")


def jumanji_game_2048() -> Any:
    """2048, by Jumanji's own wrapper."""
    return _jumanji("Game2048-v1")


def _gymnax(name: str) -> Any:
    wrapper = importlib.import_module("gymnax.wrappers").GymnaxToGymWrapper
    return wrapper(*importlib.import_module("gymnax").make(name))


def gymnax_cartpole() -> Any:
    """CartPole, by gymnax's own wrapper."""
    return _gymnax("CartPole-v1")


def gymnax_breakout() -> Any:
    """Breakout of MinAtar, by gymnax's own wrapper."""
    return _gymnax("Breakout-MinAtar")
