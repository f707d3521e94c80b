"""Legal actions by a mask: computed alike in JAX and in numpy, by a candidate's batch and by the verifier.

This module imports neither JAX nor the harness.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def ranked(xp: Any, legal: Any, rank: Any) -> Any:
    """The place of the legal value of this rank, int32 `[...]`; 0 where no value is legal.

    Args:
        xp: `numpy` or `jax.numpy`.
        legal: which values are, bool `[..., values]`.
        rank: uint32 `[...]`.
    """
    reached = xp.cumsum(legal, -1, dtype=np.uint32) > rank[..., None]
    return xp.argmax(reached, -1).astype(np.int32)


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
    rank = place * legal.sum(-1, dtype=np.uint32) // np.uint32(legal.shape[-1])
    return xp.where(legal.any(-1), first + ranked(xp, legal, rank), action).astype(action.dtype)
