"""Pokémon Showdown's first generation (@pkmn/sim 0.10.11) for one battle, six against six, in whole numbers.

A step takes what both players chose as far as the next choice: a turn, or the replacement of who has fainted. All rules
are masked arithmetic on two Pokémon, and moves are rows of a table. The rules are in files of their own.
"""

import jax.numpy as jnp
from observe import PLAYERS, observe
from probes import probes
from rules import CALLED, look
from sampling import sample_reset, sample_step
from state import State
from teams import begin
from turn import play

__all__ = ["decode", "encode", "observe", "probes", "reset", "sample_reset", "sample_step", "step"]


def reset(draws):
    state, over = begin(draws)
    return state, observe(state) | _ends(over, jnp.zeros(2, bool))


def step(state, action, draws):
    chosen = jnp.stack([action[name].astype(jnp.int32) for name in PLAYERS])
    draws = draws | {"metronome": look(CALLED, draws["metronome"])}
    state, over, won, used = play(state, chosen, draws)
    return state, observe(state) | _ends(over, won) | {"draws_used": used}


def _ends(over, won):
    gain = won.astype(jnp.float32)
    return {
        "reward": {"p1": gain[0] - gain[1], "p2": gain[1] - gain[0]},
        "terminated": over,
        "truncated": jnp.bool(False),
    }


def encode(state):
    return state._asdict()


def decode(leaves):
    return State(**leaves)
