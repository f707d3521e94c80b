"""A cue is shown as a number, as a picture, or only in the first row, and each step pays for the action that names it.

An episode is cut off after four steps; naming what is not legal ends it, which a policy that keeps to the mask never does.
The files beside this one are candidates, each of which shows some of it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    cue: jax.Array
    steps: jax.Array


def make(*shown, masked=True):
    """The functions of the candidate that shows these observations."""

    def sample_reset(key):
        return {"cue": jax.random.randint(key, (), 0, 3, jnp.int32)}

    def sample_step(key, state, action):
        return {}

    def reset(draws):
        state = State(draws["cue"], jnp.int32(0))
        return state, observe(state) | {
            "reward": jnp.float32(0),
            "terminated": jnp.bool(False),
            "truncated": jnp.bool(False),
        }

    def step(state, action, draws):
        chosen = action["name"].astype(jnp.int32)
        right = (chosen == state.cue).astype(jnp.float32)
        after = State(state.cue, state.steps + 1)
        return after, observe(after) | {
            "reward": right - jnp.abs(action["aim"][0] - 0.5),
            "terminated": ~legal(state)[chosen],
            "truncated": after.steps >= 4,
        }

    def legal(state):
        """Two of the four actions: the cue, and the one after it."""
        return (jnp.arange(4) == state.cue) | (jnp.arange(4) == state.cue + 1)

    def observe(state):
        spot = jnp.arange(4) == state.cue
        seen = {
            "shown": spot.astype(jnp.float32),
            "once": jnp.where(state.steps == 0, spot, False).astype(jnp.float32),
            "picture": jnp.broadcast_to(spot[:, None, None], (4, 4, 1)).astype(jnp.uint8) * jnp.uint8(255),
        }
        mask = {"legal_actions": {"name": legal(state)}} if masked else {}
        return {"observation": {name: seen[name] for name in shown}} | mask

    def encode(state):
        return state._asdict()

    def decode(leaves):
        return State(**leaves)

    return {name: value for name, value in locals().items() if callable(value)} | {"probes": {}}
