"""All chance of a verification: one seed, and a stream of its own for each purpose."""

from __future__ import annotations

import hashlib

import numpy as np


class Streams:
    """Named streams of one run's seed, so that a recorded seed repeats a verdict in whatever order the checks ran."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def derive(self, stream: str) -> int:
        """A seed (63 bits) for one named purpose."""
        return int.from_bytes(hashlib.sha256(f"{self.seed}/{stream}".encode()).digest()[:8], "big") >> 1

    def random(self, stream: str) -> np.random.Generator:
        """A generator of its own for one named purpose."""
        return np.random.default_rng(self.derive(stream))

    def seeds(self, stream: str, count: int) -> list[int]:
        """`count` seeds for environments, no two of them the same: episodes of one seed would not be independent."""
        rng = self.random(stream)
        seeds: dict[int, None] = {}
        while len(seeds) < count:
            seeds.update(dict.fromkeys(rng.integers(0, 1 << 31, count - len(seeds)).tolist()))
        return list(seeds)
