"""Three players in a circle, in JAX."""

import jax
import jax.numpy as jnp

NAMES = ("red", "green", "blue")
MOST, ROUNDS = 4, 30
REST, LEFT = 0, 1


def reset(draws):
    strength = jnp.full(3, 3, jnp.int32).at[draws["first"]].set(4)
    state = {"strength": strength, "round": jnp.int32(0)}
    return state, _outputs(state, jnp.zeros(3, jnp.float32), jnp.bool_(False))


def step(state, action, draws):
    before = state["strength"]
    chosen = jnp.stack([action[name] for name in NAMES])
    players = jnp.arange(3)
    alive = before > 0
    harm = jnp.where(alive & (chosen != REST), jnp.where(draws["strong"] == players, 2, 1), 0)
    target = (players + jnp.where(chosen == LEFT, -1, 1)) % 3
    struck = jnp.zeros(3, jnp.int32).at[target].add(harm)
    rested = (alive & (chosen == REST)).astype(jnp.int32)
    after = jnp.where(alive, jnp.clip(before + rested - struck, 0, MOST), 0)
    over = (after > 0).sum() <= 1
    rewards = jnp.where(alive & (after == 0), -1.0, jnp.where((after > 0) & over, 1.0, 0.0))
    state = {"strength": after, "round": state["round"] + 1}
    return state, _outputs(state, rewards.astype(jnp.float32), over)


def sample_reset(key):
    return {"first": jax.random.randint(key, (), 0, 3)}


def sample_step(key, state, action):
    return {"strong": jax.random.randint(key, (), 0, 6)}


def encode(state):
    return state


def decode(leaves):
    return leaves


def observe(state):
    strength = state["strength"]
    seen = {"observation": {}, "legal_actions": {}, "alive": {}}
    for player, name in enumerate(NAMES):
        own, left, right = (strength[(player + side) % 3] for side in (0, -1, 1))
        seen["observation"][name] = jnp.stack([own, left, right, state["round"]])
        seen["legal_actions"][name] = jnp.stack(
            [(own > 0) & (own < MOST), (own > 0) & (left > 0), (own > 0) & (right > 0)]
        )
        seen["alive"][name] = own > 0
    return seen


def _outputs(state, rewards, over):
    return {
        **observe(state),
        "reward": {name: rewards[player] for player, name in enumerate(NAMES)},
        "terminated": over,
        "truncated": (state["round"] >= ROUNDS) & ~over,
    }
