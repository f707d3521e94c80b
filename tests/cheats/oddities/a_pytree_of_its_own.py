"""Keeps its state in a named tuple within a tuple."""

import collections

from honest import *  # noqa: F403
from honest import observe as honest_observe
from honest import reset as honest_reset
from honest import step as honest_step

Inner = collections.namedtuple("Inner", ["place", "steps"])


def reset(draws):
    state, outputs = honest_reset(draws)
    return (Inner(**state), ()), outputs


def step(state, action, draws):
    after, outputs = honest_step(encode(state), action, draws)
    return (Inner(**after), ()), outputs


def encode(state):
    return {"place": state[0].place, "steps": state[0].steps}


def decode(leaves):
    return Inner(**leaves), ()


def observe(state):
    return honest_observe(encode(state))
