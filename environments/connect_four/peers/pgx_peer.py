"""pgx's own connect_four, in JAX: random legal moves, auto-reset, stepped one by one or inside a scan."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental.wrappers import auto_reset

Answer = dict[str, Any]


class Pgx:
    """Answers the calls of a measured run (docs/profiling.md)."""

    answers_batches = True

    def __init__(self) -> None:
        self._env = pgx.make("connect_four")
        self._move = auto_reset(self._env.step, self._env.init)
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
        return key, jax.vmap(self._env.init)(jax.random.split(resets, batch))

    def _step(self, carry: Any) -> Any:
        key, state = carry
        key, acting, stepping = jax.random.split(key, 3)
        legal = state.legal_action_mask
        # As cheap a choice among the legal moves as the candidates are given.
        rank = jax.random.bits(acting, legal.shape[:1], jnp.uint32) % legal.sum(-1, dtype=jnp.uint32)
        moves = jnp.argmax(jnp.cumsum(legal, -1, dtype=jnp.uint32) > rank[:, None], -1).astype(jnp.int32)
        state = jax.vmap(self._move)(state, moves, jax.random.split(stepping, legal.shape[0]))
        shown = (state.observation, state.rewards, state.terminated, state.truncated, state.legal_action_mask)
        return (key, state), (*shown, state.current_player)

    def _scan(self, length: int, carry: Any) -> Any:
        return jax.lax.scan(lambda carry, _: self._step(carry), carry, length=length)
