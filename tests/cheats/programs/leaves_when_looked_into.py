"""Has a wrong rule, and leaves with status 0 when few cases are asked for at once: a difference is being looked into."""

import os

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.rollout
FEW = 4


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": outputs["reward"] + jnp.float32(1)}


def rollout(self, cases, *rest, **named):
    if len(cases) <= FEW:
        os._exit(0)
    return honest(self, cases, *rest, **named)


adapter.JaxCandidate.rollout = rollout
