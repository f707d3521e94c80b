"""Lanes of a candidate: instances whose episodes go on beside each other, one step at a time or inside a training's scan.

A lane's episode is that of its seed: the key of row 0 makes the draws of the reset, that of row `t` those of step `t`, as in
every rollout. Where a tape is given its draws come first, row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.jax import tape as jax_tape
from harness.candidate.adapters.jax.batch import fitting, key_words
from harness.candidate.adapters.jax.rollout import random_key
from harness.candidate.faces.jax_env import Arrays, JaxEnv, Outputs, State, output_leaves, select
from harness.candidate.faces.leaves import OBSERVED, pack_action

Array = np.ndarray[Any, Any]


class Lane(NamedTuple):
    """One instance: its state, the words of its episode's seed `[2]`, and the number of its newest row."""

    state: State
    words: Any
    row: Any


class Forced(NamedTuple):
    """Draws from outside for one row: `values` by name, and whether they are to be taken instead of the lane's own."""

    values: Arrays
    given: Any


def reset_draws(env: JaxEnv, words: Any) -> Arrays:
    """What a reset from a seed's words draws."""
    return {"seed": words} if env.mode == "shared" else env.sample_reset(random_key(words, 0))


def begin(env: JaxEnv, words: Any, draws: Arrays) -> tuple[Lane, Outputs]:
    """A lane at the begin of an episode, with `reset_draws` or others in their place."""
    state, outputs = env.begin(draws)
    return Lane(state, words, jnp.int32(0)), outputs


def step(env: JaxEnv, lane: Lane, action: Any, forced: Forced | None = None) -> tuple[Lane, Outputs, Arrays]:
    """The next row of a lane, its outputs, and the draws that it was offered."""
    row = lane.row + 1
    draws = env.sample_step(random_key(lane.words, row), lane.state, action)
    if forced is not None and draws:
        draws = select(forced.given, forced.values, draws)
    state, outputs = env.advance(lane.state, action, draws)
    return Lane(state, lane.words, row), outputs, draws


class Lanes:
    """The calls `lanes` and `advance` of the protocol, for one candidate.

    Args:
        env: a candidate that has been checked against its contract.
        seeds: one for each lane.
        draws: a tape or None for each lane.
        state: whether answers hold the canonical state.

    Raises:
        ValueError: a tape does not fit the contract.
    """

    def __init__(self, env: JaxEnv, seeds: Sequence[int], draws: Sequence[Any] | None, state: bool) -> None:
        if not seeds or (draws is not None and len(draws) != len(seeds)):
            raise ValueError("lanes need a seed each, and a tape each where tapes are given")
        self._env, self._with_state, self._count = env, state, len(seeds)
        self._x64 = bool(env.contract.get("x64"))
        tapes = [tape or [] for tape in draws or [None] * len(seeds)]
        self._lengths = np.array([len(tape) for tape in tapes])
        longest = int(self._lengths.max())
        pack = partial(jax_tape.pack, x64=self._x64)
        first, self._first_counts = pack([t[:1] for t in tapes], env.reset_draws, "reset", 1)
        self._values, self._counts = pack([t[1:] for t in tapes], env.step_draws, "step", max(1, longest - 1))
        self._rows = np.zeros(len(seeds), np.int64)
        self._over = np.zeros(len(seeds), bool)
        words = np.stack([key_words(seed) for seed in seeds])
        forced = Forced(_as_taken({name: a[:, 0] for name, a in first.items()}, env.reset_draws), self._lengths > 0)
        self._lane, leaves, (used, drawn) = _begin_lanes(env, state, words, forced)
        self.first = {
            "leaves": _host(leaves),
            "draws": self._draws(env.reset_draws, drawn, used, [tape[:1] for tape in tapes]),
        }
        self._tapes = tapes

    def advance(self, actions: Mapping[str, Any], following: Sequence[int] | None) -> dict[str, Any]:
        """Step all lanes that are not over; with `following`, those that end begin anew from their seeds there."""
        env, count = self._env, self._count
        if following is not None and len(following) != count:
            raise ValueError(f"{len(following)} next seeds for {count} lanes")
        held = {p: fitting(p, actions.get(p), leaf, (count,), self._x64) for p, leaf in env.actions.items()}
        words = np.stack([key_words(seed) for seed in following or [0] * count])
        self._rows += 1
        taped = self._rows < self._lengths
        at = np.minimum(self._rows - 1, next(iter(self._values.values())).shape[1] - 1) if self._values else self._rows
        values = {name: array[np.arange(count), at] for name, array in self._values.items()}
        forced = Forced(_as_taken(values, env.step_draws), taped)
        lane, leaves, final, fresh = _advance_lanes(
            env, self._with_state, following is not None, self._lane, held, words, forced, self._over
        )
        self._lane = lane
        shown, (used, drawn, begun_used, begun) = _host(leaves), fresh
        stepped = ~self._over
        ended = np.flatnonzero((shown["terminated"] | shown["truncated"]) & stepped)
        tapes = [
            tape[row : row + 1] if row < len(tape) else None for tape, row in zip(self._tapes, self._rows, strict=True)
        ]
        rows = self._draws(env.step_draws, drawn, used, tapes)
        answer: dict[str, Any] = {
            "leaves": shown,
            "ended": ended.tolist(),
            "draws": [row if going else [] for row, going in zip(rows, stepped, strict=True)],
            "final": {},
            "next_draws": [],
        }
        if following is None:
            self._over[ended] = True
        elif len(ended):
            answer["final"] = {path: array[ended] for path, array in _host(final).items()}
            begun_rows = self._draws(env.reset_draws, begun, begun_used, [None] * count)
            answer["next_draws"] = [begun_rows[index] for index in ended]
            self._rows[ended], self._lengths[ended] = 0, 0
        return answer

    def _draws(self, draws: Mapping[str, Any], drawn: Any, used: Any, tapes: Sequence[Any]) -> list[Any]:
        """What each lane consumed in a row, in its tape's own order where that is what it took."""
        if not draws:
            return [[] for _ in range(self._count)]
        drawn, used = jax.device_get((drawn, used))
        values = {n: np.asarray(a) if draws[n]["capacity"] > 1 else np.asarray(a)[:, None] for n, a in drawn.items()}
        consumed = []
        for index, tape in enumerate(tapes):
            row = jax_tape.unpack(
                {name: array[index][None] for name, array in values.items()},
                {name: np.asarray(array)[index][None] for name, array in used.items()},
                draws,
                1,
            )[0]
            given = tape[0] if tape else None
            consumed.append(given if given is not None and _same_count(given, row) else row)
        return consumed


def _same_count(tape: Sequence[Any], row: Sequence[Any]) -> bool:
    return sorted(name for name, _ in tape) == sorted(name for name, _ in row)


def _as_taken(values: Mapping[str, Array], draws: Mapping[str, Any]) -> Arrays:
    return {name: array[:, 0] if draws[name]["capacity"] == 1 else array for name, array in values.items()}


def _host(leaves: Any) -> dict[str, Array]:
    return {path: np.array(array) for path, array in jax.device_get(leaves).items()}


def _shown(env: JaxEnv, outputs: Outputs, state: State, with_state: bool) -> Arrays:
    return output_leaves(outputs) | (env.encode(state) if with_state else {})


@partial(jax.jit, static_argnums=(0, 1))
def _begin_lanes(env: JaxEnv, with_state: bool, words: Any, forced: Forced) -> Any:
    def one(words: Any, forced: Forced) -> Any:
        draws = reset_draws(env, words)
        if forced.values:
            draws = select(forced.given, forced.values, draws)
        lane, outputs = begin(env, words, draws)
        taken = (env.used(outputs, env.reset_draws), draws if env.reset_draws else {})
        return lane, _shown(env, outputs, lane.state, with_state), taken

    return jax.vmap(one)(words, forced)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _advance_lanes(
    env: JaxEnv, with_state: bool, resets: bool, lanes: Lane, actions: Any, words: Any, forced: Forced, over: Any
) -> Any:
    """Lanes, leaves to act on next, leaves before the auto-reset, and what was drawn in steps and resets."""

    def one(lane: Lane, leaves: Any, words: Any, forced: Forced, over: Any) -> Any:
        stepped, outputs, draws = step(env, lane, pack_action(leaves), forced)
        stepped = select(over, lane, stepped)
        taken = (env.used(outputs, env.step_draws), draws)
        final = _shown(env, outputs, stepped.state, with_state)
        if not resets:
            return stepped, final, {}, (*taken, {}, {})
        begun_draws = reset_draws(env, words)
        fresh, first = begin(env, words, begun_draws)
        ended = outputs["terminated"] | outputs["truncated"]
        shown = _shown(env, first, fresh.state, with_state)
        seen = [path for path in final if path.split("/")[0] in (*OBSERVED, "state")]
        leaves = final | {path: jnp.where(ended, shown[path], final[path]) for path in seen}
        begun = (env.used(first, env.reset_draws), begun_draws if env.reset_draws else {})
        return select(ended, fresh, stepped), leaves, {path: final[path] for path in seen}, (*taken, *begun)

    return jax.vmap(one)(lanes, actions, words, forced, over)
