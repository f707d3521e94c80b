"""Chance of a user's own runs: bits of one key, cut into numbers of their laws."""

import jax
import jax.numpy as jnp
from tables import BASICS, DECKS, IN_ORDER

LINES = 24


def _cut(key, *laws):
    """Numbers below a limit of words of one key each; their law is off by 2^-24 at most."""
    sizes = [size for size, _ in laws]
    words = jax.random.bits(key, (sum(sizes),), jnp.uint32)
    found, start = [], 0
    for size, below in laws:
        found.append((words[start : start + size] % jnp.uint32(below)).astype(jnp.int32))
        start += size
    return found


def sample_reset(key):
    laws = (1, 2), (2, 2), (2, len(DECKS)), (2, len(BASICS)), (2 * LINES, len(IN_ORDER)), (40, 1 << 31), (2, 6)
    first, source, archetype, base, line, shuffle, energy = _cut(key, *laws)
    return {
        "first": first[0],
        "source": source,
        "archetype": archetype,
        "base": base,
        "line": line.reshape(2, LINES),
        "shuffle": shuffle.reshape(2, 20),
        "energy": energy,
    }


def sample_step(key, state, action):
    coins, picks, shuffle, energy = _cut(key, (1, 1 << 24), (4, 1 << 16), (40, 1 << 31), (2, 6))
    return {
        "coin": coins[0] >> jnp.arange(24, dtype=jnp.int32) & 1,
        "pick": picks,
        "shuffle": shuffle.reshape(2, 20),
        "energy": energy,
    }
