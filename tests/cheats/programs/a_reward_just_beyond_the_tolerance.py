"""Leaves out what the tolerance would not forgive, by as little as it can."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": outputs["reward"] + jnp.float32(3e-6)}
