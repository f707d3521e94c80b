"""MinAtar's Breakout for one instance: a paddle, a ball that moves along diagonals, three rows of bricks."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

SIZE, TOP, BOTTOM = 10, 1, 4
STICKY = 0.1
BUTTONS = jnp.array([0, 1, 3])
"""The buttons of the smallest set of actions: none, left, right."""
LEFT, RIGHT = 1, 3
ACROSS = jnp.array([1, 0, 3, 2])
"""Directions after a wall at the side; directions are 0 to 3, clockwise from up and left."""
UPSIDE_DOWN = jnp.array([3, 2, 1, 0])
BACK = jnp.array([2, 3, 0, 1])


class State(NamedTuple):
    ball_dir: jax.Array
    ball_x: jax.Array
    ball_y: jax.Array
    brick_map: jax.Array
    last_action: jax.Array
    last_x: jax.Array
    last_y: jax.Array
    pos: jax.Array
    strike: jax.Array
    terminal: jax.Array


def sample_reset(key):
    return {"randint": jax.random.randint(key, (), 0, 2, jnp.int64)}


def sample_step(key, state, action):
    return {"rand": jax.random.uniform(key, (), jnp.float64)}


def reset(draws):
    right = draws["randint"] == 1
    x = jnp.where(right, SIZE - 1, 0)
    whole = jnp.int64
    state = State(
        jnp.where(right, whole(3), whole(2)),
        x,
        whole(3),
        bricks(),
        whole(0),
        x,
        whole(3),
        whole(4),
        jnp.bool(False),
        jnp.bool(False),
    )
    return state, outputs(state, jnp.bool(False))


def step(state, action, draws):
    after, hit = moved(state, BUTTONS[action], draws["rand"])
    return after, outputs(after, hit)


def moved(state, button, rand):
    """The state after a frame, and whether a brick was hit."""
    button = jnp.where(rand < STICKY, state.last_action, button)
    pos = jnp.clip(state.pos + jnp.where(button == RIGHT, 1, jnp.where(button == LEFT, -1, 0)), 0, SIZE - 1)
    way, last_x, last_y = state.ball_dir, state.ball_x, state.ball_y
    x = last_x + jnp.where((way == 1) | (way == 2), 1, -1)
    y = last_y + jnp.where(way >= 2, 1, -1)
    way = jnp.where((x < 0) | (x >= SIZE), ACROSS[way], way)
    x = jnp.clip(x, 0, SIZE - 1)

    above = y < 0
    y = jnp.maximum(y, 0)
    brick = ~above & (state.brick_map[y, x] == 1)
    hit = brick & ~state.strike
    low = ~above & ~brick & (y == SIZE - 1)
    cleared = low & ~jnp.any(state.brick_map != 0)
    left = state.brick_map.at[y, x].set(jnp.where(hit, 0.0, state.brick_map[y, x]))
    left = jnp.where(cleared, bricks(), left)
    met = low & (last_x == pos)
    cornered = low & ~met & (x == pos)
    way = jnp.where(above | hit | met, UPSIDE_DOWN[way], jnp.where(cornered, BACK[way], way))
    y = jnp.where(hit | met | cornered, last_y, y)
    terminal = low & ~met & ~cornered
    return State(way, x, y, left, button, last_x, last_y, pos, brick, terminal), hit


def bricks():
    return jnp.zeros((SIZE, SIZE)).at[TOP:BOTTOM].set(1.0)


def outputs(state, hit):
    reward = hit.astype(jnp.float64)
    return observe(state) | {"reward": reward, "terminated": state.terminal, "truncated": jnp.bool(False)}


def observe(state):
    paddle, ball, trail = (
        jnp.zeros((SIZE, SIZE), jnp.bool).at[row, column].set(True)
        for row, column in ((SIZE - 1, state.pos), (state.ball_y, state.ball_x), (state.last_y, state.last_x))
    )
    return {"observation": jnp.stack([paddle, ball, trail, state.brick_map != 0], axis=-1)}


def encode(state):
    return state._asdict()


def decode(leaves):
    return State(**leaves)


probes = {}
