"""Honest for one instance, not for a batch."""

import jax
from honest import *  # noqa: F403
from honest import step as honest_step


@jax.custom_batching.custom_vmap
def rewarded(reward):
    return reward


@rewarded.def_vmap
def _(size, batched, reward):
    return reward + 1e-3, batched[0]


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": rewarded(outputs["reward"])}
