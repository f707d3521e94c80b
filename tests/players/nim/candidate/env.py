"""Nim in JAX."""

import jax.numpy as jnp

STONES = 21


def reset(draws):
    state = {"stones": jnp.int32(STONES), "mover": jnp.int32(0)}
    return state, _outputs(state, jnp.int32(0), jnp.bool_(False))


def step(state, action, draws):
    mover, left = state["mover"], jnp.maximum(0, state["stones"] - action)
    state = {"stones": left, "mover": 1 - mover}
    return state, _outputs(state, mover, left == 0)


def encode(state):
    return state


def decode(leaves):
    return leaves


def observe(state):
    return {
        "observation": state["stones"],
        "to_move": state["mover"],
        "legal_actions": jnp.arange(1, 4) <= state["stones"],
    }


def _outputs(state, mover, lost):
    rewards = jnp.where(lost, jnp.where(mover == jnp.arange(2), -1.0, 1.0), 0.0).astype(jnp.float32)
    return {
        **observe(state),
        "reward": {"first": rewards[0], "second": rewards[1]},
        "terminated": lost,
        "truncated": jnp.bool_(False),
    }
