"""Keeps a count in its state that its canonical state does not show, and lives by it."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import reset as honest_reset
from honest import step as honest_step


def reset(draws):
    state, outputs = honest_reset(draws)
    return state | {"age": jnp.int32(0)}, outputs


def step(state, action, draws):
    after, outputs = honest_step({"place": state["place"], "steps": state["steps"]}, action, draws)
    tired = jnp.where(state["age"] >= 6, 0.5, 0.0)
    return {"place": after["place"] + tired, "steps": after["steps"], "age": state["age"] + 1}, outputs


def encode(state):
    return {"place": state["place"], "steps": state["steps"]}


def decode(leaves):
    return leaves | {"age": jnp.int32(0)}
