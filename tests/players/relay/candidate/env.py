"""Two runners of whom chance says who may act, in JAX."""

import jax
import jax.numpy as jnp

NAMES = ("north", "south")
GOAL, ROUNDS = 10, 25
REST, WALK, SPRINT = 0, 1, 2


def reset(draws):
    state = {"place": jnp.zeros(2, jnp.int32), "ready": draws["first"], "round": jnp.int32(0)}
    return state, _outputs(state, jnp.zeros(2, jnp.float32), jnp.bool_(False))


def step(state, action, draws):
    chosen = jnp.where(_may(state), jnp.stack([action[name] for name in NAMES]), REST)
    sprinted = jnp.where(chosen[::-1] == REST, 3, 0)
    place = state["place"] + jnp.where(chosen == WALK, 1, jnp.where(chosen == SPRINT, sprinted, 0))
    state = {"place": place, "ready": draws["next"], "round": state["round"] + 1}
    there = place >= GOAL
    rewards = jnp.where(there[0] == there[1], 0.0, jnp.where(there, 1.0, -1.0))
    return state, _outputs(state, rewards.astype(jnp.float32), there.any())


def sample_reset(key):
    return {"first": jax.random.randint(key, (), 0, 4)}


def sample_step(key, state, action):
    return {"next": jax.random.randint(key, (), 0, 4)}


def encode(state):
    return state


def decode(leaves):
    return leaves


def observe(state):
    may = _may(state)
    seen = {"observation": {}, "to_move": {}}
    for player, name in enumerate(NAMES):
        seen["observation"][name] = jnp.stack([state["place"][player], state["place"][1 - player], state["round"]])
        seen["to_move"][name] = may[player]
    return seen


def _may(state):
    return (state["ready"] >> jnp.arange(2)) & 1 == 1


def _outputs(state, rewards, over):
    return {
        **observe(state),
        "reward": {name: rewards[player] for player, name in enumerate(NAMES)},
        "terminated": over,
        "truncated": (state["round"] >= ROUNDS) & ~over,
    }
