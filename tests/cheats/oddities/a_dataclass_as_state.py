"""Keeps its state in a dataclass that it registered as a pytree."""

import dataclasses

import jax
from honest import *  # noqa: F403
from honest import observe as honest_observe
from honest import reset as honest_reset
from honest import step as honest_step


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Place:
    """Where the walker is, and after how many steps."""

    place: jax.Array
    steps: jax.Array


def reset(draws):
    state, outputs = honest_reset(draws)
    return Place(**state), outputs


def step(state, action, draws):
    after, outputs = honest_step(encode(state), action, draws)
    return Place(**after), outputs


def encode(state):
    return {"place": state.place, "steps": state.steps}


def decode(leaves):
    return Place(**leaves)


def observe(state):
    return honest_observe(encode(state))
