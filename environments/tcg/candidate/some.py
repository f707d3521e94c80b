"""What only some games of a batch do, at the cost of those that do it."""

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

AT_ONCE, LEAST = 16, 64
"""Of a batch, one of so many games does it in one round, but so many at least; there are as many rounds as it takes."""


def once(where, do, carry, *given):
    """`do(carry, *given)` where a condition holds, and `carry` elsewhere.

    `do` must use nothing of a game but what it is given.
    """

    @custom_vmap
    def one(where, carry, given):
        return jax.lax.cond(where, lambda: do(carry, *given), lambda: carry)

    @one.def_vmap
    def many(batch, batched, where, carry, given):
        where, carry, given = jax.tree.map(
            lambda of_batch, leaf: leaf if of_batch else jnp.broadcast_to(leaf, (batch, *leaf.shape)),
            tuple(batched),
            (where, carry, given),
        )
        done = _in_rounds(where, jax.vmap(do), carry, given)
        return done, jax.tree.map(lambda _: True, done)

    return one(where, carry, given)


def _in_rounds(where, do, carry, given):
    batch = where.shape[0]
    numbers = jnp.arange(1, min(batch, max(LEAST, -(-batch // AT_ONCE))) + 1, dtype=jnp.int32)
    counted = jnp.cumsum(where, dtype=jnp.int32)

    def some(held):
        behind, carry = held
        # Behind the last of them there is none; what comes of it is dropped.
        at = jnp.searchsorted(counted, behind + numbers, method="scan_unrolled")
        here = jax.tree.map(lambda leaf: leaf[jnp.minimum(at, batch - 1)], (carry, given))
        after = do(here[0], *here[1])
        return behind + len(numbers), jax.tree.map(lambda old, new: old.at[at].set(new, mode="drop"), carry, after)

    return jax.lax.while_loop(lambda held: held[0] < counted[-1], some, (jnp.int32(0), carry))[1]
