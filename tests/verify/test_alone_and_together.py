"""How cases are shared out between one instance of a candidate in Rust and its batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.model import Case, Trajectory
from harness.verify.alone_and_together import FEW, alone_and_together

ACTIONS = {"action": np.zeros(3, np.int32)}
SEED = 5


def sizes(chunks: Sequence[int]) -> list[list[int]]:
    """The sizes of the batches in which each chunk of episodes is played; each answer has to come back in its place."""
    found: list[list[int]] = []

    def follow(those: Sequence[Trajectory], way: str) -> list[Trajectory]:
        if way != "single":
            found[-1].append(len(those))
        return list(those)

    number = 0
    for size in chunks:
        expected = [Trajectory(Case(number + each, ACTIONS), {}, None) for each in range(size)]
        number += size
        found.append([])
        agree: Any = lambda one, other: [None] * len(one)  # noqa: E731
        assert alone_and_together(expected, follow, agree, SEED) == expected
    return found


def test_each_chunk_is_played_in_batches_of_sizes_of_its_own() -> None:
    found = sizes([400] * 8)
    assert len({first for first, *_ in found}) > 4
    assert max(map(max, found)) > 100
    assert sizes([400] * 3) == found[:3]


def test_few_cases_are_played_in_both_ways() -> None:
    assert sizes([FEW]) == [[FEW]]
