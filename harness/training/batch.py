"""Lanes of an environment in Rust in this process, for `train_host`: an exported package's, or one that is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.candidate.adapters.rust.lanes import RustLanes
from harness.model import Leaves, Tape
from harness.protocol.lanes import LaneStep
from harness.training.host import LanesFactory


def batch_lanes(module: Any) -> LanesFactory:
    """Begins lanes in an extension module: that of an exported package is its `lockstep_binding`."""
    return lambda seeds: BatchLanes(module, seeds)


class BatchLanes:
    """Episodes in one batch; neither their states nor their draws are told.

    Args:
        module: an environment's extension module.
        seeds: of the first episodes, one for each lane.

    Attributes:
        leaves: outputs at the begin, each `[N, ...]`.
        draws: an empty row for each lane.
    """

    def __init__(self, module: Any, seeds: Sequence[int]) -> None:
        self._lanes = RustLanes(module, seeds)
        self.leaves: Leaves = self._lanes.first["leaves"]
        self.draws: Tape = ((),) * len(seeds)

    @property
    def count(self) -> int:
        """How many lanes there are."""
        return self._lanes.count

    def advance(self, actions: Leaves, following: Sequence[int] | None = None) -> LaneStep:
        """Step all lanes that are not over; with `following`, those that end begin anew from their seeds there."""
        answer = self._lanes.advance(actions, following)
        ended = np.zeros(self.count, bool)
        ended[answer["ended"]] = True
        begun: Tape = ((),) * len(answer["next_draws"])
        return LaneStep(answer["leaves"], ended, answer["final"], self.draws, begun)
