"""Begins of the next episodes in a batch, at the cost of those that begin.

A batch that resets by itself ends few episodes at a time, and `select` would make a begin for every instance in every step,
to throw nearly all of them away: half of a step's time, where a begin is as much work as a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

AT_ONCE = 32
"""Of a batch, one of so many instances begins anew in one round; there are as many rounds as it takes."""


def restarted(ended: Any, begin: Callable[[Any], Any], chance: Any, state: Any, seen: Any) -> tuple[Any, Any]:
    """`begin(chance)` where an episode ended, and `(state, seen)` elsewhere: for one instance what `select` gives.

    Under `vmap` only those begin whose episode ended. A state with floats is still chosen by `select`: somebody may want
    a gradient through it, and reverse mode does not go through the loop.

    Args:
        ended: bool, a scalar.
        begin: gives a state and what is seen, in the structure, shapes and dtypes of `state` and `seen`.
        chance: what differs from begin to begin, a pytree of arrays.
    """
    kept = (state, seen)
    if any(jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in jax.tree.leaves(state)):
        return select(ended, begin(chance), kept)

    @custom_vmap
    def one(ended: Any, chance: Any, kept: Any) -> Any:
        return select(ended, begin(chance), kept)

    @one.def_vmap
    def many(batch: int, batched: Any, ended: Any, chance: Any, kept: Any) -> Any:
        def whole(is_batched: bool, array: Any) -> Any:
            return array if is_batched else jnp.broadcast_to(array, (batch, *array.shape))

        ended, chance, kept = jax.tree.map(whole, tuple(batched), (ended, chance, kept))
        begun = _begun(ended, jax.vmap(begin), chance, kept)
        return begun, jax.tree.map(lambda _: True, begun)

    return one(ended, chance, kept)


def _begun(ended: Any, begin: Callable[[Any], Any], chance: Any, kept: Any) -> Any:
    """A batch in which those that ended begin anew, some in each round."""
    batch = ended.shape[0]
    places = jnp.arange(1, -(-batch // AT_ONCE) + 1, dtype=jnp.int32)
    counted = jnp.cumsum(ended, dtype=jnp.int32)

    def some(held: Any) -> Any:
        done, kept = held
        # Where the next of them are; behind the last there is none, and what is made for it is dropped.
        at = jnp.searchsorted(counted, done + places, method="scan_unrolled")
        fresh = begin(jax.tree.map(lambda array: array[jnp.minimum(at, batch - 1)], chance))
        put = jax.tree.map(lambda old, new: old.at[at].set(new, mode="drop"), kept, fresh)
        return done + len(places), put

    return jax.lax.while_loop(lambda held: held[0] < counted[-1], some, (jnp.int32(0), kept))[1]


def select(condition: Any, if_true: Any, if_false: Any) -> Any:
    """One of two pytrees of the same structure, by a scalar condition."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)
