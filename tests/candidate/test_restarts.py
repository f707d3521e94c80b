"""Begins in a batch: they are what one instance's would be, and only those are made whose episode ended."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from harness.candidate.faces.restarts import AT_ONCE, restarted, select

Tree = Any


def _begin(key: jax.Array) -> tuple[Tree, Tree]:
    """A begin of chance: a state of whole numbers with a key in it, and floats that are seen."""
    bits = jax.random.bits(key, (3,), jnp.uint32)
    return {"bits": bits, "key": jax.random.split(key)[0]}, (bits[0].astype(jnp.float32), bits[1] % jnp.uint32(2) == 0)


def _others(batch: int) -> tuple[Tree, Tree]:
    return jax.vmap(_begin)(jax.random.split(jax.random.key(1), batch))


def _shown(tree: Tree) -> list[np.ndarray[Any, Any]]:
    leaves = jax.tree.leaves(tree)
    return [np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x) for x in leaves]


def _equal(first: Tree, second: Tree) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(_shown(first), _shown(second), strict=True))


def _one(ended: Any, key: Any, kept: Tree) -> Tree:
    return restarted(ended, _begin, key, *kept)


@pytest.mark.parametrize("batch", [1, 33, 200])
@pytest.mark.parametrize("share", [0.03, 1.0])
def test_a_batch_begins_as_its_instances_would(batch: int, share: float) -> None:
    ended = jnp.asarray(np.random.default_rng(batch).random(batch) < share)
    keys, kept = jax.random.split(jax.random.key(7), batch), _others(batch)
    expected = jax.vmap(lambda ended, key, kept: select(ended, _begin(key), kept))(ended, keys, kept)
    found = jax.jit(jax.vmap(_one))(ended, keys, kept)
    assert _equal(found, expected)
    assert batch == 1 or not _equal(found, kept)


def test_what_is_the_same_for_all_need_not_be_repeated() -> None:
    ended, kept = jnp.arange(64) % 5 == 0, _others(64)
    found = jax.vmap(_one, in_axes=(0, None, 0))(ended, jax.random.key(3), kept)
    keys = jnp.broadcast_to(jax.random.key(3), (64,))
    assert _equal(found, jax.vmap(_one)(ended, keys, kept))


def test_a_batch_of_batches_begins_as_one_batch() -> None:
    ended, keys, kept = jnp.arange(96) % 7 == 0, jax.random.split(jax.random.key(5), 96), _others(96)
    nested = jax.tree.map(lambda array: array.reshape(2, 48, *array.shape[1:]), (ended, keys, kept))
    found = jax.tree.map(lambda array: array.reshape(96, *array.shape[2:]), jax.vmap(jax.vmap(_one))(*nested))
    assert _equal(found, jax.vmap(_one)(ended, keys, kept))


@pytest.mark.parametrize(("ended", "rounds"), [(0, 0), (1, 1), (3, 2), (64, AT_ONCE)])
def test_only_those_begin_whose_episode_ended(ended: int, rounds: int) -> None:
    begun: list[int] = []

    def begin(number: jax.Array) -> tuple[Tree, Tree]:
        jax.debug.callback(lambda number: begun.append(int(number)), number)
        return number, number

    numbers = jnp.arange(64, dtype=jnp.int32)
    jax.vmap(lambda ended, number: restarted(ended, begin, number, number, number))(numbers >= 64 - ended, numbers)
    jax.effects_barrier()
    in_a_round = 64 // AT_ONCE
    assert len(begun) == rounds * in_a_round
    assert set(begun) >= set(range(64 - ended, 64))


def test_a_gradient_goes_through_a_state_of_floats() -> None:
    def paid(state: jax.Array) -> jax.Array:
        ended = jnp.arange(8) % 2 == 0
        begin = lambda number: (jnp.float32(0) * number, number)  # noqa: E731
        after, _ = jax.vmap(lambda e, s: restarted(e, begin, s, s * s, s))(ended, state)
        return jnp.sum(after)

    gradient = jax.grad(paid)(jnp.arange(8, dtype=jnp.float32))
    assert gradient.tolist() == [0, 2, 0, 6, 0, 10, 0, 14]
