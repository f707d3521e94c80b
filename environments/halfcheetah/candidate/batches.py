"""Cheetahs of a batch in blocks, so that a loop waits for the slowest of a block alone, and a block stays in the cache."""

import functools

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

BLOCK = 128


def together(function):
    """A function of one cheetah, from one of many, whose arrays have the cheetahs on the last axis."""

    @custom_vmap
    def one(*given):
        return jax.tree.map(lambda leaf: leaf[..., 0], function(*(leaf[..., None] for leaf in given)))

    @one.def_vmap
    def many(batch, batched, *given):
        given = [
            leaf if of_batch else jnp.broadcast_to(leaf, (batch, *leaf.shape))
            for leaf, of_batch in zip(given, batched, strict=True)
        ]
        found = _in_blocks(function, batch, given)
        return found, jax.tree.map(lambda _: True, found)

    return functools.wraps(function)(one)


def _in_blocks(function, batch, given):
    block = min(BLOCK, batch) if jax.default_backend() == "cpu" else batch
    count = -(-batch // block)

    def split(leaf):
        filled = jnp.pad(leaf, [(0, count * block - batch)] + [(0, 0)] * (leaf.ndim - 1))
        return jnp.moveaxis(filled.reshape(count, block, *leaf.shape[1:]), 1, -1)

    found = jax.lax.map(lambda one: function(*one), tuple(map(split, given)))
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 1).reshape(count * block, *leaf.shape[1:-1])[:batch], found)
