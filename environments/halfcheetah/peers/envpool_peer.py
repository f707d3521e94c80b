"""EnvPool's HalfCheetah: MuJoCo's own step in C++, many cheetahs in a pool of threads."""

from __future__ import annotations

import os
from typing import Any

import envpool
import numpy as np

Answer = dict[str, Any]
JOINTS = 6


class EnvPool:
    """Answers the calls of a measured run (docs/profiling.md)."""

    answers_batches = True

    def __init__(self) -> None:
        self._pool: Any = None
        self._actions = np.zeros((0, 0, JOINTS))

    def open(self, options: Answer) -> Answer:
        """What it can do: a Python call for each step of the batch."""
        return {"kinds": ["step"], "cores": len(os.sched_getaffinity(0))}

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Make the pool, and random actions for it."""
        self.close()
        threads = min(batch, len(os.sched_getaffinity(0)))
        self._pool = envpool.make_gymnasium("HalfCheetah-v5", num_envs=batch, num_threads=threads)
        self._actions = np.random.default_rng(0).uniform(-1.0, 1.0, (length, batch, JOINTS))
        self._pool.reset()
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Step the batch from where it is; episodes restart by themselves."""
        for _ in range(repeats):
            for actions in self._actions[:length]:
                self._pool.step(actions)
        return {}

    def close(self) -> None:
        """End the pool."""
        if self._pool is not None:
            self._pool.close()
        self._pool = None
