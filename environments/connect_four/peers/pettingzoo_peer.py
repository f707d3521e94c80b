"""PettingZoo's own connect_four_v3, in the reference's environment: many games, moved one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo.classic.connect_four.connect_four import env as make

Answer = dict[str, Any]


class PettingZoo:
    """Answers the calls of a measured run (docs/profiling.md)."""

    answers_batches = True

    def __init__(self) -> None:
        self._games: list[Any] = []

    def open(self, options: Answer) -> Answer:
        """What it can do; a game is Python, and uses one processor."""
        return {"kinds": ["step"], "cores": 1}

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Begin the games."""
        self.close()
        self._games = [make() for _ in range(batch)]
        for game in self._games:
            game.reset()
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Random legal moves in each game, from where it is; a game that is over begins anew."""
        chance = np.random.default_rng(seed)
        for _ in range(repeats):
            for ranks in chance.random((length, batch)).tolist():
                for game, rank in zip(self._games, ranks, strict=True):
                    seen, _, terminated, truncated, _ = game.last()
                    if terminated or truncated:
                        game.reset()
                        seen = game.last()[0]
                    legal = seen["action_mask"].nonzero()[0]
                    game.step(int(legal[int(rank * len(legal))]))
        return {}

    def close(self) -> None:
        """End the games."""
        for game in self._games:
            game.close()
        self._games = []
