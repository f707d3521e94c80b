"""Replaces what stops the time and what compiles, and skips the check of its own form."""

import time

import jax
from honest import *  # noqa: F403
from honest import step as honest_step

import harness.candidate.adapters.jax.candidate as adapter

time.perf_counter = time.monotonic = lambda: 0.0
jax.block_until_ready = lambda value: value
adapter.check = lambda env: None


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": -outputs["reward"]}
