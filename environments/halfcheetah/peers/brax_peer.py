"""Brax's halfcheetah, with its engine `spring`: another model, whose bodies touch the ground at fewer places."""

from __future__ import annotations

from typing import Any

import brax.envs
import jax
from in_jax import STEP_LIMIT, Answer, InJax


class Brax(InJax):
    """Brax with its own wrappers: an episode restarts from its first state."""

    def __init__(self) -> None:
        super().__init__()
        self._env: Any = None

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Make the batch's environment, outside of anything that is compiled, and compile what a run needs."""
        self._env = brax.envs.create("halfcheetah", episode_length=STEP_LIMIT, batch_size=batch, backend="spring")
        return super().bench_prepare(kind, batch, length)

    def begin(self, batch: int, key: Any) -> Any:
        """Reset a batch."""
        return key, self._env.reset(key)

    def step(self, batch: int, carry: Any) -> Any:
        """Step it."""
        key, state = carry
        key, acting = jax.random.split(key)
        actions = jax.random.uniform(acting, (batch, self._env.action_size), minval=-1.0, maxval=1.0)
        state = self._env.step(state, actions)
        return (key, state), (state.obs, state.reward, state.done)
