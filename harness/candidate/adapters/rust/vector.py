"""Sub-environments of a candidate in Rust: episodes that run side by side in one batch, each with the chance of its
seed.

The batch is that of users, with auto-reset disabled: a sub-environment that ends restarts from the seed that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.candidate.adapters.rust.watched import as_taken
from harness.candidate.faces.rust_batch import DISABLED, STATE, RustBatch

Array = np.ndarray[Any, Any]


class RustVectorCalls:
    """The calls `vector` and `advance` of the protocol.

    Args:
        module: a candidate's extension module.
        seeds: of the first episodes, one for each sub-environment.
        tapes: of draws to take first, timestep by timestep, or None for each sub-environment.
        state: whether answers hold the canonical state.
        noted: whether they tell what was drawn.
        fixed: values of draws, by name, that every reset without a tape takes instead of its own.

    Attributes:
        first: the answer at the begin of the episodes.
    """

    def __init__(
        self,
        module: Any,
        seeds: Sequence[int],
        tapes: Sequence[Any] | None = None,
        *,
        state: bool = False,
        noted: bool = False,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        self._batch = RustBatch(module, len(seeds), DISABLED)
        self._all = np.arange(len(seeds))
        self._state, self._noted, self._fixed = state, noted, fixed or {}
        if noted:
            for env_index, tape in enumerate(tapes or [None] * len(seeds)):
                self._batch.vector.watch(env_index, [as_taken(timestep) for timestep in tape or ()])
        self._batch.reset(seeds)
        self._fix(
            {env_index: seed for env_index, seed in enumerate(seeds) if tapes is None or tapes[env_index] is None}
        )
        _, begun = self._drawn(self._all)
        self.first = {"leaves": self._basic() | self._shown(self._all), "draws": begun}

    @property
    def count(self) -> int:
        """How many sub-environments there are."""
        return len(self._all)

    def advance(self, actions: Mapping[str, Array], following: Sequence[int] | None = None) -> dict[str, Any]:
        """Step all sub-environments that are not over; with `following`, those that end restart from their seeds
        there.
        """
        batch = self._batch
        batch.step(actions)
        # A sub-environment that rests neither terminates nor is truncated.
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        basic, shown, (drawn, _) = self._basic(), self._shown(self._all), self._drawn(self._all)
        final: dict[str, Array] = {}
        begun: list[Any] = []
        if following is not None and len(ended):
            final = {path: array[ended] for path, array in shown.items()}
            if self._noted:
                for env_index in ended:
                    batch.vector.watch(env_index, [])  # the rest of its tape was for the episode that ended
            fresh = {env_index: following[env_index] for env_index in ended.tolist()}
            batch.reset_some(fresh)
            self._fix(fresh)
            for path, array in self._shown(ended).items():
                shown[path][ended] = array
            _, begun = self._drawn(ended)
        return {
            "leaves": basic | shown,
            "ended": ended.tolist(),
            "draws": drawn,
            "final": final,
            "next_draws": begun,
        }

    def _fix(self, begun: Mapping[int, int]) -> None:
        """Let sub-environments that have just begun from these seeds begin again, with what is fixed instead of what they
        drew.
        """
        if not self._fixed:
            return
        vector = self._batch.vector
        for env_index in begun:
            drawn = vector.report(env_index)[1]
            missing = sorted(set(self._fixed) - {name for name, _ in drawn})
            if missing:
                raise ValueError(f"the reset draws no {', '.join(missing)}, which was to be fixed")
            timestep = [
                (name, np.asarray(self._fixed.get(name, value), np.asarray(value).dtype)) for name, value in drawn
            ]
            vector.watch(env_index, [as_taken(timestep)])
        self._batch.reset_some(begun)

    def _basic(self) -> dict[str, Array]:
        return {path: array.copy() for path, array in self._batch.outcome.items()}

    def _shown(self, env_indices: Array) -> dict[str, Array]:
        """What these sub-environments see, and their states where they are asked for."""
        seen = {path: array[env_indices] for path, array in self._batch.seen.items()}
        if not self._state:
            return seen
        states = zip(*(self._batch.vector.state(env_index) for env_index in env_indices), strict=True)
        return seen | {
            STATE + path: np.stack(timesteps) for path, timesteps in zip(self._batch.state_paths, states, strict=True)
        }

    def _drawn(self, env_indices: Array) -> tuple[list[Any], list[Any]]:
        """What each of these sub-environments drew in its last step, and in its last reset, since it was last asked."""
        if not self._noted:
            return [[]] * len(env_indices), [[]] * len(env_indices)
        report = [self._batch.vector.report(env_index) for env_index in env_indices]
        stepped, begun = ([[list(draw) for draw in timestep[at]] for timestep in report] for at in (0, 1))
        return stepped, begun
