"""Brax's halfcheetah, with its engine `spring`: another model, whose bodies touch the ground at fewer places."""

from __future__ import annotations

from typing import Any

import brax.envs
import jax
from in_jax import STEP_LIMIT, InJax


class Brax(InJax):
    """Brax with its own wrappers: an episode restarts from its first state."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[int, Any] = {}

    def begin(self, batch: int, key: Any) -> Any:
        """Reset a batch."""
        return key, self._env(batch).reset(key)

    def step(self, batch: int, carry: Any) -> Any:
        """Step it."""
        key, state = carry
        key, acting = jax.random.split(key)
        env = self._env(batch)
        state = env.step(state, jax.random.uniform(acting, (batch, env.action_size), minval=-1.0, maxval=1.0))
        return (key, state), (state.obs, state.reward, state.done)

    def _env(self, batch: int) -> Any:
        if batch not in self._made:
            self._made[batch] = brax.envs.create(
                "halfcheetah", episode_length=STEP_LIMIT, batch_size=batch, backend="spring"
            )
        return self._made[batch]
