"""Draws something when it is loaded, and is another candidate in each process."""

import os

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step

WOBBLE = int.from_bytes(os.urandom(4), "big") * 1e-16


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": outputs["reward"] + jnp.float32(WOBBLE)}
