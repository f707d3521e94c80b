"""Makes its functions by functions that make functions."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


def made(limit):
    def ended(steps):
        return steps >= limit

    def take(state, action, draws):
        after, outputs = honest_step(state, action, draws)
        return after, outputs | {"truncated": ended(after["steps"]) | jnp.bool_(False)}

    return take


step = made(40)
