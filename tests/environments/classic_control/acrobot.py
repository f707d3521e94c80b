"""Gymnasium's Acrobot-v1 in JAX."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

DT, LIMIT, GRAVITY = 0.2, 500, 9.8
FASTEST = (4 * jnp.pi, 9 * jnp.pi)


class State(NamedTuple):
    joints: jax.Array
    steps: jax.Array


def reset(draws: dict[str, Any]) -> tuple[State, dict[str, Any]]:
    joints = draws["uniform_4"].astype(jnp.float32).astype(jnp.float64)
    state = State(joints, jnp.int64(0))
    return state, observe(state) | {
        "reward": jnp.float64(0.0),
        "terminated": jnp.bool_(False),
        "truncated": jnp.bool_(False),
    }


def step(state: State, action: Any, draws: dict[str, Any]) -> tuple[State, dict[str, Any]]:
    torque = jnp.array([-1.0, 0.0, 1.0])[action]
    moved = integrated(state.joints, torque)
    joints = jnp.stack(
        [
            wrapped(moved[0]),
            wrapped(moved[1]),
            jnp.clip(moved[2], -FASTEST[0], FASTEST[0]),
            jnp.clip(moved[3], -FASTEST[1], FASTEST[1]),
        ]
    )
    after = State(joints, state.steps + 1)
    up = -jnp.cos(joints[0]) - jnp.cos(joints[1] + joints[0]) > 1.0
    return after, observe(after) | {
        "reward": jnp.where(up, 0.0, -1.0),
        "terminated": up,
        "truncated": after.steps >= LIMIT,
    }


def integrated(joints: jax.Array, torque: jax.Array) -> jax.Array:
    k1 = slopes(joints, torque)
    k2 = slopes(joints + DT / 2 * k1, torque)
    k3 = slopes(joints + DT / 2 * k2, torque)
    k4 = slopes(joints + DT * k3, torque)
    return joints + DT / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


def slopes(joints: jax.Array, torque: jax.Array) -> jax.Array:
    one, two, fast_one, fast_two = joints
    d1 = 0.25 + (1.25 + jnp.cos(two)) + 1.0 + 1.0
    d2 = 0.25 + 0.5 * jnp.cos(two) + 1.0
    phi2 = 0.5 * GRAVITY * jnp.cos(one + two - jnp.pi / 2.0)
    phi1 = (
        -0.5 * (fast_two * fast_two) * jnp.sin(two)
        - fast_two * fast_one * jnp.sin(two)
        + 1.5 * GRAVITY * jnp.cos(one - jnp.pi / 2)
        + phi2
    )
    pull = torque + d2 / d1 * phi1 - 0.5 * (fast_one * fast_one) * jnp.sin(two) - phi2
    second = pull / (0.25 + 1.0 - d2 * d2 / d1)
    first = -(d2 * second + phi1) / d1
    return jnp.stack([fast_one, fast_two, first, second])


def wrapped(angle: jax.Array) -> jax.Array:
    for _ in range(4):
        angle = jnp.where(angle > jnp.pi, angle - 2 * jnp.pi, angle)
    for _ in range(4):
        angle = jnp.where(angle < -jnp.pi, angle + 2 * jnp.pi, angle)
    return angle


def sample_reset(key: Any) -> dict[str, Any]:
    return {"uniform_4": jax.random.uniform(key, (4,), jnp.float64, -0.1, 0.1)}


def sample_step(key: Any, state: State, action: Any) -> dict[str, Any]:
    return {}


def encode(state: State) -> dict[str, Any]:
    return {"elapsed_steps": state.steps, "state": state.joints}


def decode(leaves: dict[str, Any]) -> State:
    return State(leaves["state"], leaves["elapsed_steps"])


def observe(state: State) -> dict[str, Any]:
    one, two, fast_one, fast_two = state.joints
    seen = jnp.stack([jnp.cos(one), jnp.sin(one), jnp.cos(two), jnp.sin(two), fast_one, fast_two])
    return {"observation": seen.astype(jnp.float32)}


probes: dict[str, Any] = {}
