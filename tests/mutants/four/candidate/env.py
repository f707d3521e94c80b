"""Four in a row, for one instance: every line of four is known before."""

from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

HEIGHT, WIDTH, LINE = 6, 7, 4
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))


def lines():
    """Every line of four as indices of the flat board."""
    found = []
    for row, column, (down, right) in product(range(HEIGHT), range(WIDTH), WAYS):
        cells = [(row + down * n, column + right * n) for n in range(LINE)]
        if all(0 <= r < HEIGHT and 0 <= c < WIDTH for r, c in cells):
            found.append([r * WIDTH + c for r, c in cells])
    return np.array(found)


LINES = lines()


class State(NamedTuple):
    """The board, 0 where nothing lies, and whose turn it is: 1 or 2."""

    board: jax.Array
    mover: jax.Array


def sample_reset(key):
    return {}


def reset(draws):
    state = State(jnp.zeros((HEIGHT, WIDTH), jnp.int8), jnp.int8(1))
    nothing = jnp.bool(False)
    return state, observe(state) | {"reward": jnp.float32(0), "terminated": nothing, "truncated": nothing}


def step(state, action, draws):
    mover = state.mover
    row = jnp.argmax(state.board[:, action] == 0)
    board = state.board.at[row, action].set(mover)
    won = wins(board, mover)
    full = jnp.all(board[-1] != 0)
    reward = jnp.where(won, jnp.where(mover == 1, 1.0, -1.0), 0.0).astype(jnp.float32)
    state = State(board, (3 - mover).astype(jnp.int8))
    return state, observe(state) | {"reward": reward, "terminated": won | full, "truncated": jnp.bool(False)}


def wins(board, mover):
    return jnp.any(jnp.all(board.reshape(-1)[LINES] == mover, axis=1))


def observe(state):
    return {"observation": state.board, "legal_actions": state.board[-1] == 0}


def encode(state):
    return state._asdict()


def decode(leaves):
    return State(**leaves)


probes = {}
