"""A trading card game for two by the rules of RULES.md, for one game.

A step is one action of whoever is asked. Cards and effects are rows of tables; one loop carries out the rows of an effect
up to a question or to its end, and what follows from it, knockouts and the turn's end, is done once behind it.
"""

import jax.numpy as jnp
from decks import begin
from observe import PLAYERS, observe
from questions import legal
from sampling import sample_reset, sample_step
from state import OVER, encode
from state import decode as decode_leaves
from turn import play

__all__ = ["decode", "encode", "observe", "probes", "reset", "sample_reset", "sample_step", "step"]


def reset(draws):
    state = begin(draws)
    used = {"shuffle": jnp.int32(2), "energy": jnp.int32(2)}
    return state, observe(state) | _ends(state, jnp.zeros(2, bool)) | {"draws_used": used}


def step(state, action, draws):
    state, won, used = play(state, action.astype(jnp.int32), draws)
    return state, observe(state) | _ends(state, won) | {"draws_used": used}


def _ends(state, won):
    gain = won.astype(jnp.float32)
    return {
        "reward": {name: gain[side] - gain[1 - side] for side, name in enumerate(PLAYERS)},
        "terminated": state.phase == OVER,
        "truncated": jnp.bool(False),
    }


def decode(leaves):
    state = decode_leaves(leaves)
    return state._replace(legal=legal(state))


probes = {}
