"""Playing cases with a candidate in three ways that must agree: step by step, batched, and batched inside a scan.

Batches and lengths are padded up to a few sizes, so that a new length compiles nothing new. Whatever is computed past an
episode's end or in place of padding is cut off on the host, so that it cannot be seen in an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.jax import tape as jax_tape
from harness.candidate.adapters.jax.batch import Array, Batch, Case, bucket, length_of, size_within
from harness.candidate.faces.jax_env import Arrays, JaxEnv, State, output_leaves
from harness.candidate.faces.leaves import OF_STEP, pack_action, root

Draws = Mapping[str, Mapping[str, Any]]
Part = tuple[dict[str, Array], dict[str, Array], dict[str, Array]]
"""Timesteps of a batch: leaves, how many of each draw were used, and the values of sampled draws; all `[cases, timesteps,
...]`.
"""

MAX_CHUNK_BYTES = 128 << 20
"""Of the timesteps of a batch with its padding. While it is answered there are several times as many: as they come, put
together, in columns, and on the wire.
"""


def rollout(env: JaxEnv, cases: Sequence[Case], mode: str, room: Sequence[int] = (0, 0)) -> list[dict[str, Any]]:
    """Answers to cases, in their order: `{"leaves": {path: [timesteps, ...]}, "draws": timesteps}`.

    The draws of a timestep are a list of `[name, value]`; empty timesteps at the end are left out.

    Args:
        env: a candidate that has been checked against its contract.
        cases: `seed` and `actions`, and where they have them `start` and `draws`, as the protocol gives them.
        mode: `single`, `batched` or `scanned`.
        room: cases, and steps in each, for which there is to be room in a batch however few there are, as far as memory is
            allowed.

    Raises:
        ValueError: there is no such mode, or a case does not fit the contract.
    """
    ways = {"single": _single, "batched": _batched, "scanned": _scanned}
    if mode not in ways:
        raise ValueError(f"there is no mode {mode!r}; expected one of {sorted(ways)}")
    answers: list[Any] = [None] * len(cases)
    timestep_bytes = _timestep_bytes(env)
    for chunk in _chunks(timestep_bytes, cases, one_by_one=mode == "single"):
        played = [cases[index] for index in chunk]
        allowed = size_within(_together(timestep_bytes, length_of(played[-1])))
        batch = Batch(env, played, padded=mode != "single", room=(min(room[0], allowed), room[1]))
        first, *rest = ways[mode](env, batch)
        for index, answer in zip(chunk, _answers(env, batch, first, rest), strict=True):
            answers[index] = answer
    return answers


def _chunks(timestep_bytes: int, cases: Sequence[Case], one_by_one: bool) -> Iterator[list[int]]:
    """Indices of cases that are played together: of one kind and of like length, the longest last, within the memory
    allowed.
    """
    kinds: dict[Any, list[int]] = {}
    for index in sorted(range(len(cases)), key=lambda index: length_of(cases[index])):
        kinds.setdefault((cases[index].get("start") is None, cases[index].get("draws") is None), []).append(index)
    for indices in kinds.values():
        chunk: list[int] = []
        for index in indices:
            if chunk and (one_by_one or bucket(len(chunk) + 1) > _together(timestep_bytes, length_of(cases[index]))):
                yield chunk
                chunk = []
            chunk.append(index)
        yield chunk


def _timestep_bytes(env: JaxEnv) -> int:
    leaves = sum(_bytes(leaf) for leaf in env.leaves.values())
    return leaves + sum(draw["capacity"] * _bytes(draw) for draw in env.step_draws.values())


def _together(timestep_bytes: int, length: int) -> int:
    """How many cases of a length fit into the memory allowed."""
    return max(1, MAX_CHUNK_BYTES // ((length + 1) * timestep_bytes))


def _bytes(leaf: Mapping[str, Any]) -> int:
    return int(np.prod(leaf["shape"], dtype=np.int64)) * np.dtype(leaf["dtype"]).itemsize


# --- compiled functions -----------------------------------------------------------------------------------------------


def random_key(key_data: Any, *path: Any) -> jax.Array:
    """The key from a seed's key data, folded with the numbers of `path`."""
    key = jax.random.wrap_key_data(key_data, impl="threefry2x32")
    for number in path:
        key = jax.random.fold_in(key, number)
    return key


def begin(env: JaxEnv, kind: tuple[bool, bool], key_data: Any, first: Arrays) -> tuple[State, Any]:
    """State and timestep 0 of one instance."""
    started, given = kind
    if started:
        state = env.decode(first)
        rest = {
            path: jnp.zeros(tuple(leaf["shape"]), leaf["dtype"])
            for path, leaf in env.leaves.items()
            if root(path) in OF_STEP
        }
        used = {name: jnp.int32(0) for name in env.reset_draws}
        return state, (output_leaves(env.module.observe(state)) | rest | env.encode(state), used, {})
    draws = first if given else env.sample_reset(random_key(key_data, 0))
    state, outputs = env.begin(draws)
    leaves = output_leaves(outputs) | env.encode(state)
    return state, (leaves, env.used(outputs, env.reset_draws), {} if given else draws)


def advance(env: JaxEnv, given: bool, state: State, key_data: Any, step: Any) -> tuple[State, Any]:
    """State and next timestep of one instance."""
    action = pack_action(step["action"])
    draws = step["draws"] if given else env.sample_step(random_key(key_data, step["timestep"]), state, action)
    state, outputs = env.advance(state, action, draws)
    leaves = output_leaves(outputs) | env.encode(state)
    return state, (leaves, env.used(outputs, env.step_draws), {} if given else draws)


def scan(env: JaxEnv, given: bool, carry: tuple[State, Any], key_data: Any, steps: Any) -> Any:
    """Several steps of one instance, and whether it ended in one of them."""

    def body(carry: tuple[State, Any], step: Any) -> Any:
        state, done = carry
        stepped, timestep = advance(env, given, state, key_data, step)
        return (stepped, done | timestep[0]["terminated"] | timestep[0]["truncated"]), timestep

    return jax.lax.scan(body, carry, steps)


@partial(jax.jit, static_argnums=(0, 1))
def begin_one(env: JaxEnv, kind: tuple[bool, bool], key_data: Any, first: Any) -> Any:
    return begin(env, kind, key_data, first)


@partial(jax.jit, static_argnums=(0, 1))
def begin_batch(env: JaxEnv, kind: tuple[bool, bool], key_data: Any, first: Any) -> Any:
    return jax.vmap(partial(begin, env, kind))(key_data, first)


@partial(jax.jit, static_argnums=(0, 1))
def advance_one(env: JaxEnv, given: bool, state: State, key_data: Any, step: Any) -> Any:
    return advance(env, given, state, key_data, step)


@partial(jax.jit, static_argnums=(0, 1))
def advance_batch(env: JaxEnv, given: bool, state: State, key_data: Any, step: Any) -> Any:
    return jax.vmap(partial(advance, env, given))(state, key_data, step)


@partial(jax.jit, static_argnums=(0, 1))
def scan_batch(env: JaxEnv, given: bool, carry: Any, key_data: Any, steps: Any) -> Any:
    return jax.vmap(partial(scan, env, given))(carry, key_data, steps)


# --- the three ways ---------------------------------------------------------------------------------------------------


def _single(env: JaxEnv, batch: Batch) -> Iterator[Part]:
    """One instance, one jitted step at a time, no vmap."""
    key_data = batch.keys[0]
    state, timestep = begin_one(env, batch.kind, key_data, {name: array[0] for name, array in batch.first.items()})
    yield _timesteps(timestep, (0, 1))
    for index in range(batch.length):
        step = jax.tree.map(lambda array: array[0, 0], batch.steps(index, 1))
        state, timestep = advance_one(env, batch.given, state, key_data, step)
        part = _timesteps(timestep, (0, 1))
        yield part
        if _ended(part).any():
            return


def _batched(env: JaxEnv, batch: Batch) -> Iterator[Part]:
    """All instances, one vmapped and jitted step at a time."""
    state, timestep = begin_batch(env, batch.kind, batch.keys, batch.first)
    yield _timesteps(timestep, 1)
    done = np.zeros(batch.size, bool)
    for index in range(batch.length):
        step = jax.tree.map(lambda array: array[:, 0], batch.steps(index, 1))
        state, timestep = advance_batch(env, batch.given, state, batch.keys, step)
        part = _timesteps(timestep, 1)
        yield part
        done |= _ended(part)[:, 0]
        if done[: batch.count].all():
            return


def _scanned(env: JaxEnv, batch: Batch) -> Iterator[Part]:
    """All instances through a vmapped scan."""
    state, timestep = begin_batch(env, batch.kind, batch.keys, batch.first)
    yield _timesteps(timestep, 1)
    carry = (state, np.zeros(batch.size, bool))
    for index in range(0, batch.length, batch.segment):
        carry, timesteps = scan_batch(env, batch.given, carry, batch.keys, batch.steps(index, batch.segment))
        yield jax.device_get(timesteps)
        if np.asarray(carry[1])[: batch.count].all():
            return


def _timesteps(timestep: Any, axis: int | tuple[int, ...]) -> Part:
    return jax.tree.map(lambda array: np.expand_dims(array, axis), jax.device_get(timestep))


def _ended(part: Part) -> Array:
    return part[0]["terminated"] | part[0]["truncated"]


# --- answers ----------------------------------------------------------------------------------------------------------


def _answers(env: JaxEnv, batch: Batch, first: Part, rest: Sequence[Part]) -> Iterator[dict[str, Any]]:
    """The timesteps of each case up to its end, with the draws that the candidate says it took."""
    leaves = {
        path: np.concatenate([array, *(part[0][path] for part in rest)], axis=1) for path, array in first[0].items()
    }
    used, drawn = (
        {name: np.concatenate([part[kind][name] for part in rest], axis=1) for name in (rest[0][kind] if rest else ())}
        for kind in (1, 2)
    )
    at_reset = Consumed(env.reset_draws, batch.reset_values, batch.reset_counts, first[1], first[2])
    at_step = Consumed(env.step_draws, batch.step_values, batch.step_counts, used, drawn)
    ended = leaves["terminated"] | leaves["truncated"]
    for index, (case, length) in enumerate(zip(batch.cases, batch.lengths, strict=True)):
        ends = np.flatnonzero(ended[index, 1 : length + 1])
        steps = int(ends[0]) + 1 if len(ends) else length
        tape = case.get("draws")
        draws = at_reset.timesteps(index, 1, tape and tape[:1]) + at_step.timesteps(index, steps, tape and tape[1:])
        while draws and not draws[-1]:
            draws.pop()
        yield {"leaves": {path: array[index, : steps + 1] for path, array in leaves.items()}, "draws": draws}


class Consumed:
    """What the cases of a batch took of their draws at one moment, `reset` or `step`.

    Args:
        draws: the draws that can occur then.
        values, counts: the packed tapes (`jax_tape.pack`).
        used: how often the candidate says it took each draw, `[cases, timesteps]`.
        sampled: the candidate's own draws where there was no tape, as it takes them, `[cases, timesteps, ...]`; else empty.
    """

    def __init__(self, draws: Draws, values: Arrays, counts: Arrays, used: Arrays, sampled: Arrays) -> None:
        self._draws = draws
        self._used = used
        self._values = values | {
            name: np.asarray(array)[:, :, None] if draws[name]["capacity"] == 1 else array
            for name, array in sampled.items()
            if name in draws
        }
        self._differs = [
            array[: len(counts[name])] != counts[name][:, : array.shape[1]] for name, array in used.items()
        ]

    def timesteps(self, index: int, timesteps: int, tape: Sequence[Any] | None) -> list[Any]:
        """The draws of one case: at least one timestep, and `timesteps` of them but for empty ones at the end.

        Where the case took exactly what its tape holds, these are the tape's timesteps, in the tape's own order.
        """
        if not self._draws:
            return [[]]
        if tape is not None and not any(differs[index, :timesteps].any() for differs in self._differs):
            return list(tape[:timesteps]) or [[]]
        values = {name: array[index] for name, array in self._values.items()}
        return jax_tape.unpack(
            values, {name: array[index] for name, array in self._used.items()}, self._draws, timesteps
        )
