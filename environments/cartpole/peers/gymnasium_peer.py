"""Gymnasium's own vector environments of CartPole-v1, in the reference's environment: one call steps the whole batch.

Actions are drawn before the clock runs, and outputs are not kept, so that nothing but the environment is measured.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

Answer = dict[str, Any]


class _Vector:
    answers_batches = True
    mode = ""

    def __init__(self) -> None:
        self._envs: Any = None
        self._actions = np.zeros((0, 0), np.int64)

    def open(self, options: Answer) -> Answer:
        """What it can do."""
        return {"kinds": ["step"]}

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Make the batch, and random actions for it."""
        self.close()
        self._envs = gymnasium.make_vec("CartPole-v1", num_envs=batch, vectorization_mode=self.mode)
        self._envs.reset(seed=0)
        self._actions = np.random.default_rng(0).integers(0, 2, (length, batch))
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Step the batch from where it is: seeding thousands of environments again would take longer than that."""
        for _ in range(repeats):
            for row in range(length):
                self._envs.step(self._actions[row])
        return {}

    def close(self) -> None:
        """End the batch."""
        if self._envs is not None:
            self._envs.close()
            self._envs = None


class Sync(_Vector):
    """`SyncVectorEnv`: the reference itself, many times in one process."""

    mode = "sync"


class Numpy(_Vector):
    """`CartPoleVectorEnv`: the dynamics of the whole batch in numpy."""

    mode = "vector_entry_point"
