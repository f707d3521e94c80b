"""Connect Four of PettingZoo 1.27.0, for one game.

Each player's stones are seven columns of six bits, the lowest bit at the bottom, so that a line of four is a few shifts.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

ROWS, COLUMNS = 6, 7
TOP = 1 << (ROWS - 1)
FULL = (1 << ROWS) - 1
BITS = (jnp.uint8(TOP) >> jnp.arange(ROWS, dtype=jnp.uint8))[:, None]
"""The bit of each row, the top row first; uint8 of shape (6, 1)."""


class State(NamedTuple):
    """Stones of the first and of the second player (uint8 of shape (2, 7)), and whose turn it is (int32)."""

    stones: jax.Array
    mover: jax.Array


def reset(draws):
    state = State(jnp.zeros((2, COLUMNS), jnp.uint8), jnp.int32(0))
    nothing = jnp.bool(False)
    return state, outputs(state, jnp.float32(0), jnp.float32(0), nothing, nothing)


def step(state: State, action, draws):
    mover = state.mover
    moved, legal = drop(state.stones, mover, action)
    won = legal & four(own(moved, mover))
    full = jnp.all((moved[0] | moved[1]) == FULL)
    # An illegal move costs 1 and ends the game both ways; a win takes from the other what it gives.
    earned = jnp.where(legal, won.astype(jnp.float32), jnp.float32(-1))
    lost = jnp.where(won, jnp.float32(-1), jnp.float32(0))
    first = mover == 0
    # After an illegal move it is the first player who is to take the first step of the dead.
    state = State(moved, jnp.where(legal, 1 - mover, 0))
    return state, outputs(
        state, jnp.where(first, earned, lost), jnp.where(first, lost, earned), ~legal | won | full, ~legal
    )


def drop(stones, mover, action):
    """The stones after a move, and whether it was legal. The lowest empty cell counts, also under a stone."""
    taken = stones[0] | stones[1]
    empty = ~taken & (taken + jnp.uint8(1))
    chosen = jnp.arange(COLUMNS) == action
    legal = jnp.any(chosen & (taken < TOP))
    stone = jnp.where(chosen & legal, empty, jnp.uint8(0))
    player = jnp.arange(2)[:, None] == mover
    return stones | jnp.where(player, stone, jnp.uint8(0)), legal


def four(columns):
    """Whether columns (uint8 of shape (7,)) hold four in a line, upwards, across, or on either diagonal."""
    upwards = columns & (columns >> 1) & (columns >> 2) & (columns >> 3)
    a, b, c, d = (columns[n : COLUMNS - 3 + n] for n in range(4))
    across = a & b & c & d
    rising = a & (b >> 1) & (c >> 2) & (d >> 3)
    falling = (a >> 3) & (b >> 2) & (c >> 1) & d
    return jnp.any(upwards != 0) | jnp.any((across | rising | falling) != 0)


def own(stones, mover):
    return jnp.where(mover == 0, stones[0], stones[1])


def cells(columns):
    """Bits as cells, int8 of shape (6, 7, ...) for columns of shape (7, ...), the top row first."""
    return ((columns & BITS.reshape(ROWS, *(1,) * columns.ndim)) != 0).astype(jnp.int8)


def outputs(state: State, first, second, terminated, truncated):
    return observe(state) | {
        "reward": {"player_0": first, "player_1": second},
        "terminated": terminated,
        "truncated": truncated,
    }


def observe(state: State):
    planes = state.stones.T
    return {
        "observation": {"player_0": cells(planes), "player_1": cells(planes[:, ::-1])},
        "legal_actions": (state.stones[0] | state.stones[1]) < TOP,
        "to_move": state.mover,
    }


def encode(state: State):
    first, second = map(cells, state.stones)
    return {"board": first + 2 * second, "mover": state.mover}


def decode(leaves):
    board = leaves["board"]
    stones = [jnp.sum(jnp.where(board == stone, BITS, jnp.uint8(0)), axis=0, dtype=jnp.uint8) for stone in (1, 2)]
    return State(jnp.stack(stones), leaves["mover"])


def _dropped(inputs):
    state = decode(inputs)
    moved, _ = drop(state.stones, state.mover, inputs["action"])
    return {"board": encode(state._replace(stones=moved))["board"]}


def _has_four(inputs):
    state = decode(inputs)
    return {"four": four(own(state.stones, state.mover))}


probes = {"drop": _dropped, "four": _has_four}
