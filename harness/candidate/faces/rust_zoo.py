"""One instance in Rust behind PettingZoo's faces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .rust_batch import DISABLED, RustBatch
from .zoo_env import Array, Game, demand_seed


class RustGame(Game):
    """A verified environment, a batch of one instance."""

    def __init__(self, module: Any, contract: Mapping[str, Any]) -> None:
        super().__init__(contract["name"], contract["leaves"], tuple(contract.get("players", ())))
        self._batch = RustBatch(module, 1, DISABLED, 1, contract["leaves"])
        self._chance = np.random.default_rng()
        self._begun = False

    def begin(self, seed: int | None) -> dict[str, Array]:
        """See `Game.begin`."""
        demand_seed(seed)
        if seed is None and not self._begun:
            seed = int(self._chance.integers(1 << 62))
        self._begun = True
        self._batch.reset_some({0: seed})
        return self._shown()

    def advance(self, actions: Mapping[str, Any]) -> dict[str, Array]:
        """See `Game.advance`."""
        self._batch.step({path: np.asarray(action)[None] for path, action in actions.items()})
        return self._shown()

    def _shown(self) -> dict[str, Array]:
        return {path: np.array(array[0]) for path, array in (self._batch.seen | self._batch.outcome).items()}
