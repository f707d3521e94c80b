"""Start states: half of them rare, a function of the seed, and none where they cannot be restored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.verify.start_states import StartStates
from tests.verify.exploration.conftest import MakePair


def test_rare_states_are_among_them_where_states_can_be_restored(make_pair: MakePair) -> None:
    pair = make_pair(1)
    assert bool(pair.starts.rare) == pair.can_restore
    common = {(float(s["state/place"]), int(s["state/steps"])) for s, _ in pair.starts.reached}
    rare = {(float(s["state/place"]), int(s["state/steps"])) for s, _ in pair.starts.rare}
    assert len(rare - common) >= len(rare) / 3
    assert {int(action["action"]) for _, action in pair.starts.rare} <= {0, 1, 2}
    assert len(pair.starts.near("here", 50)) == len(pair.starts.near("here", 50, rare=0.5)) == 50


def test_as_many_are_rare_as_are_asked_for(make_pair: MakePair) -> None:
    starts = make_pair(1).starts
    known = {id(action) for _, action in starts.rare}
    for share in (0.0, 0.5, 1.0):
        near = starts.near("here", 200, rare=share)
        assert abs(np.mean([id(action) in known for _, action in near]) - (share if known else 0.0)) < 0.15


def test_they_are_a_function_of_the_seed(make_pair: MakePair) -> None:
    def near(seed: int) -> list[float]:
        return [float(state["state/place"]) for state, _ in make_pair(seed).starts.near("here", 100, rare=0.5)]

    assert near(3) == near(3)
    assert near(3) != near(4)


def test_a_task_that_is_not_explored_has_none(make_pair: MakePair) -> None:
    pair = make_pair(2)
    task = replace(pair.task, budgets=replace(pair.task.budgets, exploration=0))
    starts = StartStates(task, pair.suite, pair.reference, pair, restores=pair.can_restore)
    assert starts.rare == []
    places = np.array([float(state["state/place"]) for state, _ in starts.near("here", 50, rare=1.0)])
    assert np.ptp(places) > 0
