"""gymnax's own CartPole-v1, in JAX: random actions, auto-reset, stepped one by one or inside a scan."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnax
import jax
import numpy as np

Answer = dict[str, Any]


class Gymnax:
    """Answers the calls of a measured run (docs/profiling.md)."""

    answers_batches = True

    def __init__(self) -> None:
        self._env, self._params = gymnax.make("CartPole-v1")
        self._programs: dict[Any, Any] = {}

    def open(self, options: Answer) -> Answer:
        """What it can do; the length of a scan is compiled in."""
        return {"kinds": ["step", "scan"], "fixed": ["scan"]}

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Compile what a run needs."""
        begin = jax.jit(partial(self._begin, batch))
        key = jax.random.key(0)
        carry = jax.eval_shape(begin, key)
        one = jax.jit(self._step) if kind == "step" else jax.jit(partial(self._scan, length))
        self._programs[kind, batch] = begin.lower(key).compile(), one.lower(carry).compile()
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Step; every output of every step is there when this returns."""
        begin, program = self._programs[kind, batch]
        for repeat in range(repeats):
            carry = begin(jax.random.fold_in(jax.random.key(seed % (1 << 32)), repeat))
            rows = []
            for _ in range(length if kind == "step" else 1):
                carry, outputs = program(carry)
                rows.append(outputs)
            jax.block_until_ready((carry, rows))
        return {}

    def close(self) -> None:
        """Forget what was compiled."""
        self._programs.clear()

    def _begin(self, batch: int, key: Any) -> Any:
        key, resets = jax.random.split(key)
        _, state = jax.vmap(self._env.reset, (0, None))(jax.random.split(resets, batch), self._params)
        return key, state

    def _step(self, carry: Any) -> Any:
        key, state = carry
        batch = np.shape(jax.tree.leaves(state)[0])[0]
        key, acting, stepping = jax.random.split(key, 3)
        actions = jax.random.randint(acting, (batch,), 0, 2)
        keys = jax.random.split(stepping, batch)
        observation, state, reward, done, _ = jax.vmap(self._env.step, (0, 0, 0, None))(
            keys, state, actions, self._params
        )
        return (key, state), (observation, reward, done)

    def _scan(self, length: int, carry: Any) -> Any:
        return jax.lax.scan(lambda carry, _: self._step(carry), carry, length=length)
