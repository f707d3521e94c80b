"""The loop that all backends share: segment after segment, with progress, checkpoints and a log on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate.adapters.jax.flags import prepare_process
from harness.errors import TrainingError
from harness.model import Leaves
from harness.task.training import PpoConfig
from harness.training.log import Log
from harness.training.ppo import Ppo
from harness.training.trained import Checkpoint, Played, Progress, Trained, stacked, unstacked

Report = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""


RunSegment = Callable[[Leaves, int, int, int], tuple[Leaves, Played]]
"""Trains stacked learners for one segment: (leaves, its number, its updates, updates of the whole training)."""


def train_segments(
    run: RunSegment,
    ppo: Ppo,
    steps: int,
    seeds: Sequence[int],
    *,
    backend: str,
    progress: Report,
    checkpoint: Path | None = None,
    identity: Mapping[str, Any] | None = None,
    log: Path | None = None,
) -> list[Trained]:
    """Train one policy for each seed.

    Args:
        run: the backend.
        ppo: the algorithm, which makes the learners to begin with.
        steps: environment steps for each seed; rounded up to whole updates.
        backend: its name.
        progress: called after each segment.
        checkpoint: a file to save to after each segment, and to go on from if it is there.
        identity: what else makes this training what it is; a checkpoint with another is refused.
        log: a directory for TensorBoard's event files.

    Raises:
        TrainingError: the checkpoint is of another training, or the training has diverged.
    """
    prepare_process()
    config = ppo.config
    total, segments = config.updates(steps), config.segments(steps)
    about = {"config": config.to_json(), "seeds": list(map(int, seeds)), "steps": steps, "backend": backend}
    kept = None if checkpoint is None else Checkpoint(checkpoint, about | dict(identity or {}))
    state = kept.load() if kept else None
    if state is None:
        begun = [ppo.leaves(ppo.begin(int(seed))) for seed in seeds]
        state = Progress(stacked(begun), 0, [])
    with Log(log, seeds) as written:
        for segment in range(state.segments, segments):
            updates = min(config.segment_updates, total - segment * config.segment_updates)
            progress(_progress_text(backend, state, seeds), segment, segments)
            learners, played = run(state.learners, segment, updates, total)
            _demand_finite(learners, seeds)
            returns = [float(r) / float(n) if n else None for r, n in zip(played.returns, played.episodes, strict=True)]
            best = _best(state, returns) if config.keep_best else {}
            state = Progress(learners, segment + 1, [*state.returns, returns], best)
            done = min(total, (segment + 1) * config.segment_updates) * config.steps_per_update
            written.segment(done, played)
            if kept:
                kept.save(state)
    progress(_progress_text(backend, state, seeds), segments, segments)
    return [
        Trained(
            learner=unstacked(state.best or state.learners, index),
            config=config,
            seed=int(seed),
            steps=total * config.steps_per_update,
            curve=tuple(row[index] for row in state.returns),
            backend=backend,
        )
        for index, seed in enumerate(seeds)
    ]


def demand_config(config: PpoConfig, steps: int) -> None:
    """Raise TrainingError if `steps` is less than 1."""
    if steps < 1:
        raise TrainingError(f"{steps} steps are not a training", expected=f"{config.steps_per_update} or more")


def _best(state: Progress, returns: Sequence[float | None]) -> Leaves:
    """Of each seed the learner with which its best segment began, after one with these returns; of equals the last."""
    if not state.best:
        return {name: np.array(leaf) for name, leaf in state.learners.items()}
    before = [[value for value in row if value is not None] for row in zip(*state.returns, strict=True)]
    better = [now is not None and now >= max(row, default=now) for now, row in zip(returns, before, strict=True)]
    return {
        name: np.where(np.reshape(better, (-1,) + (1,) * (leaf.ndim - 1)), leaf, state.best[name])
        for name, leaf in state.learners.items()
    }


def _progress_text(backend: str, state: Progress, seeds: Sequence[int]) -> str:
    last = [value for value in (state.returns[-1] if state.returns else []) if value is not None]
    who = "a policy" if len(seeds) == 1 else f"{len(seeds)} policies"
    return f"training {who} in the {backend}" + (f", mean return {np.mean(last):.4g}" if last else "")


def _demand_finite(learners: Leaves, seeds: Sequence[int]) -> None:
    for name, leaf in learners.items():
        if leaf.dtype.kind != "f" or np.isfinite(leaf).all():
            continue
        bad = [seed for index, seed in enumerate(seeds) if not np.isfinite(leaf[index]).all()]
        raise TrainingError(
            f"{name} holds numbers that are not finite: the training has diverged",
            where=f"seed {bad[0]}",
            next_step="lower learning_rate, or look for rewards and observations that are not finite",
        )
