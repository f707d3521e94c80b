"""States are kept by the declared features that show there, and an exploration goes on from them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial

import numpy as np
import pytest

from harness.model import Case, Trajectory
from harness.verify.exploration import declared as module
from harness.verify.exploration.declared import FOR_EACH, Declared
from harness.verify.exploration.explorer import STREAM, Explorer
from harness.verify.suite.client import Shown
from tests.verify.exploration.conftest import MakePair

BUDGET = 6000
NARROW = (1.5, 1.6)


def walked(number: int, steps: int = 3, *, ended: bool = False) -> Trajectory:
    """An episode whose states tell its number."""
    ends = np.zeros(steps + 1, bool)
    leaves = {
        "state/place": np.full(steps + 1, number, np.float64) + np.arange(steps + 1) / 10,
        "terminated": np.concatenate([ends[1:], [ended]]),
        "truncated": ends,
    }
    return Trajectory(Case(number, {"action": np.zeros(steps, np.int32)}), leaves)


def places(kept: Declared) -> list[float]:
    """Where the kept states are."""
    return sorted(round(float((entry.case.start or {})["state/place"]), 3) for entry in kept.entries)


def test_the_state_in_which_a_feature_shows_is_kept_or_the_one_before_an_end() -> None:
    kept = Declared(restores=True)
    kept.add([walked(1), walked(2), walked(3, ended=True)], [0, 0, 0], [0, 0, 0], np.array([[2, -1, 3], [-1, -1, -1]]))
    assert places(kept) == [1.2, 3.2]


def test_what_shows_before_the_first_new_timestep_is_not_taken_in() -> None:
    kept = Declared(restores=True)
    kept.add([walked(1), walked(2)], [2, 2], [0, 0], np.array([[1, 2]]))
    assert places(kept) == [2.2]


def test_few_states_are_kept_for_a_feature_and_new_ones_come_for_those_gone_on_from() -> None:
    kept = Declared(restores=True)
    first = [walked(number) for number in range(2 * FOR_EACH)]
    kept.add(first, [0] * len(first), [0] * len(first), np.ones((1, len(first)), int))
    assert places(kept) == [number + 0.1 for number in range(FOR_EACH)]
    gone_on = kept.choose(np.random.default_rng(1))
    kept.add([walked(50), walked(60)], [0, 0], [0, 0], np.ones((1, 2), int))
    assert 50.1 in places(kept) and 60.1 not in places(kept) and len(kept.entries) == FOR_EACH
    assert round(float((gone_on.case.start or {})["state/place"]), 3) not in places(kept)


def test_the_rarest_feature_is_gone_on_from_most_and_all_are_at_times() -> None:
    kept = Declared(restores=True)
    played = [walked(number) for number in range(100)]
    first = np.full((2, 100), -1)
    first[0], first[1, 7] = 1, 2
    kept.add(played, [0] * 100, [0] * 100, first)
    rng = np.random.default_rng(2)
    chosen = [round(float((kept.choose(rng).case.start or {})["state/place"]), 3) for _ in range(200)]
    assert 130 < chosen.count(7.2) < 200 and len(set(chosen)) == 1 + FOR_EACH


def test_its_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    kept = Declared(restores=True)
    for number in range(20):
        kept.add([walked(number)], [0], [0], np.where(np.arange(30)[:, None] <= number, 1, -1))
    assert 0 < sum(entry.bytes for entry in kept.entries) <= 100
    assert max(places(kept)) > 15  # what was seen least often stays


def narrow(played: Sequence[Trajectory]) -> Future[Shown]:
    """Of the walk: where it is first within a narrow strip."""
    found = [
        np.flatnonzero((each.leaves["state/place"] > NARROW[0]) & (each.leaves["state/place"] < NARROW[1]))
        for each in played
    ]
    shown: Future[Shown] = Future()
    shown.set_result(
        Shown({"in the strip": sum(map(len, found))}, np.array([[each[0] if len(each) else -1 for each in found]]))
    )
    return shown


def test_an_exploration_goes_on_from_states_in_which_declared_features_show(make_pair: MakePair) -> None:
    def inside(trajectory: Trajectory, lead: int) -> bool:
        return NARROW[0] < trajectory.leaves["state/place"][lead] < NARROW[1]

    def gone_on(*, declared: bool) -> tuple[int, list[str]]:
        pair = make_pair(8)
        make = partial(Explorer, pair.task, pair.reference, pair.random(STREAM), restores=pair.can_restore)
        explorer = make(shows=narrow) if declared else make()
        explorer.observe(pair.reference.drive("random", pair.seeds("episodes/random", 16), 50))
        played = [trajectory for wave in explorer.waves(BUDGET) for trajectory in wave.played]
        going_on = [one for one in played if one.case.origin == "exploration"]
        count = sum(any(inside(one, lead) for lead in range(1 if one.case.start else one.steps)) for one in going_on)
        return count, [one.digest for one in played]

    with_features, digests = gone_on(declared=True)
    without, others = gone_on(declared=False)
    assert with_features > 1.3 * max(1, without)
    assert gone_on(declared=True)[1] == digests != others
