"""A game with everything that the contract allows: several action leaves, a nested observation, legal actions, integer
types, and draws that occur at the reset, at a step or at both, of which one is taken a varying number of times.

Each turn the player bets on 0 to 3 dice, which are rolled and added to the total; a wind moves the board. Over 30 the
game ends; after 8 turns it is cut off. Whoever is past 20 may bet on one die at most.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    board: jax.Array
    total: jax.Array
    turn: jax.Array


def sample_reset(key):
    deck_key, wind_key = jax.random.split(key)
    return {"deck": jax.random.randint(deck_key, (2,), 1, 7, jnp.int32), "wind": jax.random.uniform(wind_key, (3,))}


def sample_step(key, state, action):
    roll_key, wind_key = jax.random.split(key)
    return {"roll": jax.random.randint(roll_key, (3,), 1, 7, jnp.int32), "wind": jax.random.uniform(wind_key, (3,))}


def reset(draws):
    state = State(board=draws["wind"], total=draws["deck"].sum(), turn=jnp.int32(0))
    return state, observe(state) | {
        "reward": jnp.float32(0),
        "terminated": jnp.bool(False),
        "truncated": jnp.bool(False),
    }


def step(state: State, action, draws):
    bet = action["bet"].astype(jnp.int32)
    won = jnp.where(jnp.arange(3) < bet, draws["roll"], 0).sum()
    state = State(
        board=state.board + draws["wind"] * action["push"].sum(), total=state.total + won, turn=state.turn + 1
    )
    return state, observe(state) | {
        "reward": won.astype(jnp.float32),
        "terminated": state.total > 30,
        "truncated": state.turn >= 8,
        "draws_used": {"roll": bet},
    }


def observe(state: State):
    return {
        "observation": {"board": state.board, "hand": {"total": state.total.astype(jnp.int16)}},
        "legal_actions": (jnp.arange(4) < 2) | (state.total <= 20),
    }


def encode(state: State):
    return {"board": state.board, "total": state.total, "turn": state.turn}


def decode(leaves):
    return State(leaves["board"], leaves["total"], leaves["turn"])


probes = {"rules": lambda inputs: {"legal": (jnp.arange(4) < 2) | (inputs["total"] <= 20)}}
