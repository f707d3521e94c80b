"""What peers in JAX have in common: a measured run of compiled steps, one by one or inside a scan (docs/profiling.md)."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax

Answer = dict[str, Any]
STEP_LIMIT = 1000


class InJax:
    """Answers the calls of a measured run, by the two functions that a peer brings."""

    answers_batches = True

    def __init__(self) -> None:
        self._programs: dict[Any, Any] = {}

    def begin(self, batch: int, key: Any) -> Any:
        """A batch after its resets, and the key that goes on: what `step` takes."""
        raise NotImplementedError

    def step(self, batch: int, carry: Any) -> Any:
        """A step of the batch under random actions, whose episodes restart by themselves, and its outputs."""
        raise NotImplementedError

    def open(self, options: Answer) -> Answer:
        """What it can do; the length of a scan is compiled in."""
        return {"kinds": ["step", "scan"], "fixed": ["scan"]}

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Compile what a run needs."""
        begin, step = partial(self.begin, batch), partial(self.step, batch)

        def scan(carry: Any) -> Any:
            return jax.lax.scan(lambda carry, _: step(carry), carry, length=length)

        key = jax.random.key(0)
        carry = jax.eval_shape(begin, key)
        one = jax.jit(step if kind == "step" else scan)
        self._programs[kind, batch] = jax.jit(begin).lower(key).compile(), one.lower(carry).compile()
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
