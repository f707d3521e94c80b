"""Remembers what a pure helper answered."""

import functools

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


@functools.cache
def sign(action):
    return 1.0 if action == 1 else -1.0


SIGNS = jnp.array([sign(0), sign(1)])


def step(state, action, draws):
    windy = action == 2
    after, outputs = honest_step(state, action, draws)
    place = state["place"] + jnp.where(windy, draws["gust"], SIGNS[jnp.clip(action, 0, 1)])
    return after | {"place": place}, outputs
