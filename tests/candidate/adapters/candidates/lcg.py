"""A walk whose chance is a generator in its state: mode `shared`. It helps itself from a file beside it."""

from typing import NamedTuple

import generator
import jax
import jax.numpy as jnp


class State(NamedTuple):
    place: jax.Array
    chance: jax.Array


def reset(draws):
    state = State(jnp.int32(0), draws["seed"][0] ^ draws["seed"][1])
    return state, observe(state) | {
        "reward": jnp.float32(0),
        "terminated": jnp.bool(False),
        "truncated": jnp.bool(False),
    }


def step(state, action, draws):
    chance = generator.following(state.chance)
    place = state.place + action.astype(jnp.int32) + (chance >> 31).astype(jnp.int32)
    return State(place, chance), observe(State(place, chance)) | {
        "reward": jnp.float32(-1),
        "terminated": place >= 5,
        "truncated": jnp.bool(False),
    }


def observe(state):
    return {"observation": state.place}


def encode(state):
    return state._asdict()


def decode(leaves):
    return State(**leaves)
