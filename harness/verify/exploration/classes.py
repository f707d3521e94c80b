"""Classes of numbers: into which of a few thousand kinds a value, its place among others, or its change falls.

Only comparisons and operations that IEEE 754 rounds once are used, so that a class does not depend on the processor.
"""

from __future__ import annotations

import numpy as np

from harness.model import Array

CLASSES = 1 << 12
"""There are fewer classes than this of each feature."""
COARSE = 1 << 6
"""And of what goes into a pair, so that a pair has CLASSES."""
EXACT = 1 << 10
"""Integers nearer to zero than this are classes of their own."""
QUANTILES = 16
SMALLEST = 8
"""Octaves below the scale of a number in which its size, and that of its changes, still counts."""
TAIL = 15
"""Classes beyond the quantiles, on each side."""
NO_CHANGE = 1


def of_integers(values: Array) -> Array:
    """Classes of int64 values: small ones each for itself, larger ones by sign and size."""
    small = (values > -EXACT) & (values < EXACT)
    return np.where(small, np.clip(values, -EXACT, EXACT) + EXACT, 2 * EXACT + sizes(values.astype(np.float64)))


def coarse_integers(values: Array) -> Array:
    """Classes below COARSE of int64 values."""
    octaves = np.frexp(values.astype(np.float64))[1]
    large = 40 + np.clip(octaves - 6, 0, 11)
    return np.where(values < 0, 52 + np.clip(octaves, 0, 11), np.where(values < 40, np.clip(values, 0, 40), large))


def of_floats(values: Array, low: Array, high: Array, scale: Array) -> Array:
    """Classes of float64 values by sign and size; those exactly on a bound or beyond it, zeros and NaN apart.

    Args:
        values: `[N, E]`.
        low, high: the bounds of each of the E elements, infinite where there are none.
        scale: their octaves (`octaves_of`).
    """
    found = 16 + sizes(values, scale)
    with np.errstate(invalid="ignore"):
        for number, those in enumerate((values == low, values == high, values < low, values > high), start=4):
            found = np.where(those, number, found)
    found = np.where(values == 0, np.signbit(values), found)
    found = np.where(np.isinf(values), 2 + np.signbit(values), found)
    return np.where(np.isnan(values), 8, found)


def sizes(values: Array, scale: Array | int = 0) -> Array:
    """Sign and size of float64 values, a quarter of an octave each, from 0 to 1023; from SMALLEST below their scale on
    together, because whatever passes through zero is small there for no reason.
    """
    mantissa, octave = np.frexp(np.nan_to_num(values))
    octave = np.clip(octave.astype(np.int64) - scale, -SMALLEST, 127 - SMALLEST)
    quarter = 4 * (octave + SMALLEST) + np.floor((np.abs(mantissa) - 0.5) * 8).astype(np.int64)
    return np.where(np.signbit(values), 512, 0) + np.clip(quarter, 0, 511)


def octaves_of(edges: Array) -> Array:
    """The octave of the largest value of a sample, from its quantiles."""
    return np.frexp(np.abs(edges).max(axis=0))[1].astype(np.int64)


def quantile_edges(values: Array) -> Array:
    """Edges that part a sample `[N, E]` into QUANTILES parts of about as many values, `[QUANTILES + 1, E]`."""
    ordered = np.sort(np.nan_to_num(values), axis=0)
    return ordered[np.arange(QUANTILES + 1) * (len(ordered) - 1) // QUANTILES]


def places(values: Array, edges: Array) -> Array:
    """Classes below COARSE: between which edges a value lies, or how far beyond the last in eighths of their whole span."""
    values = np.nan_to_num(values)
    first, last = edges[0], edges[-1]
    eighth = np.where(last > first, last - first, np.abs(last) + 1.0) / 8
    inside = np.empty(values.shape, np.int64)
    for element in range(values.shape[1]):
        inside[:, element] = np.searchsorted(edges[:, element], values[:, element], side="right")
    with np.errstate(over="ignore", invalid="ignore"):
        below, above = (
            np.clip(np.nan_to_num(beyond / eighth), 0, TAIL - 1).astype(np.int64)
            for beyond in (first - values, values - last)
        )
    found = np.where(values < first, QUANTILES + 2 + below, inside)
    return np.where(values > last, QUANTILES + 2 + TAIL + above, found)


def changes(values: Array, begins: Array, scale: Array | int = 0) -> Array:
    """Classes of what became of float64 values `[N, E]` since the timestep before: the way and octave of the change, beside
    the way of the change before that.

    Args:
        begins: which of the N timesteps have none before them.
        scale: the octaves of the values (`octaves_of`).
    """
    change = np.zeros_like(values)
    with np.errstate(invalid="ignore", over="ignore"):
        change[1:] = values[1:] - values[:-1]
    change[begins] = 0.0
    change = np.nan_to_num(change)
    way = np.sign(change).astype(np.int64)
    octave = np.clip(np.frexp(change)[1] - scale, -SMALLEST, 63 - SMALLEST) + SMALLEST
    before = np.zeros_like(way)
    before[1:] = way[:-1]
    before[begins] = 0
    return 3 * np.where(way == 0, NO_CHANGE, 2 + octave + np.where(way < 0, 64, 0)) + before + 1
