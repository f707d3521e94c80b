"""The slow counter as a JAX environment."""

import jax.numpy as jnp


def sample_reset(key):
    return {}


def sample_step(key, state, action):
    return {}


def reset(draws):
    state = {"count": jnp.int32(0)}
    return state, _outputs(state, jnp.float32(0)) | {"truncated": jnp.bool(False)}


def step(state, action, draws):
    state = {"count": state["count"] + 1}
    return state, _outputs(state, action.astype(jnp.float32))


def encode(state):
    return state


def decode(leaves):
    return leaves


def observe(state):
    return {"observation": 2 * state["count"]}


def _outputs(state, reward):
    return observe(state) | {
        "reward": reward,
        "terminated": jnp.bool(False),
        "truncated": state["count"] >= 100,
    }
