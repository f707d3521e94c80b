"""Values of leaves that are drawn within their bounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.model import Array, Leaf


def anywhere(leaf: Leaf, rng: np.random.Generator, count: int) -> Array:
    """`count` values within a leaf's bounds, `[count, *shape]`: mostly uniform, some exactly on a bound or just inside."""
    dtype, shape = np.dtype(leaf.dtype), (count, *leaf.shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    low, high = (np.broadcast_to(np.asarray(bound, dtype=np.float64), leaf.shape) for bound in (leaf.low, leaf.high))
    low, high = np.nan_to_num(low, neginf=-1e6), np.nan_to_num(high, posinf=1e6)
    edge = np.where(rng.random(shape) < 0.5, low, high).astype(dtype)
    kind = rng.random(count).reshape(-1, *[1] * len(leaf.shape))
    if dtype.kind in "iu":
        inside = rng.integers(low.astype(np.int64), high.astype(np.int64) + 1, shape).astype(dtype)
        return np.where(kind < 0.2, edge, inside)
    inside = (low + rng.random(shape) * (high - low)).astype(dtype)
    beside = np.nextafter(edge, ((low + high) / 2).astype(dtype))
    return np.where(kind < 0.1, edge, np.where(kind < 0.2, beside, inside))


def inputs_anywhere(leaves: Mapping[str, Leaf], rng: np.random.Generator, count: int) -> dict[str, Array]:
    """`anywhere` for each of some inputs, `[count, *shape]`; zeros for those that have no bounds."""
    return {
        name: anywhere(leaf, rng, count) if leaf.low is not None or leaf.dtype == "bool" else leaf.zeros(count)
        for name, leaf in leaves.items()
    }
