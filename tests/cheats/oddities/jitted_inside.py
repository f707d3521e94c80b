"""Compiles its own functions, with static arguments and with a cache."""

import functools

import jax
from honest import *  # noqa: F403
from honest import step as honest_step


@functools.partial(jax.jit, static_argnames="limit")
def ended(steps, limit):
    return steps >= limit


@jax.jit
def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"truncated": ended(after["steps"], limit=40)}
