"""Ends every episode with its first step, so that little of it can be compared."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"truncated": jnp.bool_(True)}
