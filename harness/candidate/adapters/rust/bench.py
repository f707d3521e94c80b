"""Measured runs of a candidate in Rust: what `harness.measure.profile` times, from inside the sandbox.

A run is the batch that users have under random actions, with auto-reset, on all processors. `step` is a loop of Python over
steps; `scan` is the same here, since a step of the whole batch is one call into Rust either way. As in JAX the answer
is the sums of the outputs of some steps, of which the last depends on all others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from harness.candidate.adapters.bench_random import (
    added_up,
    checked_steps,
    random_action,
    random_bits,
    random_legal,
    run_key_data,
    step_key_data,
)
from harness.candidate.faces.leaves import mask_of
from harness.candidate.faces.rust_batch import SAME_STEP, RustBatch, seeds_of

Answer = dict[str, Any]
Array = np.ndarray[Any, Any]
Look = Callable[[int, RustBatch], None]
AHEAD = 1 << 14
"""So many actions are drawn at once: a call of NumPy for each step would take longer than the step of a small batch."""


class RustBench:
    """The measured runs of one candidate; batches stay made.

    Args:
        module: its extension module.
        actions: the action leaves of the contract, by path.
    """

    def __init__(self, module: ModuleType, actions: Mapping[str, Mapping[str, Any]]) -> None:
        self._module, self._actions = module, actions
        self._batches: dict[int, RustBatch] = {}

    def prepare(self, batch: int) -> Answer:
        """Make the batch of a run."""
        self._batches.setdefault(batch, RustBatch(self._module, batch, SAME_STEP))
        return {"platform": "cpu", "device": "cpu", "devices": len(os.sched_getaffinity(0))}

    def run(self, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Do a run that was prepared: the sums of each repetition, uint32 `[repeats, batch]`."""
        sums = np.zeros((repeats, batch), np.uint32)
        for repeat in range(repeats):
            key_data = run_key_data(seed, repeat)
            # Timesteps may stand there twice, as they do where the verifier adds up.
            chosen = np.bincount(checked_steps(key_data, length), minlength=length).astype(np.uint32)
            for timestep, shown in enumerate(self._played(self._batches[batch], key_data, length)):
                if chosen[timestep]:
                    sums[repeat] += chosen[timestep] * added_up(shown, batch)
        return {"sums": sums}

    def bench_envs(
        self, batch: int, length: int, seed: int, repeat: int, env_indices: Sequence[int], look: Look
    ) -> Answer:
        """The outputs and the actions of some sub-environments in a repetition that is played again, `[length, num_envs,
        ...]`; `look` sees each timestep, from the reset on.
        """
        watched = RustBatch(self._module, batch, SAME_STEP)
        shown = list(env_indices)
        for env_index in shown:
            watched.vector.watch(env_index, [])
        taken: list[Mapping[str, Array]] = []
        key_data, timesteps = run_key_data(seed, repeat), []
        for outputs in self._played(watched, key_data, length, look, taken):
            timesteps.append({path: leaf[shown] for path, leaf in outputs.items()})
        return {
            "outputs": {path: np.stack([timestep[path] for timestep in timesteps]) for path in timesteps[0]},
            "actions": {path: np.stack([timestep[path][shown] for timestep in taken]) for path in self._actions},
        }

    def _played(
        self, batch: RustBatch, key_data: Array, length: int, look: Look | None = None, taken: list[Any] | None = None
    ) -> Iterator[Mapping[str, Array]]:
        """A repetition, step by step: what is seen after each, in arrays that the next one writes to."""
        env_indices = np.arange(batch.count, dtype=np.uint32)
        first, second = step_key_data(key_data, env_indices, np.uint32(0))
        batch.reset(seeds_of(np.stack(np.broadcast_arrays(first, second), -1)))
        if look is not None:
            look(0, batch)
        shown = {**batch.outcome, **batch.seen}
        for timestep, drawn in enumerate(self._drawn(batch, key_data, env_indices, length), 1):
            actions = {path: self._action(path, held, batch) for path, held in drawn.items()}
            if taken is not None:
                taken.append(actions)
            batch.step(actions)
            if look is not None:
                look(timestep, batch)
            yield shown

    def _drawn(self, batch: RustBatch, key_data: Array, env_indices: Array, length: int) -> Iterator[dict[str, Array]]:
        """For each step the action leaves; of those with a mask of legal values, what they are chosen by."""
        together = max(1, AHEAD // batch.count)
        for begin in range(1, length + 1, together):
            timesteps = np.arange(begin, min(begin + together, length + 1), dtype=np.uint32)[:, None]
            where = (key_data, env_indices, timesteps)
            ahead = {
                path: random_bits(number, *where)
                if mask_of(path) in batch.seen
                else random_action(np, number, leaf, *where, None).astype(leaf["dtype"], copy=False)
                for number, (path, leaf) in enumerate(self._actions.items())
            }
            for row in range(len(timesteps)):
                yield {path: rows[row] for path, rows in ahead.items()}

    def _action(self, path: str, held: Array, batch: RustBatch) -> Array:
        leaf, legal = self._actions[path], batch.seen.get(mask_of(path))
        if legal is None:
            return held
        return random_legal(np, leaf, held, legal).astype(leaf["dtype"], copy=False)
