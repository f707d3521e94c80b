"""Sub-environments of a candidate: instances whose episodes run side by side, one step at a time or inside a
training's scan.

A sub-environment's episode is that of its seed: the key of timestep 0 makes the draws of the reset, that of timestep `t`
those of step `t`, as in every rollout. Where a tape is given its draws come first, timestep by timestep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.jax import tape as jax_tape
from harness.candidate.adapters.jax.batch import fitting, key_data_of
from harness.candidate.adapters.jax.rollout import random_key
from harness.candidate.faces.jax_env import Arrays, JaxEnv, Outputs, State, output_leaves
from harness.candidate.faces.leaves import OBSERVED, pack_action
from harness.candidate.faces.restarts import restarted, select

Array = np.ndarray[Any, Any]


class SubEnv(NamedTuple):
    """One instance: its state, the key data of its episode's seed `[2]`, and the number of its newest timestep."""

    state: State
    key_data: Any
    timestep: Any


class Forced(NamedTuple):
    """Draws from outside for one timestep: `values` by name, and whether they are to be taken instead of the
    sub-environment's own.
    """

    values: Arrays
    given: Any


def reset_draws(env: JaxEnv, key_data: Any) -> Arrays:
    """What a reset from a seed's key data draws."""
    return {"seed": key_data} if env.mode == "shared" else env.sample_reset(random_key(key_data, 0))


def begin(env: JaxEnv, key_data: Any, draws: Arrays) -> tuple[SubEnv, Outputs]:
    """A sub-environment at the begin of an episode, with `reset_draws` or others in their place."""
    state, outputs = env.begin(draws)
    return SubEnv(state, key_data, jnp.int32(0)), outputs


def step(env: JaxEnv, sub_env: SubEnv, action: Any, forced: Forced | None = None) -> tuple[SubEnv, Outputs, Arrays]:
    """The next timestep of a sub-environment, its outputs, and the draws that it was offered."""
    timestep = sub_env.timestep + 1
    draws = env.sample_step(random_key(sub_env.key_data, timestep), sub_env.state, action)
    if forced is not None and draws:
        draws = select(forced.given, forced.values, draws)
    state, outputs = env.advance(sub_env.state, action, draws)
    return SubEnv(state, sub_env.key_data, timestep), outputs, draws


class JaxVectorCalls:
    """The calls `vector` and `advance` of the protocol, for one candidate.

    Args:
        env: a candidate that has been checked against its contract.
        seeds: one for each sub-environment.
        draws: a tape or None for each sub-environment.
        state: whether answers hold the canonical state.

    Raises:
        ValueError: a tape does not fit the contract.
    """

    def __init__(self, env: JaxEnv, seeds: Sequence[int], draws: Sequence[Any] | None, state: bool) -> None:
        if not seeds or (draws is not None and len(draws) != len(seeds)):
            raise ValueError("sub-environments need a seed each, and a tape each where tapes are given")
        self._env, self._with_state, self._count = env, state, len(seeds)
        self._x64 = bool(env.contract.get("x64"))
        tapes = [tape or [] for tape in draws or [None] * len(seeds)]
        self._lengths = np.array([len(tape) for tape in tapes])
        longest = int(self._lengths.max())
        pack = partial(jax_tape.pack, x64=self._x64)
        first, self._first_counts = pack([t[:1] for t in tapes], env.reset_draws, "reset", 1)
        self._values, self._counts = pack([t[1:] for t in tapes], env.step_draws, "step", max(1, longest - 1))
        self._timesteps = np.zeros(len(seeds), np.int64)
        self._over = np.zeros(len(seeds), bool)
        key_data = np.stack([key_data_of(seed) for seed in seeds])
        forced = Forced(_as_taken({name: a[:, 0] for name, a in first.items()}, env.reset_draws), self._lengths > 0)
        self._sub_envs, leaves, (used, drawn) = _begin_vector(env, state, key_data, forced)
        self.first = {
            "leaves": _host(leaves),
            "draws": self._draws(env.reset_draws, drawn, used, [tape[:1] for tape in tapes]),
        }
        self._tapes = tapes

    def advance(self, actions: Mapping[str, Any], following: Sequence[int] | None) -> dict[str, Any]:
        """Step all sub-environments that are not over; with `following`, those that end restart from their seeds
        there.
        """
        env, count = self._env, self._count
        if following is not None and len(following) != count:
            raise ValueError(f"{len(following)} next seeds for {count} sub-environments")
        held = {p: fitting(p, actions.get(p), leaf, (count,), self._x64) for p, leaf in env.actions.items()}
        key_data = np.stack([key_data_of(seed) for seed in following or [0] * count])
        self._timesteps += 1
        taped = self._timesteps < self._lengths
        at = (
            np.minimum(self._timesteps - 1, next(iter(self._values.values())).shape[1] - 1)
            if self._values
            else self._timesteps
        )
        values = {name: array[np.arange(count), at] for name, array in self._values.items()}
        forced = Forced(_as_taken(values, env.step_draws), taped)
        sub_env, leaves, final, fresh = _advance_vector(
            env, self._with_state, following is not None, self._sub_envs, held, key_data, forced, self._over
        )
        self._sub_envs = sub_env
        shown, (used, drawn, begun_used, begun) = _host(leaves), fresh
        stepped = ~self._over
        ended = np.flatnonzero((shown["terminated"] | shown["truncated"]) & stepped)
        tapes = [
            tape[timestep : timestep + 1] if timestep < len(tape) else None
            for tape, timestep in zip(self._tapes, self._timesteps, strict=True)
        ]
        timesteps = self._draws(env.step_draws, drawn, used, tapes)
        answer: dict[str, Any] = {
            "leaves": shown,
            "ended": ended.tolist(),
            "draws": [timestep if going else [] for timestep, going in zip(timesteps, stepped, strict=True)],
            "final": {},
            "next_draws": [],
        }
        if following is None:
            self._over[ended] = True
        elif len(ended):
            answer["final"] = {path: array[ended] for path, array in _host(final).items()}
            begun_timesteps = self._draws(env.reset_draws, begun, begun_used, [None] * count)
            answer["next_draws"] = [begun_timesteps[index] for index in ended]
            self._timesteps[ended], self._lengths[ended] = 0, 0
        return answer

    def _draws(self, draws: Mapping[str, Any], drawn: Any, used: Any, tapes: Sequence[Any]) -> list[Any]:
        """What each sub-environment consumed in a timestep, in its tape's own order where that is what it took."""
        if not draws:
            return [[] for _ in range(self._count)]
        drawn, used = jax.device_get((drawn, used))
        values = {n: np.asarray(a) if draws[n]["capacity"] > 1 else np.asarray(a)[:, None] for n, a in drawn.items()}
        consumed = []
        for index, tape in enumerate(tapes):
            timestep = jax_tape.unpack(
                {name: array[index][None] for name, array in values.items()},
                {name: np.asarray(array)[index][None] for name, array in used.items()},
                draws,
                1,
            )[0]
            given = tape[0] if tape else None
            consumed.append(given if given is not None and _same_count(given, timestep) else timestep)
        return consumed


def _same_count(tape: Sequence[Any], timestep: Sequence[Any]) -> bool:
    return sorted(name for name, _ in tape) == sorted(name for name, _ in timestep)


def _as_taken(values: Mapping[str, Array], draws: Mapping[str, Any]) -> Arrays:
    return {name: array[:, 0] if draws[name]["capacity"] == 1 else array for name, array in values.items()}


def _host(leaves: Any) -> dict[str, Array]:
    return {path: np.array(array) for path, array in jax.device_get(leaves).items()}


def _shown(env: JaxEnv, outputs: Outputs, state: State, with_state: bool) -> Arrays:
    return output_leaves(outputs) | (env.encode(state) if with_state else {})


@partial(jax.jit, static_argnums=(0, 1))
def _begin_vector(env: JaxEnv, with_state: bool, key_data: Any, forced: Forced) -> Any:
    def one(key_data: Any, forced: Forced) -> Any:
        draws = reset_draws(env, key_data)
        if forced.values:
            draws = select(forced.given, forced.values, draws)
        sub_env, outputs = begin(env, key_data, draws)
        taken = (env.used(outputs, env.reset_draws), draws if env.reset_draws else {})
        return sub_env, _shown(env, outputs, sub_env.state, with_state), taken

    return jax.vmap(one)(key_data, forced)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _advance_vector(
    env: JaxEnv,
    with_state: bool,
    resets: bool,
    sub_envs: SubEnv,
    actions: Any,
    key_data: Any,
    forced: Forced,
    over: Any,
) -> Any:
    """Sub-environments, leaves to act on next, leaves before the auto-reset, and what was drawn in steps and resets."""

    def one(sub_env: SubEnv, leaves: Any, key_data: Any, forced: Forced, over: Any) -> Any:
        stepped, outputs, draws = step(env, sub_env, pack_action(leaves), forced)
        stepped = select(over, sub_env, stepped)
        taken = (env.used(outputs, env.step_draws), draws)
        final = _shown(env, outputs, stepped.state, with_state)
        if not resets:
            return stepped, final, {}, (*taken, {}, {})
        seen = {path: leaf for path, leaf in final.items() if path.split("/")[0] in (*OBSERVED, "state")}

        def anew(key_data: Any) -> Any:
            draws = reset_draws(env, key_data)
            fresh, first = begin(env, key_data, draws)
            shown = _shown(env, first, fresh.state, with_state)
            begun = (env.used(first, env.reset_draws), draws if env.reset_draws else {})
            return fresh, ({path: shown[path] for path in seen}, begun)

        none = jax.tree.map(jnp.zeros_like, jax.eval_shape(anew, key_data)[1][1])
        ended = outputs["terminated"] | outputs["truncated"]
        after, (first, begun) = restarted(ended, anew, key_data, stepped, (seen, none))
        return after, final | first, seen, (*taken, *begun)

    return jax.vmap(one)(sub_envs, actions, key_data, forced, over)
