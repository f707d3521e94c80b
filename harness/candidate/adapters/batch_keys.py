"""The keys of an auto-resetting batch, of both forms that users have: split off other keys, and made of numbers.

Split keys are 64 random bits. `jax.random.key(7)`, or a seed of a crate's batch, leaves the upper 32 bits 0. A candidate
that only ever saw the first form could be another one for everybody who begins with the second.

This module imports neither JAX nor the harness.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_BEGINNING = 31
"""Numbers begin below 2 to this power, and rather at small ones, as people choose them."""


def batch_key_data(seed: int, steps: int, envs: int) -> np.ndarray[Any, Any]:
    """Key data of a batch: of its resets, then of each step; uint32 `[steps + 1, envs, 2]`, the high 32 bits first.

    Every other key is made of a number, in each sub-environment and in each step. No two of those are the same: a key that
    comes twice would draw the same twice.
    """
    rng = np.random.default_rng(seed)
    # Random key data makes keys as good as those that JAX would split off, and cost nothing to compile.
    key_data = rng.integers(0, 1 << 32, (steps + 1, envs, 2), np.uint32)
    numbered = (np.arange(steps + 1)[:, None] + np.arange(envs)) % 2 == 0
    beginning = np.uint32(2 ** rng.uniform(0, MOST_BEGINNING))
    key_data[numbered, 0] = 0
    key_data[numbered, 1] = beginning + np.arange(np.count_nonzero(numbered), dtype=np.uint32)
    return key_data
