"""Counts its calls in Python and answers otherwise after some."""

import jax
import numpy as np
from honest import *  # noqa: F403
from honest import step as honest_step

calls = [0]


def late(reward):
    calls[0] += 1
    return reward + np.float32(calls[0] > 200)


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    kind = jax.ShapeDtypeStruct((), np.float32)
    return after, outputs | {"reward": jax.pure_callback(late, kind, outputs["reward"], vmap_method="expand_dims")}
