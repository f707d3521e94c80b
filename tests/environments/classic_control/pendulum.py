"""Gymnasium's Pendulum-v1 in JAX."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

MAX_SPEED, MAX_TORQUE, DT, G = 8.0, 2.0, 0.05, 10.0
LIMIT = 200


class State(NamedTuple):
    theta: jax.Array
    speed: jax.Array
    steps: jax.Array


def reset(draws: dict[str, Any]) -> tuple[State, dict[str, Any]]:
    theta, speed = draws["uniform_2"]
    state = State(theta, speed, jnp.int64(0))
    return state, observe(state) | {
        "reward": jnp.float64(0.0),
        "terminated": jnp.bool_(False),
        "truncated": jnp.bool_(False),
    }


def step(state: State, action: Any, draws: dict[str, Any]) -> tuple[State, dict[str, Any]]:
    torque = jnp.clip(action, jnp.float32(-MAX_TORQUE), jnp.float32(MAX_TORQUE))[0]
    angle = (state.theta + jnp.pi) % (2 * jnp.pi) - jnp.pi
    effort = (jnp.float32(0.001) * (torque * torque)).astype(jnp.float64)
    costs = angle * angle + 0.1 * (state.speed * state.speed) + effort
    push = (jnp.float32(3.0) * torque).astype(jnp.float64)
    speed = state.speed + (3 * G / 2 * jnp.sin(state.theta) + push) * DT
    speed = jnp.clip(speed, -MAX_SPEED, MAX_SPEED)
    after = State(state.theta + speed * DT, speed, state.steps + 1)
    return after, observe(after) | {
        "reward": -costs,
        "terminated": jnp.bool_(False),
        "truncated": after.steps >= LIMIT,
    }


def sample_reset(key: Any) -> dict[str, Any]:
    high = jnp.array([jnp.pi, 1.0])
    return {"uniform_2": jax.random.uniform(key, (2,), jnp.float64, -high, high)}


def sample_step(key: Any, state: State, action: Any) -> dict[str, Any]:
    return {}


def encode(state: State) -> dict[str, Any]:
    return {"elapsed_steps": state.steps, "state": jnp.stack([state.theta, state.speed])}


def decode(leaves: dict[str, Any]) -> State:
    return State(leaves["state"][0], leaves["state"][1], leaves["elapsed_steps"])


def observe(state: State) -> dict[str, Any]:
    seen = jnp.stack([jnp.cos(state.theta), jnp.sin(state.theta), state.speed])
    return {"observation": seen.astype(jnp.float32)}


probes: dict[str, Any] = {}
