"""Carries a million numbers that it computed when it was loaded."""

import jax.numpy as jnp
import numpy as np
from honest import *  # noqa: F403
from honest import step as honest_step

TABLE = jnp.asarray(np.zeros(1 << 20))


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after | {"place": after["place"] + TABLE[jnp.abs(state["steps"])]}, outputs
