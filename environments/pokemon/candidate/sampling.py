"""Chance of a user's own runs: bits of one key, cut into numbers of their laws."""

import math

import jax
import jax.numpy as jnp

WIDTHS = (4, 8, 16, 32)

# Name: shape, least value, how many values there are.
RESET = {
    "source": ((2,), 0, 2),
    "pool": ((2,), 0, 256),
    "dv": ((2, 6, 4), 0, 16),
    "effort": ((2, 6, 5), 0, 256),
    "rank": ((2, 6, 4), 0, 65536),
    "species": ((2, 6), 1, 151),
    "level": ((2, 6), 1, 100),
}
STEP = {
    "speed_tie": ((4,), 0, 2),
    "paralysed": ((2,), 0, 256),
    "confused": ((2,), 0, 256),
    "hit": ((4,), 0, 256),
    "crit": ((4,), 0, 256),
    "secondary": ((4,), 0, 256),
    "confusion_turns": ((4,), 2, 4),
    "thrash_turns": ((2,), 2, 2),
    "bide_turns": ((2,), 2, 2),
    "trap_turns": ((2,), 0, 8),
    "hits": ((2,), 0, 8),
    "disable_turns": ((2,), 1, 8),
    "disable_slot": ((2,), 0, 65536),
    "mimic": ((2,), 0, 65536),
    "psywave": ((2,), 0, 65536),
    "damage": ((4,), 217, 39),
    "sleep_turns": ((2,), 1, 7),
    "metronome": ((4,), 0, 163),
}


def _bits(values):
    """How many bits of chance a number of so many values takes: of a power of two, few."""
    if values & (values - 1):
        return 32
    return next(width for width in WIDTHS if values <= 1 << width)


def _sample(key, laws):
    """Short numbers are cut out of words. Others are remainders of whole words, whose law is off by 2^-24 at most."""
    numbers = [(_bits(values), math.prod(shape)) for shape, _, values in laws.values()]
    words = {width: -(-width * sum(size for bits, size in numbers if bits == width) // 32) for width in WIDTHS}
    given = jax.random.bits(key, (sum(words.values()),), jnp.uint32)
    start, pieces = 0, {}
    for width, count in words.items():
        shifts = jnp.arange(0, 32, width, dtype=jnp.uint32)
        pieces[width] = (given[start : start + count, None] >> shifts).reshape(-1)
        start += count
    taken, sample = dict.fromkeys(words, 0), {}
    for (name, (shape, low, values)), (width, size) in zip(laws.items(), numbers, strict=True):
        piece = pieces[width][taken[width] : taken[width] + size].reshape(shape)
        taken[width] += size
        cut = piece & jnp.uint32(values - 1) if width < 32 else piece % jnp.uint32(values)
        sample[name] = cut.astype(jnp.int32) + low
    return sample


def sample_reset(key):
    return _sample(key, RESET)


def sample_step(key, state, action):
    return _sample(key, STEP)
