"""Counts its steps in five bits."""

from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after | {"steps": after["steps"] & 31}, outputs
