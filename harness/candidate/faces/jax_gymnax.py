"""The face that code written for gymnax 1.x knows: `reset(key, params)`, `step(key, state, action, params)`.

As there, `step` resets an ended episode within the step, keeps `terminated` and `truncated` apart, and leaves the terminal
observation in `info["final_observation"]`. gymnax itself is not needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .jax_env import JaxEnv, State
from .leaves import OBSERVED, bounds, nested, pack_action


class Params(NamedTuple):
    """No parameters: what was verified is the environment as its task fixes it."""


class Discrete(NamedTuple):
    """The integers `start` to `start + n - 1`."""

    n: int
    start: int
    dtype: Any
    shape: tuple[int, ...] = ()

    def sample(self, key: jax.Array) -> jax.Array:
        """A uniform element."""
        return jax.random.randint(key, (), self.start, self.start + self.n, self.dtype)

    def contains(self, x: Any) -> jax.Array:
        """Whether `x` is an element."""
        return (x >= self.start) & (x < self.start + self.n)


class Box(NamedTuple):
    """Arrays of one shape and dtype between closed bounds, which broadcast to the shape."""

    low: np.ndarray[Any, Any]
    high: np.ndarray[Any, Any]
    shape: tuple[int, ...]
    dtype: Any

    def sample(self, key: jax.Array) -> jax.Array:
        """A uniform element; the bounds must be finite."""
        if jnp.issubdtype(self.dtype, jnp.floating):
            return jax.random.uniform(key, self.shape, self.dtype, self.low, self.high)
        integers = jnp.int32 if self.dtype == np.bool_ else self.dtype
        return jax.random.randint(key, self.shape, self.low, self.high + 1, integers).astype(self.dtype)

    def contains(self, x: Any) -> jax.Array:
        """Whether every value of `x` lies within the bounds."""
        return jnp.all((x >= self.low) & (x <= self.high))


class GymnaxEnv:
    """A verified environment in gymnax's shape, all of it free to be vmapped, jitted and scanned."""

    def __init__(self, env: JaxEnv) -> None:
        self.env = env

    @property
    def default_params(self) -> Params:
        """The only parameters there are."""
        return Params()

    @property
    def num_actions(self) -> int:
        """The number of actions, where they are a range of integers."""
        space = self.action_space()
        if not isinstance(space, Discrete):
            raise TypeError(f"the actions are not a range of integers but {space}")
        return space.n

    def reset(self, key: jax.Array, params: Params | None = None) -> tuple[Any, State]:
        """Begin an episode: its first observation and state."""
        state, outputs = self.env.reset(key)
        return outputs["observation"], state

    reset_env = reset

    def step(
        self, key: jax.Array, state: State, action: Any, params: Params | None = None
    ) -> tuple[Any, State, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
        """One step with auto-reset: observation, state, reward, terminated, truncated, info.

        `info` holds `terminated`, `truncated`, `final_observation`, and `legal_actions` where the task has them.
        """
        state, outputs = self.env.step_autoreset(key, state, action)
        info = {name: value for name, value in outputs.items() if name not in ("observation", "reward")}
        return outputs["observation"], state, outputs["reward"], outputs["terminated"], outputs["truncated"], info

    def step_env(
        self, key: jax.Array, state: State, action: Any, params: Params | None = None
    ) -> tuple[Any, State, jax.Array, jax.Array, dict[str, Any]]:
        """One step without auto-reset: observation, state, reward, terminated, info, which holds `truncated`."""
        state, outputs = self.env.step(key, state, action)
        info = {name: value for name, value in outputs.items() if name in ("truncated", *OBSERVED[1:])}
        return outputs["observation"], state, outputs["reward"], outputs["terminated"], info

    def action_space(self, params: Params | None = None) -> Any:
        """The space of the action, or a dict of spaces by name where there are several."""
        return pack_action({path: space_of(leaf) for path, leaf in self.env.actions.items()})

    def observation_space(self, params: Params | None = None) -> Any:
        """The space of the observation, or nested dicts of spaces."""
        return nested(self.env.leaves, "observation", space_of)


def space_of(leaf: dict[str, Any]) -> Discrete | Box:
    """The space of a leaf of the contract."""
    low, high = bounds(leaf)
    dtype, shape = jax.dtypes.canonicalize_dtype(np.dtype(leaf["dtype"])), tuple(leaf["shape"])
    if dtype.kind in "iu" and shape == ():
        return Discrete(int(high) - int(low) + 1, int(low), dtype)
    return Box(low, high, shape, dtype)
