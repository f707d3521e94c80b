"""Training in a candidate's sandbox: learners are sent in, trained for a segment, and taken out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import BadAnswer
from harness.model import Leaf, Leaves
from harness.protocol.environment import Environment
from harness.support.progress import silent
from harness.task.training import PpoConfig
from harness.training.policy import Policy
from harness.training.ppo import Ppo
from harness.training.segments import Report, demand_config, train_segments
from harness.training.trained import Played, Trained

SEGMENT_SECONDS = 600.0
"""How long a segment may take, the compilation in the first one included."""


def train_candidate(
    environment: Environment,
    leaves: Mapping[str, Leaf],
    config: PpoConfig,
    steps: int,
    seeds: Sequence[int],
    *,
    progress: Report = silent,
    checkpoint: Path | None = None,
    identity: Mapping[str, Any] | None = None,
    log: Path | None = None,
    players: Sequence[str] = (),
) -> list[Trained]:
    """Train one policy for each seed, all at once, in a candidate's worker that was started for `training`.

    Args:
        environment: the candidate.
        leaves: of the task.
        config, steps, seeds: how, for how long, and from which seeds to train.
        progress, checkpoint, identity, log: see `harness.training.segments.train_segments`.
        players: their names, where several play.

    Raises:
        TrainingError: see there.
        ValueError: config and environment do not fit.
        EnvironmentFailure: the worker failed, or answered with something that is not a learner.
    """
    demand_config(config, steps)
    ppo = Ppo(Policy(leaves, config, players))

    def segment(learners: Leaves, number: int, updates: int, total: int) -> tuple[Leaves, Played]:
        answer = environment.ask(
            "train",
            timeout=SEGMENT_SECONDS,
            config=config.to_json(),
            learners=dict(learners),
            seeds=[int(seed) for seed in seeds],
            segment=number,
            updates=updates,
            total=total,
        )
        return _learners(answer, learners), _played(answer, (len(seeds), config.segment_updates))

    return train_segments(
        segment,
        ppo,
        steps,
        seeds,
        backend="candidate",
        progress=progress,
        checkpoint=checkpoint,
        identity=identity,
        log=log,
    )


def _learners(answer: Any, given: Leaves) -> Leaves:
    """The learners of an answer, refused unless they have the form of those that were sent."""
    learners = answer.get("learners") if isinstance(answer, dict) else None
    if not isinstance(learners, dict) or learners.keys() != given.keys():
        raise BadAnswer("it answered without the learners that it was given", where="train")
    for name, leaf in given.items():
        found = learners[name]
        if not isinstance(found, np.ndarray) or found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise BadAnswer(f"{name} came back in another form", where="train", expected=f"{leaf.dtype} {leaf.shape}")
    return learners


def _played(answer: Mapping[str, Any], shape: tuple[int, int]) -> Played:
    sums = []
    for name in ("episodes", "returns", "lengths"):
        found = answer.get(name)
        if not isinstance(found, np.ndarray) or found.shape != shape or found.dtype != np.float32:
            raise BadAnswer(f"`{name}` is not as it should be", where="train", expected=f"float32 {list(shape)}")
        if not np.isfinite(found).all():
            raise BadAnswer(f"`{name}` holds numbers that are not finite", where="train")
        sums.append(found.astype(np.float64).sum(1))
    return Played(*sums)
