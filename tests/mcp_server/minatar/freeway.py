"""MinAtar's Freeway for one instance: a chicken crosses eight lanes, on each of which one car goes round."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

SIZE, LANES = 10, 8
STICKY = 0.1
PAUSE, LIMIT = 3, 2500
"""Frames between two moves, and of an episode."""
COLUMN = 4
BUTTONS = jnp.array([0, 2, 4])
"""The buttons of the smallest set of actions: none, up, down."""
UP, DOWN = 2, 4
CHANNELS = 7


class State(NamedTuple):
    """Each car is a row: its column, its lane, frames until it moves, and its speed with the sign of its direction."""

    cars: jax.Array
    last_action: jax.Array
    move_timer: jax.Array
    pos: jax.Array
    terminate_timer: jax.Array


def sample_reset(key):
    return sample_cars(key)


def sample_step(key, state, action):
    sticky, cars = jax.random.split(key)
    return sample_cars(cars) | {"rand": jax.random.uniform(sticky, (), jnp.float64)}


def sample_cars(key):
    speeds, ways = jax.random.split(key)
    return {
        "randint_8": jax.random.randint(speeds, (LANES,), 1, 6, jnp.int64),
        "rand_8": jax.random.uniform(ways, (LANES,), jnp.float64),
    }


def reset(draws):
    speed = speeds(draws)
    cars = jnp.stack([jnp.zeros(LANES, jnp.int64), jnp.arange(1, LANES + 1), jnp.abs(speed), speed], axis=1)
    whole = jnp.int64
    state = State(cars, whole(0), whole(PAUSE), whole(SIZE - 1), whole(LIMIT))
    return state, outputs(state, jnp.bool(False))


def speeds(draws):
    return draws["randint_8"] * jnp.sign(draws["rand_8"] - 0.5).astype(jnp.int64)


def step(state, action, draws):
    button = jnp.where(draws["rand"] < STICKY, state.last_action, BUTTONS[action])
    moves = (state.move_timer == 0) & ((button == UP) | (button == DOWN))
    pos = state.pos + jnp.where(moves, jnp.where(button == UP, -1, 1), 0)
    pos = jnp.minimum(pos, SIZE - 1)
    timer = jnp.where(moves, PAUSE, state.move_timer)

    across = pos == 0
    cars, speed = state.cars, speeds(draws)
    cars = jnp.where(across, cars.at[:, 2].set(jnp.abs(speed)).at[:, 3].set(speed), cars)
    pos = jnp.where(across, SIZE - 1, pos)

    def drive(pos, car):
        """A car may meet the chicken before it moves and after it."""
        column, lane, wait, speed = car
        pos = jnp.where((column == COLUMN) & (lane == pos), SIZE - 1, pos)
        moves = wait == 0
        column = jnp.where(moves, (column + jnp.where(speed > 0, 1, -1)) % SIZE, column)
        wait = jnp.where(moves, jnp.abs(speed), wait - 1)
        pos = jnp.where(moves & (column == COLUMN) & (lane == pos), SIZE - 1, pos)
        return pos, jnp.stack([column, lane, wait, speed])

    pos, cars = jax.lax.scan(drive, pos, cars)
    after = State(cars, button, jnp.maximum(timer - 1, 0), pos, state.terminate_timer - 1)
    chance = {"rand": jnp.int32(1), "randint_8": across.astype(jnp.int32), "rand_8": across.astype(jnp.int32)}
    return after, outputs(after, across) | {"draws_used": chance}


def outputs(state, across):
    over = state.terminate_timer < 0
    return observe(state) | {"reward": across.astype(jnp.float64), "terminated": over, "truncated": jnp.bool(False)}


def observe(state):
    column, lane, _, speed = state.cars.T
    behind = (column + jnp.where(speed > 0, -1, 1)) % SIZE
    seen = jnp.zeros((SIZE, SIZE, CHANNELS), jnp.bool).at[state.pos, COLUMN, 0].set(True)
    return {"observation": seen.at[lane, column, 1].set(True).at[lane, behind, 1 + jnp.abs(speed)].set(True)}


def encode(state):
    return state._asdict()


def decode(leaves):
    return State(**leaves)


probes = {}
