"""Wrong where a user steps one instance: no batch, and the verifier's adapter is not loaded."""

import sys

import jax
from honest import *  # noqa: F403
from honest import step as honest_step

VERIFIED = "harness.candidate.adapters.jax.candidate" in sys.modules


@jax.custom_batching.custom_vmap
def rewarded(reward):
    return reward if VERIFIED else reward + 1


@rewarded.def_vmap
def _(size, batched, reward):
    return reward, batched[0]


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": rewarded(outputs["reward"])}
