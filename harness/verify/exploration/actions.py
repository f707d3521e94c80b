"""How exploration plays on: at random, or by persistence, which reaches what random play does not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.candidate.faces.leaves import mask_of
from harness.model import Array, Leaf
from harness.task.leaf_values import anywhere

REPEATS = (0.0, 0.5, 0.9, 0.98, 1.0)
"""With which probability an action repeats the one before."""
PERIODS = (2, 6)
"""Patterns of at least and fewer than so many actions are repeated too."""
FEW = 8
"""Up to so many actions are each tried from a state."""


def first_actions(leaves: Mapping[str, Leaf], legal: Mapping[str, Array], rng: np.random.Generator) -> list[int] | None:
    """The actions to begin with from a state, each once: all of them, or FEW by chance.

    None where an action is more than one whole number.
    """
    leaf = leaves.get("action")
    if leaf is None or leaf.shape or np.dtype(leaf.dtype).kind not in "iu":
        return None
    mask = legal.get(mask_of("action"))
    low, high = int(leaf.low), int(leaf.high)
    if mask is None and high - low < FEW:
        return list(range(low, high + 1))
    possible = np.flatnonzero(mask) if mask is not None else np.arange(high - low + 1 if high - low < 1 << 16 else 0)
    if not len(possible):
        return None
    return [
        low + int(each) for each in (possible if len(possible) <= FEW else rng.choice(possible, FEW, replace=False))
    ]


def random_legal(path: str, leaf: Leaf, legal: Mapping[str, Array], rng: np.random.Generator) -> Array:
    """One action of a leaf, `[1, *shape]`, legal where a mask says what is."""
    mask = legal.get(mask_of(path))
    if mask is None or not np.any(mask):
        return anywhere(leaf, rng, 1)
    return np.array([int(leaf.low or 0) + int(rng.choice(np.flatnonzero(mask)))], leaf.dtype)


def lasting(leaves: Mapping[str, Leaf], rng: np.random.Generator, count: int, length: int) -> dict[str, Array]:
    """Actions of `count` cases, `[count, length, *shape]`: random, sticky, constant, or a pattern that is repeated."""
    way = rng.integers(0, len(REPEATS) + 1, count)
    step = np.arange(length)
    repeated = rng.random((count, length)) < np.array([*REPEATS, 0.0])[way][:, None]
    source = np.maximum.accumulate(np.where(repeated, 0, step), axis=1)
    pattern = step % rng.integers(*PERIODS, count)[:, None]
    source = np.where((way == len(REPEATS))[:, None], pattern, source)
    chosen = {}
    for path, leaf in leaves.items():
        values = anywhere(leaf, rng, count * length).reshape(count, length, *leaf.shape)
        chosen[path] = values[np.arange(count)[:, None], source]
    return chosen
