"""PufferLib's Pong in C as PufferLib itself steps it: one call of its vectorised binding for the whole batch, on one core.

It lives in the reference's environment, without the tape that records `rand()`. Actions are drawn before the clock runs,
and outputs stay where the C code writes them.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from typing import Any

import numpy as np

Answer = dict[str, Any]
FRAMESKIP = 8


class Native:
    """Answers the calls of a measured run (docs/profiling.md)."""

    answers_batches = True

    def __init__(self) -> None:
        here = os.getcwd()
        # The package links its resources into the current directory.
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            os.chdir(folder)
            try:
                from pufferlib.ocean.pong import binding
                from pufferlib.ocean.pong.pong import Pong
            finally:
                os.chdir(here)
        self._binding, self._make = binding, Pong
        self._batch: Any = None
        self._actions = np.zeros((0, 0), np.float32)

    def open(self, options: Answer) -> Answer:
        """What it can do; its loop over the batch is C, and uses one processor."""
        return {"kinds": ["step", "train"], "cores": 1}

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Make the batch, and random actions for it."""
        self.close()
        self._batch = self._make(num_envs=batch, frameskip=FRAMESKIP)
        self._binding.vec_reset(self._batch.c_envs, 0)
        self._actions = np.random.default_rng(0).integers(0, 3, (length, batch)).astype(np.float32)
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Step the batch through the binding, from where it is."""
        step, handle, taken = self._binding.vec_step, self._batch.c_envs, self._batch.actions
        for _ in range(repeats):
            for row in range(length):
                taken[:] = self._actions[row]
                step(handle)
        return {}

    def vector(self, seeds: list[int], state: bool = False) -> Answer:
        """A batch to be trained in; all its games share one source of chance."""
        self.close()
        self._batch = self._make(num_envs=len(seeds), frameskip=FRAMESKIP)
        self._binding.vec_reset(self._batch.c_envs, seeds[0] % (1 << 31))
        nothing = np.zeros(len(seeds), bool)
        return {"leaves": self._leaves(np.zeros(len(seeds), np.float32), nothing), "draws": []}

    def advance(self, actions: Answer, next: list[int]) -> Answer:  # `next` is the protocol's name
        """One step. The C code begins a new game by itself, and does not show how the old one ended: nothing is learned
        from that observation, because what comes after a game's end is worth nothing."""
        batch = self._batch
        batch.actions[:] = actions["action"]
        self._binding.vec_step(batch.c_envs)
        terminated = np.array(batch.terminals, bool)
        leaves = self._leaves(np.array(batch.rewards, np.float32), terminated)
        ended = np.flatnonzero(terminated)
        final = {"observation": leaves["observation"][ended]} if len(ended) else {}
        return {"leaves": leaves, "ended": ended.tolist(), "draws": [], "final": final, "next_draws": []}

    def _leaves(self, reward: Any, terminated: Any) -> Answer:
        observed = np.array(self._batch.observations, np.float32)
        return {
            "observation": observed,
            "reward": reward,
            "terminated": terminated,
            "truncated": np.zeros(len(observed), bool),
        }

    def close(self) -> None:
        """Free the batch."""
        if self._batch is not None:
            self._batch.close()
            self._batch = None
