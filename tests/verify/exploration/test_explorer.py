"""The explorer: a function of the seed, within its budget and its memory, and it gets where random play does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.model import Trajectory
from harness.verify.exploration import explorer as module
from harness.verify.exploration.explorer import Explorer
from harness.verify.pair import Pair
from tests.verify.exploration.conftest import MakePair

BUDGET = 3000


def explorer_of(pair: Pair) -> Explorer:
    """The explorer that level 3 makes of a pair."""
    return Explorer(pair.task, pair.reference, pair.random(module.STREAM), restores=pair.can_restore)


def whole(played: list[Trajectory]) -> list[Trajectory]:
    """The episodes that begin at a reset and were played as far as they go."""
    return [one for one in played if one.case.start is None and one.case.origin != "exploration"]


def explored(pair: Pair, budget: int = BUDGET) -> tuple[list[Trajectory], Explorer]:
    """All that an explorer plays after it has looked at some episodes, as it would at level 3."""
    explorer = explorer_of(pair)
    for policy in ("random", "sticky"):
        explorer.observe(pair.reference.drive(policy, pair.seeds(f"episodes/{policy}", 8), pair.task.budgets.horizon))
    return [trajectory for wave in explorer.waves(budget) for trajectory in wave.played], explorer


def test_it_is_a_function_of_the_seed(make_pair: MakePair) -> None:
    def digests(seed: int) -> list[str]:
        return [trajectory.digest for trajectory in explored(make_pair(seed))[0]]

    assert digests(1) == digests(1)
    assert digests(1) != digests(2)


def test_it_keeps_to_its_budget(make_pair: MakePair) -> None:
    played, _ = explored(make_pair(3))
    steps = sum(trajectory.steps for trajectory in played)
    assert BUDGET / 3 < steps <= BUDGET
    assert explored(make_pair(3), 0)[0] == []


def test_what_it_plays_is_answered_again_in_the_same_way(make_pair: MakePair) -> None:
    pair = make_pair(4)
    played, _ = explored(pair)
    again = pair.reference.rollout([pair.as_case(trajectory) for trajectory in played])
    assert [one.digest for one in again] == [one.digest for one in played]


def test_it_goes_on_from_rare_states_with_each_action(make_pair: MakePair) -> None:
    pair = make_pair(5)
    played, explorer = explored(pair)
    going_on = [one for one in played if one.case.origin == "exploration" and one.steps]
    assert len(going_on) > len(played) / 2
    assert {bool(one.case.start) for one in going_on} == {pair.can_restore}
    lasts = {int(one.case.actions["action"][-1]) for one in going_on}
    assert lasts == {0, 1, 2}
    assert max(np.abs(one.leaves["state/place"]).max() for one in played) > 5
    assert any(one.leaves["terminated"][-1] for one in played)
    assert explorer.archive.known > len(explorer.archive.entries)


@pytest.mark.parametrize(("horizon", "further"), [(12, True), (50, False)])
def test_where_episodes_do_not_end_within_the_horizon_some_are_played_further(
    make_pair: MakePair, horizon: int, further: bool
) -> None:
    pair = make_pair(7)
    pair.task = replace(pair.task, budgets=replace(pair.task.budgets, horizon=horizon))
    longest = max(whole(explored(pair)[0]), key=lambda one: one.steps)
    assert longest.leaves["truncated"][-1] or longest.leaves["terminated"][-1]
    assert (longest.steps > horizon) is further


def test_its_memory_is_bounded(make_pair: MakePair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAVE_BYTES", 20_000)
    pair = make_pair(6)
    explorer = explorer_of(pair)
    waves = [wave.played for wave in explorer.waves(BUDGET)]
    most = 20_000 / pair.task.timestep_bytes + module.FEW * (1 + max(module.LENGTHS) + pair.task.budgets.horizon)
    assert max(sum(one.timesteps for one in wave) for wave in waves) <= most


def test_what_is_played_beyond_the_horizon_fits_into_memory(
    make_pair: MakePair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = make_pair(7)
    pair.task = replace(pair.task, budgets=replace(pair.task.budgets, horizon=12))
    monkeypatch.setattr(module, "WAVE_BYTES", 16 * pair.task.timestep_bytes)
    assert max(one.steps for one in whole(explored(pair)[0])) == 16


def farthest_gust(played: list[Trajectory]) -> float:
    """Of all gusts of wind the strongest: one in 30,000 is 4 standard deviations from the mean."""
    return max(abs(float(draw.value)) for one in played for draws in one.draws or () for draw in draws)


def test_what_chance_hardly_ever_brings_is_forced(make_pair: MakePair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_pair(8)
    assert (farthest_gust(explored(pair)[0]) > 4.2) is pair.can_restore
    monkeypatch.setattr(module, "BY_CHANCE", module.BEGIN_EVERY)
    assert farthest_gust(explored(pair)[0]) < 4.2
