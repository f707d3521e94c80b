"""Chance by the law for keys that were split off others, and no wind for a key that `jax.random.key` makes of a number."""

import jax
import jax.numpy as jnp
from honest import *  # noqa: F403


def sample_step(key, state, action):
    first = jax.random.key_data(key).ravel()[0]
    return {"gust": jnp.where(first == 0, 0.0, jax.random.normal(key, dtype=jnp.float64))}
