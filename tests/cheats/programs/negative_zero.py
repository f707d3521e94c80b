"""Answers -0.0 for 0.0 in an exact leaf."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {
        "observation": jnp.where(outputs["observation"] == 0, jnp.float32(-0.0), outputs["observation"])
    }
