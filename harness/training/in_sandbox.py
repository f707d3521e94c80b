"""Training inside a candidate's sandbox: one segment for each call, learners in and learners out.

What comes out is only weights and a tally of what was played. Nothing is decided by that tally: a policy is judged by
episodes that the harness itself plays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.candidate.faces.jax_env import JaxEnv
from harness.task.training import PpoConfig
from harness.training.fused import FusedTrainer


class Trainer:
    """The call `train`, for one candidate and one config.

    Args:
        env: the candidate.
        config: `PpoConfig.to_json`'s description.
    """

    def __init__(self, env: JaxEnv, config: Mapping[str, Any]) -> None:
        self.config = dict(config)
        self._trainer = FusedTrainer(env, PpoConfig.from_json(config))

    def segment(
        self, learners: Mapping[str, Any], seeds: Sequence[int], segment: int, updates: int, total: int
    ) -> dict[str, Any]:
        """Train learners, whose leaves are stacked over the seeds, for one segment.

        Returns:
            `learners` as they are afterwards, and `episodes`, `returns`, `lengths`: `[seeds, segment_updates]` each.
        """
        held = self._trainer.learners(learners, len(seeds))
        held, tally = self._trainer.segment(held, seeds, segment, updates, total)
        return {"learners": self._trainer.leaves(held), **tally._asdict()}
