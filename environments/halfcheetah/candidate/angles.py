"""Cosines and sines, both of an angle at once.

XLA works out each of them for itself, and what is left of whole turns twice. In float64 that took a fifth of the time of a
step whose rest is float32.
"""

import math

import jax.numpy as jnp

QUARTER = float.fromhex("0x1.921fb544p+0")
"""A quarter of a turn in so few bits that multiples of it are exact up to a million of them."""
QUARTER_REST = 6.07710050650619225e-11
COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9)]
SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(8)]
"""Taylor's series, up to where the rest is less than float64 has digits for half of a quarter."""


def cosines_and_sines(angle):
    """Of angles in float64, to two units in the last place of 1."""
    quarters = jnp.round(angle * (2 / math.pi))
    rest = (angle - quarters * QUARTER) - quarters * QUARTER_REST
    square = rest * rest
    cos, sin = _series(COSINE, square), rest * _series(SINE, square)
    quarters = quarters.astype(jnp.int32)
    swapped = (quarters & 1) == 1
    cos, sin = jnp.where(swapped, sin, cos), jnp.where(swapped, cos, sin)
    return jnp.where(((quarters + 1) & 2) == 2, -cos, cos), jnp.where((quarters & 2) == 2, -sin, sin)


def _series(factors, square):
    total = factors[-1]
    for factor in reversed(factors[:-1]):
        total = factor + square * total
    return total
