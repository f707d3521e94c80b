"""Which cases a candidate in Rust plays alone, and which among others.

Its batches are its own code, and what is wrong only there is as rare as any other fault. So half of all cases are played in
batches of many sizes, and half by one instance. A case keeps its way while it is cut and shrunk, as its seed decides; few
cases are played in both ways, so that a difference shows again when its case is played by itself. A candidate in JAX plays
all its cases in one compiled batch, and has no other way for many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from harness.compare import Difference
from harness.model import Trajectory

Follow = Callable[[Sequence[Trajectory], str], list[Trajectory]]
"""The candidate's answers to what the reference did, in one way: `single`, `batched` or `scanned`."""
Differences = Callable[[Sequence[Trajectory], Sequence[Trajectory]], list[Difference | None]]
FEW = 4
"""So many cases, or fewer, are played in both ways: what is replayed, kept or explained, and no chunk of episodes."""
SIZES = 2, 160
"""How many play together: from and to, evenly spread over their logarithms."""
AMONG_OTHERS = "scanned"
"""This way adds instances to those that are asked for, so that a single case has company too."""
WAYS = "batched", AMONG_OTHERS


def alone_and_together(
    expected: Sequence[Trajectory], follow: Follow, differences: Differences, seed: int
) -> list[Trajectory]:
    """The candidate's answers to what the reference did, each played alone or among others.

    Args:
        follow: plays some of them in one way.
        differences: the first difference of each pair of trajectories.
        seed: chooses the ways and the sizes of batches; the candidate does not know it.

    Returns:
        One answer each. Of few, which are played in both ways, the one that differs from the reference where one does.
    """
    if len(expected) <= FEW:
        alone, together = follow(expected, "single"), follow(expected, AMONG_OTHERS)
        agrees = [difference is None for difference in differences(expected, alone)]
        return [b if agreed else a for a, b, agreed in zip(alone, together, agrees, strict=True)]
    # As these very cases decide, too: the next ones are played in batches of other sizes.
    rng = np.random.default_rng([seed, expected[0].case.seed])
    in_batch = [_is_together(one.case.seed, seed) for one in expected]
    alone = iter(follow([one for one, other in zip(expected, in_batch, strict=True) if not other], "single"))
    together = iter(_in_batches([one for one, other in zip(expected, in_batch, strict=True) if other], follow, rng))
    return [next(together if other else alone) for other in in_batch]


def _is_together(case_seed: int, seed: int) -> bool:
    return bool(hashlib.sha256(f"{seed}/{case_seed}".encode()).digest()[0] & 1)


def _in_batches(expected: Sequence[Trajectory], follow: Follow, rng: np.random.Generator) -> list[Trajectory]:
    played: list[Trajectory] = []
    while len(played) < len(expected):
        size = round(np.exp(rng.uniform(*np.log(SIZES))))
        played += follow(expected[len(played) : len(played) + size], WAYS[rng.integers(len(WAYS))])
    return played
