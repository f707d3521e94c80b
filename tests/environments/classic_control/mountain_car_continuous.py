"""Gymnasium's MountainCarContinuous-v0 in JAX."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

FASTEST, LIMIT = 0.07, 999


class State(NamedTuple):
    """Where the car is and how fast; whether both are kept in float32, as each step leaves them; how many steps."""

    position: jax.Array
    velocity: jax.Array
    narrow: jax.Array
    steps: jax.Array


def reset(draws: dict[str, Any]) -> tuple[State, dict[str, Any]]:
    state = State(draws["uniform"], jnp.float64(0.0), jnp.bool_(False), jnp.int64(0))
    return state, observe(state) | {
        "reward": jnp.float64(0.0),
        "terminated": jnp.bool_(False),
        "truncated": jnp.bool_(False),
    }


def step(state: State, action: Any, draws: dict[str, Any]) -> tuple[State, dict[str, Any]]:
    force = jnp.clip(action[0], jnp.float32(-1.0), jnp.float32(1.0))
    # A step is computed in the type of its state: float64 as the reference's reset leaves it, then float32.
    first = moved(state.position, state.velocity, force, jnp.float64)
    later = moved(state.position, state.velocity, force, jnp.float32)
    position, velocity = jax.tree.map(
        lambda one, other: jnp.where(state.narrow, other.astype(jnp.float64), one), first, later
    )
    position, velocity = (
        position.astype(jnp.float32).astype(jnp.float64),
        velocity.astype(jnp.float32).astype(jnp.float64),
    )
    after = State(position, velocity, jnp.bool_(True), state.steps + 1)
    terminated = jnp.where(state.narrow, later[0] >= jnp.float32(0.45), first[0] >= 0.45)
    terminated &= jnp.where(state.narrow, later[1] >= 0, first[1] >= 0)
    effort = action[0].astype(jnp.float64)
    return after, observe(after) | {
        "reward": jnp.where(terminated, 100.0, 0.0) - effort * effort * 0.1,
        "terminated": terminated,
        "truncated": after.steps >= LIMIT,
    }


def moved(position: jax.Array, velocity: jax.Array, force: jax.Array, dtype: Any) -> tuple[jax.Array, jax.Array]:
    position, velocity = position.astype(dtype), velocity.astype(dtype)
    pull = 0.0025 * jnp.cos((dtype(3.0) * position).astype(jnp.float64))
    push = force * jnp.float32(0.0015)
    velocity = velocity + (push - pull.astype(jnp.float32)).astype(dtype)
    velocity = jnp.clip(velocity, dtype(-FASTEST), dtype(FASTEST))
    position = jnp.clip(position + velocity, dtype(-1.2), dtype(0.6))
    velocity = jnp.where((position == dtype(-1.2)) & (velocity < 0), dtype(0), velocity)
    return position, velocity


def sample_reset(key: Any) -> dict[str, Any]:
    return {"uniform": jax.random.uniform(key, (), jnp.float64, -0.6, -0.4)}


def sample_step(key: Any, state: State, action: Any) -> dict[str, Any]:
    return {}


def encode(state: State) -> dict[str, Any]:
    held = jnp.stack([state.position, state.velocity])
    return {"elapsed_steps": state.steps, "state": held, "state_narrow": state.narrow}


def decode(leaves: dict[str, Any]) -> State:
    return State(leaves["state"][0], leaves["state"][1], leaves["state_narrow"], leaves["elapsed_steps"])


def observe(state: State) -> dict[str, Any]:
    return {"observation": jnp.stack([state.position, state.velocity]).astype(jnp.float32)}


probes: dict[str, Any] = {}
