"""CartPole-v1 of Gymnasium 1.4.0 with its time limit of 500 steps, for one instance.

The physics is computed in float64 as Gymnasium does, operation by operation and in its order, so that an episode stays
on the reference's path; only the observation is float32.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

GRAVITY = 9.8
CART_MASS = 1.0
POLE_MASS = 0.1
TOTAL_MASS = POLE_MASS + CART_MASS
HALF_LENGTH = 0.5
POLE_MOMENT = POLE_MASS * HALF_LENGTH
FORCE = 10.0
TIME_STEP = 0.02
X_LIMIT = 2.4
THETA_LIMIT = 12 * 2 * math.pi / 360
STEP_LIMIT = 500


class State(NamedTuple):
    """Cart position and velocity, pole angle and angular velocity (float64), and steps taken (int32)."""

    x: jax.Array
    x_dot: jax.Array
    theta: jax.Array
    theta_dot: jax.Array
    steps: jax.Array


def sample_reset(key):
    return {"start": jax.random.uniform(key, (4,), jnp.float64, -0.05, 0.05)}


def reset(draws):
    state = State(*draws["start"], steps=jnp.int32(0))
    return state, observe(state) | {
        "reward": jnp.float64(0),
        "terminated": jnp.bool(False),
        "truncated": jnp.bool(False),
    }


def step(state: State, action, draws):
    state = State(*dynamics(*state[:4], action), steps=state.steps + 1)
    return state, observe(state) | {
        "reward": jnp.float64(1),
        "terminated": out_of_bounds(state.x, state.theta),
        "truncated": out_of_time(state.steps),
    }


def dynamics(x, x_dot, theta, theta_dot, action):
    """One explicit Euler step: positions move by the old velocities."""
    force = jnp.where(action == 1, FORCE, -FORCE)
    cos, sin = jnp.cos(theta), jnp.sin(theta)
    push = (force + POLE_MOMENT * jnp.square(theta_dot) * sin) / TOTAL_MASS
    theta_acc = (GRAVITY * sin - cos * push) / (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * jnp.square(cos) / TOTAL_MASS))
    x_acc = push - POLE_MOMENT * theta_acc * cos / TOTAL_MASS
    return (
        x + TIME_STEP * x_dot,
        x_dot + TIME_STEP * x_acc,
        theta + TIME_STEP * theta_dot,
        theta_dot + TIME_STEP * theta_acc,
    )


def out_of_bounds(x, theta):
    return (x < -X_LIMIT) | (x > X_LIMIT) | (theta < -THETA_LIMIT) | (theta > THETA_LIMIT)


def out_of_time(steps):
    return steps >= STEP_LIMIT


def observe(state: State):
    return {"observation": jnp.stack(state[:4]).astype(jnp.float32)}


def encode(state: State):
    return state._asdict()


def decode(leaves):
    return State(**leaves)


probes = {
    "dynamics": lambda inputs: dict(zip(State._fields[:4], dynamics(**inputs), strict=True)),
    "termination": lambda inputs: {"terminated": out_of_bounds(inputs["x"], inputs["theta"])},
    "truncation": lambda inputs: {"truncated": out_of_time(inputs["steps"])},
}
