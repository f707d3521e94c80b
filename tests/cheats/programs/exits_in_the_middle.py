"""Leaves with status 0 in the middle of an episode."""

import os

import jax
from honest import *  # noqa: F403
from honest import step as honest_step


def leave():
    os._exit(0)


def step(state, action, draws):
    jax.debug.callback(leave)
    return honest_step(state, action, draws)
