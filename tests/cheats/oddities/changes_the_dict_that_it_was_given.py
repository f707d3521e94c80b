"""Writes its new state into the dict of the old one."""

from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    state["place"], state["steps"] = after["place"], after["steps"]
    return state, outputs
