"""Training in a JAX environment of this process: an exported candidate, or one that is trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate.faces.jax_env import JaxEnv
from harness.model import Leaves
from harness.support.progress import silent
from harness.task.training import PpoConfig
from harness.training.fused import FusedTrainer
from harness.training.segments import Report, demand_config, train_segments
from harness.training.trained import Played, Trained


def train_local(
    env: JaxEnv,
    config: PpoConfig,
    steps: int,
    seeds: Sequence[int],
    *,
    progress: Report = silent,
    checkpoint: Path | None = None,
    identity: Mapping[str, Any] | None = None,
    log: Path | None = None,
) -> list[Trained]:
    """Train one policy for each seed, all at once, in this process; see `harness.training.remote.train_candidate`."""
    demand_config(config, steps)
    trainer = FusedTrainer(env, config)

    def segment(learners: Leaves, number: int, updates: int, total: int) -> tuple[Leaves, Played]:
        held, tally = trainer.segment(trainer.learners(learners, len(seeds)), seeds, number, updates, total)
        return trainer.leaves(held), Played(*(np.asarray(part, np.float64).sum(1) for part in tally))

    return train_segments(
        segment,
        trainer.ppo,
        steps,
        seeds,
        backend="candidate",
        progress=progress,
        checkpoint=checkpoint,
        identity=identity,
        log=log,
    )
