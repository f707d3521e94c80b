"""Wrong at one edge of the state that few episodes reach."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"terminated": jnp.abs(after["place"]) >= 5.0}
