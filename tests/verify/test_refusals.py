"""What a reference refuses is left out, and everything else is answered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.errors import Raised, Side
from harness.verify.refusals import answered


def answering(refused: set[int], side: Side = Side.REFERENCE):
    def play(asked: Sequence[int]) -> list[str]:
        if wrong := refused & set(asked):
            raise Raised(f"{min(wrong)} is refused", where="play", side=side)
        return [str(one) for one in asked]

    return play


@pytest.mark.parametrize("refused", [set[int](), {0}, {3, 4}, {9}, set(range(10))])
def test_each_that_is_refused_has_no_answer(refused: set[int]) -> None:
    assert answered(answering(refused), range(10)) == [None if one in refused else str(one) for one in range(10)]


def test_what_a_candidate_raises_is_no_refusal() -> None:
    with pytest.raises(Raised):
        answered(answering({2}, Side.CANDIDATE), range(4))
