"""The face that Gymnasium's vector environments have, in Rust."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from .leaves import nested
from .rust_batch import RustBatch
from .vector_env import Stepped, SteppedVectorEnv

Array = np.ndarray[Any, Any]


class RustVectorEnv(SteppedVectorEnv):
    """`num_envs` instances of a verified environment, stepped together on many threads.

    Args:
        module: a candidate's extension module.
        leaves: of the environment's contract, by path.
        num_envs, autoreset_mode: see `SteppedVectorEnv`, which has all that users call.
        threads: on how many threads; 0 takes one for each processor.
        copy: whether each call hands out arrays of its own. Without it they are those of the batch, which the next call
            writes to.
    """

    def __init__(
        self,
        module: Any,
        leaves: Mapping[str, Any],
        num_envs: int,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 0,
        copy: bool = True,
    ) -> None:
        super().__init__(leaves, num_envs, autoreset_mode)
        self.batch = RustBatch(module, num_envs, self.autoreset_mode.name.lower(), threads)
        self._handed: Callable[[Array], Array] = np.array if copy else np.asarray

    def _begin(self, seeds: Sequence[int | None], mask: Array) -> None:
        if not self._begun:
            # The chance of instances that never began is the same for all.
            drawn_seeds = self.np_random.integers(0, 1 << 64, self.num_envs, np.uint64).tolist()
            seeds = [drawn_seed if seed is None else seed for drawn_seed, seed in zip(drawn_seeds, seeds, strict=True)]
        self.batch.reset_some({index: seeds[index] for index in np.flatnonzero(mask).tolist()})

    def _advance(self, actions: Mapping[str, Array], ended: Array) -> Stepped:
        batch = self.batch
        batch.step(actions)
        return Stepped(*(self._named(batch.outcome, name) for name in Stepped._fields))

    def _seen(self, name: str) -> Any:
        return self._named(self.batch.seen, name)

    def _final(self, name: str) -> Any:
        return self._named(self.batch.last, name)

    def _named(self, seen: Mapping[str, Array], name: str) -> Any:
        return nested(seen, name, self._handed)
