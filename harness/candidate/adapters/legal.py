"""Legal actions by a mask: computed alike in JAX and in numpy, by a candidate's batch and by the verifier.

This module imports neither JAX nor the harness.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

WORD = 32
"""Bits of a word."""


def legal_count(xp: Any, legal: Any) -> Any:
    """How many values are legal, uint32 `[...]`, of a mask `[..., values]`."""
    return _columns(legal).sum(0, dtype=np.uint32) if xp is np else legal.sum(-1, dtype=np.uint32)


def ranked(xp: Any, legal: Any, rank: Any) -> Any:
    """The place of the legal value of this rank, int32 `[...]`; 0 where no value is legal.

    Args:
        xp: `numpy` or `jax.numpy`.
        legal: which values are, bool `[..., values]`.
        rank: uint32 `[...]`.
    """
    return _ranked_by_columns(legal, rank) if xp is np else _ranked_by_words(xp, legal, rank)


def _ranked_by_columns(legal: Any, rank: Any) -> Any:
    values = legal.shape[-1]
    small = np.min_scalar_type(values)
    counted = _running(_columns(legal), small)
    rank = np.minimum(rank, values).astype(small)
    place = np.sum(counted <= rank, 0, dtype=small)
    return np.where(counted[-1] > rank, place, 0).astype(np.int32)


def _running(columns: Any, dtype: Any) -> Any:
    """The running sum over the first axis. Numpy's own takes tens of times as long as additions where rows are long."""
    if columns[0].size < len(columns):
        return np.cumsum(columns, 0, dtype=dtype)
    counted = columns.astype(dtype)
    for before, row in pairwise(counted):
        np.add(before, row, out=row)
    return counted


def _columns(legal: Any) -> Any:
    """A mask's values before its rows: in numpy a sum along short rows takes several times as long as over columns."""
    return np.ascontiguousarray(np.moveaxis(legal, -1, 0))


def _ranked_by_words(xp: Any, legal: Any, rank: Any) -> Any:
    """In JAX: bits of words, of which a few operations count those below; XLA's running sum takes far longer."""
    values = legal.shape[-1]
    words = -(-values // WORD)
    flags = xp.pad(legal, [(0, 0)] * (legal.ndim - 1) + [(0, words * WORD - values)])
    flags = flags.reshape((*legal.shape[:-1], words, WORD))
    bit = np.uint32(1) << np.arange(WORD, dtype=np.uint32)
    held = xp.sum(xp.where(flags, bit, np.uint32(0)), -1, dtype=np.uint32)
    before = xp.zeros_like(rank)
    place = xp.zeros(rank.shape, np.int32)
    for word in range(words):
        counted = xp.bitwise_count(held[..., word, None] & (bit | (bit - np.uint32(1))))
        passed = before[..., None] + counted <= rank[..., None]
        place = place + xp.sum(passed, -1, dtype=np.int32)
        before = before + counted[..., -1]
    return xp.where(before > rank, place, np.int32(0))


def legal_action(xp: Any, action: Any, low: Any, legal: Any) -> Any:
    """A legal action in the place of any: as far among the legal values as that is among all; itself where all
    are legal, or none is, as of a player who is not to move.

    Args:
        xp: `numpy` or `jax.numpy`.
        action: whole numbers `[...]`, from `low` on; None is 0.
        legal: which of its values are legal, bool `[..., values]`; at most 65,535 values.
    """
    first = int(low or 0)
    place = (action - first).astype(np.uint32)
    rank = place * legal_count(xp, legal) // np.uint32(legal.shape[-1])
    return xp.where(legal.any(-1), first + ranked(xp, legal, rank), action).astype(action.dtype)
