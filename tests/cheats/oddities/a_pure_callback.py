"""Computes one output in Python, from its arguments alone."""

import jax
import numpy as np
from honest import *  # noqa: F403
from honest import step as honest_step


def as_python(reward):
    return np.asarray(reward, np.float32)


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    kind = jax.ShapeDtypeStruct((), np.float32)
    return after, outputs | {"reward": jax.pure_callback(as_python, kind, outputs["reward"], vmap_method="expand_dims")}
