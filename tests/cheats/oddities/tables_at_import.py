"""Looks its results up in a table that it computes when it is loaded."""

import jax.numpy as jnp
import numpy as np
from honest import *  # noqa: F403
from honest import step as honest_step

OVER = jnp.asarray(np.arange(4096) >= 40)


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"truncated": OVER[jnp.clip(after["steps"], 0, 4095)]}
