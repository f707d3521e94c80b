"""Right for the places that examples show, wrong between them."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    known = state["place"] == jnp.round(state["place"])
    return after | {"place": jnp.where(known, after["place"], jnp.round(after["place"]))}, outputs
