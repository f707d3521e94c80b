"""Sub-environments of an environment in Rust in this process, for `train_host`: an exported package's, or one that is
trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.candidate.adapters.rust.vector import RustVectorCalls
from harness.model import Leaves, Tape
from harness.protocol.vector import VectorStep
from harness.training.host import VectorFactory


def batch_vector_env(module: Any) -> VectorFactory:
    """Begins sub-environments in an extension module: that of an exported package is its `lockstep_binding`."""
    return lambda seeds: BatchVectorEnv(module, seeds)


class BatchVectorEnv:
    """Episodes in one batch; neither their states nor their draws are reported.

    Args:
        module: an environment's extension module.
        seeds: of the first episodes, one for each sub-environment.

    Attributes:
        leaves: outputs at the begin, each `[N, ...]`.
        draws: an empty list for each sub-environment.
    """

    def __init__(self, module: Any, seeds: Sequence[int]) -> None:
        self._vector = RustVectorCalls(module, seeds)
        self.leaves: Leaves = self._vector.first["leaves"]
        self.draws: Tape = ((),) * len(seeds)

    @property
    def count(self) -> int:
        """How many sub-environments there are."""
        return self._vector.count

    def advance(self, actions: Leaves, following: Sequence[int] | None = None) -> VectorStep:
        """Step all sub-environments that are not over; with `following`, those that end restart from their seeds
        there.
        """
        answer = self._vector.advance(actions, following)
        ended = np.zeros(self.count, bool)
        ended[answer["ended"]] = True
        begun: Tape = ((),) * len(answer["next_draws"])
        return VectorStep(answer["leaves"], ended, answer["final"], self.draws, begun)
