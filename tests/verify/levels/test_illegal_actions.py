"""Level 2 plays the beginning of a sequence in which an action is not legal, and shrinking leaves none in that is not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.errors import Raised, Side
from harness.model import Case
from harness.verify.levels.property import playable
from harness.verify.localise import which_differ
from harness.verify.shrink import shortest

ILLEGAL = 9


class Refusing:
    """A stand-in for a pair of sides: the reference refuses an action, and both differ in the step after a 5."""

    def play(self, cases: Sequence[Case], **_: object) -> list[tuple[Case, Any]]:
        actions = [case.actions["action"].tolist() for case in cases]
        if any(ILLEGAL in each for each in actions):
            raise Raised("ValueError: action 9 is not legal", side=Side.REFERENCE)
        return [(case, "a difference" if 5 in each else None) for case, each in zip(cases, actions, strict=True)]


def case(*actions: int) -> Case:
    return Case(1, {"action": np.array(actions, np.int32)})


@pytest.mark.parametrize(
    ("given", "played", "refused"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 0),
        ([1, 2, 3, ILLEGAL], [1, 2], 0),
        ([1, 2, ILLEGAL], [1], 0),
        ([1, ILLEGAL, 3, 4], [1], 0),
        ([ILLEGAL, 2, 3, 4], None, 1),
        ([ILLEGAL], None, 1),
    ],
)
def test_as_much_of_it_as_halving_leaves(given: list[int], played: list[int] | None, refused: int) -> None:
    pair: Any = Refusing()
    found, left_out = playable(pair, [case(7), case(*given)])
    assert [each.actions["action"].tolist() for each, _ in found] == [[7]] + ([played] if played else [])
    assert left_out == refused


def test_what_shows_in_the_beginning_is_found() -> None:
    pair: Any = Refusing()
    found, _ = playable(pair, [case(1, 5, 3, ILLEGAL), case(2, 2)])
    assert sorted(str(difference) for _, difference in found) == ["None", "a difference"]


class Growing:
    """A stand-in for a pair of sides: an action has to be the next number, or is one of the first two; after a 5 they differ."""

    def play(self, cases: Sequence[Case], only: object) -> list[tuple[Case, Any]]:
        actions = [case.actions["action"].tolist() for case in cases]
        if any(after not in (1, 2, before + 1) for each in actions for before, after in pairwise([0, *each])):
            raise Raised("ValueError: an action is not legal", side=Side.REFERENCE)
        return [
            (case, SimpleNamespace(path="reward") if 5 in each else None)
            for case, each in zip(cases, actions, strict=True)
        ]


def test_shrinking_goes_around_what_the_reference_refuses() -> None:
    pair: Any = Growing()
    found = shortest(case(1, 2, 1, 2, 1, 2, 3, 4, 5, 6), partial(which_differ, pair, only=None, path="reward"))
    assert found.actions["action"].tolist() == [2, 3, 4, 5]
    assert which_differ(pair, [case(2, 3, 4, 5), case(5), case(1)], only=None, path="observation") == [False] * 3
