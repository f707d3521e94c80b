"""What the harness gets from a worker that keeps the protocol: rollouts, single steps, policies, probes, tapes, states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from harness.compare import compare
from harness.errors import BadAnswer, Raised
from harness.model import Case, Draw, Trajectory
from harness.protocol.environment import PART_BYTES, Environment

LENGTH = 14


def case(seed: int, actions: list[int]) -> Case:
    return Case(seed, {"action": np.array(actions, np.int64)})


CASES = st.builds(case, st.integers(0, (1 << 63) - 1), st.lists(st.integers(0, 2), max_size=LENGTH))


def same(one: Trajectory, other: Trajectory, environment: Environment) -> bool:
    return compare(one, other, environment.spec.leaves, {}) is None and one.timesteps == other.timesteps


@given(CASES)
@settings(max_examples=30)
def test_a_rollout_and_single_steps_give_the_same_trajectory(opened_walker: Environment, played: Case) -> None:
    (rolled,), walked = opened_walker.rollout([played]), opened_walker.walk(played)
    assert same(rolled, walked, opened_walker) and rolled.digest == walked.digest


@given(CASES, st.integers(0, 99))
@settings(max_examples=30)
def test_its_own_draws_forced_on_another_seed_give_the_same_trajectory(
    opened_walker: Environment, played: Case, seed: int
) -> None:
    (first,) = opened_walker.rollout([played])
    forced = replace(played.cut(first.steps), seed=seed, draws=first.draws)
    (second,) = opened_walker.rollout([forced])
    assert same(first, second, opened_walker) and same(first, opened_walker.walk(forced), opened_walker)


def test_a_rollout_begins_with_the_reset_and_stops_at_the_end(opened_walker: Environment) -> None:
    (played,) = opened_walker.rollout([case(3, [2] * LENGTH)])
    assert played.leaves["reward"][0] == 0.0
    assert played.leaves["terminated"].tolist() == [False] * played.steps + [True]
    assert 5 <= abs(played.leaves["state/place"][-1]) <= 6 and played.steps < LENGTH
    assert played.draws is not None and [draw.name for draw in played.draws[0]] == ["start", "slope"]


def test_a_case_can_start_from_a_state(opened_walker: Environment) -> None:
    (whole,) = opened_walker.rollout([case(3, [0, 2, 1, 1, 0, 2])])
    assert whole.draws is not None
    rest = replace(case(0, [1, 1, 0, 2]), start=whole.state(2), draws=((), *whole.draws[3:]))
    (played,) = opened_walker.rollout([rest])
    for path, array in played.leaves.items():
        assert array[1:].tobytes() == whole.leaves[path][3:].tobytes()
    assert same(played, opened_walker.walk(rest), opened_walker)


def test_restore_returns_the_state_that_it_was_given(opened_walker: Environment) -> None:
    state = opened_walker.reset(5).state(0)
    assert {path: value.item() for path, value in opened_walker.restore(state).items()} == {
        path: value.item() for path, value in state.items()
    }


@pytest.mark.parametrize(
    ("draws", "complaint"),
    [
        (((), ()), "the tape has no start here"),
        (((Draw("slope", np.array(0.5)), Draw("start", np.array(0))), ()), "the tape has no start here"),
        (
            ((Draw("start", np.array(1)), Draw("slope", np.array(0.5)), Draw("slope", np.array(0.5))), ()),
            "the tape has 1 draws left over",
        ),
        (((Draw("start", np.array(1)), Draw("slope", np.array(0.5))), ()), "the tape has no gust here"),
    ],
)
def test_a_missing_left_over_or_misplaced_draw_raises(opened_walker: Environment, draws: tuple, complaint: str) -> None:
    with pytest.raises(Raised, match=complaint):
        opened_walker.rollout([replace(case(3, [2]), draws=draws)])


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (replace(case(3, [2]), draws=((), (), ())), None),
        (
            replace(case(3, [2]), draws=((), (), (Draw("gust", np.array(0)),))),
            "draws for 3 timesteps, but only 1 actions",
        ),
        (replace(case(3, [3])), "action is outside its bounds"),
        (replace(case(3, [1]), start={"state/place": np.array(0)}), "the state has"),
    ],
)
def test_a_case_that_asks_for_the_impossible_is_refused(
    opened_walker: Environment, wrong: Case, complaint: str | None
) -> None:
    # Timesteps without draws at the end of a tape are not sent, so that the first of these lacks draws instead.
    with pytest.raises(Raised if complaint is None else BadAnswer, match=complaint):
        opened_walker.rollout([wrong])


@pytest.mark.parametrize("policy", ["random", "sticky", "outward"])
def test_a_driven_episode_can_be_repeated_from_its_case(opened_walker: Environment, policy: str) -> None:
    driven = opened_walker.drive(policy, [1, 2, 1 << 40, (1 << 63) - 1], horizon=9)
    assert [trajectory.case.seed for trajectory in driven] == [1, 2, 1 << 40, (1 << 63) - 1]
    for one, again in zip(driven, opened_walker.rollout([t.case for t in driven]), strict=True):
        assert same(one, again, opened_walker) and one.steps == one.case.length <= 9
    assert len({t.case.actions["action"].tobytes() for t in driven}) > 1 or policy == "outward"


@pytest.mark.parametrize("policy", ["random", "sticky", "outward"])
@pytest.mark.parametrize("begins", ["at a reset", "at a state"])
def test_a_policy_goes_on_from_a_case(opened_walker: Environment, policy: str, begins: str) -> None:
    cases = [case(seed, [0, 1, 1]) for seed in range(6)]
    if begins == "at a state":
        [reached] = opened_walker.rollout([case(9, [0, 0])])
        cases = [replace(one, start=reached.state(2)) for one in cases]
    begun = list(enumerate(cases))
    driven = opened_walker.drive_after(begun, policy, horizon=5)
    for one, before, again in zip(driven, cases, opened_walker.rollout([t.case for t in driven]), strict=True):
        assert same(one, again, opened_walker)
        assert (one.case.seed, one.case.start is None) == (before.seed, before.start is None)
        assert one.case.actions["action"][:3].tolist() == [0, 1, 1][: one.steps]
        assert 3 < one.steps <= 8 or one.leaves["terminated"][-1] or one.leaves["truncated"][-1]
    assert [t.digest for t in opened_walker.drive_after(begun, policy, horizon=5)] == [t.digest for t in driven]
    others = opened_walker.drive_after([(seed + 9, one) for seed, one in begun], policy, horizon=5)
    assert ([t.digest for t in others] != [t.digest for t in driven]) == (policy != "outward"), (
        "the choices are the seed's"
    )


def test_a_case_that_has_ended_is_not_gone_on_from(opened_walker: Environment) -> None:
    ended = next(t for t in opened_walker.drive("outward", range(50), horizon=50) if t.steps < 50)
    [again] = opened_walker.drive_after([(0, ended.case)], "random", horizon=5)
    assert same(again, ended, opened_walker)


def test_what_is_legal_is_chosen_after_a_case_too(open_walker: Callable[..., Environment]) -> None:
    environment = open_walker("duel:Duel")
    begun = [one.case.cut(2) for one in environment.drive("random", range(20), horizon=9)]
    for one, before in zip(environment.drive_after(list(enumerate(begun)), "random", horizon=9), begun, strict=True):
        assert sorted(one.case.actions["action/left"]) == [0, 1, 2, 3]
        assert all(np.array_equal(one.case.actions[path][:2], array) for path, array in before.actions.items())


def test_as_many_cases_as_seeds_are_gone_on_from(opened_walker: Environment) -> None:
    one = {"seed": 1, "actions": {"action": np.array([0])}}
    with pytest.raises(BadAnswer, match="1 cases to go on from, but 2 seeds"):
        opened_walker.ask("drive", policy="random", seeds=[1, 2], horizon=3, after=[one])


def test_seeds_that_differ_only_in_their_high_bits_are_driven_differently(opened_walker: Environment) -> None:
    low, high = opened_walker.drive("random", [7, 7 + (1 << 32)], horizon=12)
    assert low.case.actions["action"].tolist() != high.case.actions["action"].tolist()


def test_a_probe_answers_timestep_by_timestep(opened_walker: Environment) -> None:
    answer = opened_walker.probe("move", {"place": np.array([0, 3, -5]), "action": np.array([0, 1, 2])})
    assert answer["place"].tolist() == [-1, 3, -4]


def test_nothing_asked_is_nothing_answered(opened_walker: Environment) -> None:
    assert opened_walker.rollout([]) == [] and opened_walker.drive("random", [], 5) == []


def test_without_the_capability_draws_a_trajectory_has_none(open_walker: Callable[..., Environment]) -> None:
    environment = open_walker("faulty:LacksCapabilities")
    (played,) = environment.rollout([case(3, [2, 1])])
    assert played.draws is None
    for wrong in (replace(played.case, start=played.state(0)), replace(played.case, draws=((), ()))):
        with pytest.raises(BadAnswer, match="capability"):
            environment.rollout([wrong])


def test_more_than_a_frame_holds_is_asked_for_in_parts(opened_walker: Environment, monkeypatch) -> None:
    cases = [case(seed, [1, 0, 2]) for seed in range(20)]
    at_once = opened_walker.rollout(cases)
    asked: list[int] = []
    ask = opened_walker._channel.ask
    monkeypatch.setattr(opened_walker, "_timestep_bytes", PART_BYTES // 14)
    monkeypatch.setattr(
        opened_walker._channel, "ask", lambda *a, **k: asked.append(len(k["cases"]["seeds"])) or ask(*a, **k)
    )
    in_parts = opened_walker.rollout(cases)
    assert asked == [3] * 6 + [2]
    assert [t.digest for t in in_parts] == [t.digest for t in at_once]


@pytest.mark.parametrize("policy", ["random", "sticky"])
def test_several_masked_action_leaves_are_chosen_among_what_is_legal(
    open_walker: Callable[..., Environment], policy: str
) -> None:
    environment = open_walker("duel:Duel")
    driven = environment.drive(policy, range(20), horizon=9)
    assert {trajectory.steps for trajectory in driven} == {4}
    for trajectory in driven:
        assert sorted(trajectory.case.actions["action/left"]) == [0, 1, 2, 3]
        assert sorted(trajectory.case.actions["action/right"]) == [1, 2, 3, 4]
        assert trajectory.case.actions["action/aim"].shape == (4, 2)
        assert trajectory.leaves["observation"][-1].tolist() == sum(trajectory.case.actions["action/aim"]).tolist()
    assert len({trajectory.case.actions["action/left"].tobytes() for trajectory in driven}) > 5
    replayed = environment.rollout([trajectory.case for trajectory in driven])
    assert [t.digest for t in replayed] == [t.digest for t in driven]
    assert environment.walk(driven[0].case).digest == driven[0].digest


def test_an_episode_that_goes_on_with_nothing_legal_is_refused(open_walker: Callable[..., Environment]) -> None:
    with pytest.raises(BadAnswer, match="no action/left is legal, but the episode has not ended"):
        open_walker("duel:Stuck").drive("random", [1], horizon=9)


def test_a_picture_shows_the_state_that_a_reset_a_step_or_a_restore_led_to(opened_walker: Environment) -> None:
    def column() -> int:
        return int(np.flatnonzero(opened_walker.render()[0, :, 0])[0])

    seen = []
    for timestep in opened_walker.timesteps(case(3, [2, 2, 2])):
        seen.append((column(), 2 * int(timestep["leaves"]["state/place"][0]) + 10))
    assert len({shown for shown, _ in seen}) > 1 and all(shown == wanted for shown, wanted in seen)
    state = {"state/place": np.int64(-4), "state/steps": np.int32(1), "state/slope": np.float64(0.5)}
    opened_walker.restore({path: np.asarray(value) for path, value in state.items()})
    assert column() == 2


def test_without_the_capability_a_picture_is_refused(open_walker: Callable[..., Environment]) -> None:
    environment = open_walker("faulty:LacksCapabilities")
    environment.reset(1)
    with pytest.raises(BadAnswer, match="this environment has no capability render"):
        environment.render()
