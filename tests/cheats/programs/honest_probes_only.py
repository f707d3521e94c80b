"""Honest where it is probed, not where it steps."""

from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"truncated": after["steps"] >= 20}
