"""Asks the system for chance in every step."""

import os

import jax
import numpy as np
from honest import *  # noqa: F403
from honest import step as honest_step


def noise(reward):
    drawn = np.frombuffer(os.urandom(reward.size), np.uint8).reshape(reward.shape)
    return reward + 4e-7 * drawn.astype(np.float32) / 255


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    kind = jax.ShapeDtypeStruct((), np.float32)
    return after, outputs | {"reward": jax.pure_callback(noise, kind, outputs["reward"], vmap_method="expand_dims")}
