"""Cases, tapes and the three ways of playing them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from harness.candidate.adapters.jax import rollout
from harness.candidate.adapters.jax.batch import SEGMENT, bucket, size_within
from harness.candidate.adapters.jax.candidate import JaxCandidate
from tests.candidate.adapters.contracts import assert_equal, dice_case, dice_expected, lcg_expected

MODES = ("single", "batched", "scanned")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def started(rng: np.random.Generator, length: int) -> dict[str, Any]:
    start = {
        "state/board": rng.normal(size=3).astype(np.float32),
        "state/total": np.array(17, np.int32),
        "state/turn": np.array(3, np.int32),
    }
    return dice_case(rng, length, start=start)


@pytest.mark.parametrize("mode", MODES)
def test_cases_of_different_lengths_some_from_a_state_follow_the_rules(dice: JaxCandidate, rng: Any, mode: str) -> None:
    cases = [dice_case(rng, length) for length in (3, 0, 12, 7)] + [started(rng, 2), started(rng, 6)]
    for case, answer in zip(cases, dice.rollout(cases, mode), strict=True):
        assert_equal(answer["leaves"], dice_expected(case))


@pytest.mark.parametrize("mode", MODES)
def test_draws_taken_as_the_tape_holds_them_are_reported_in_its_own_order(
    dice: JaxCandidate, rng: Any, mode: str
) -> None:
    cases = [dice_case(rng, 12), started(rng, 6)]
    for case, answer in zip(cases, dice.rollout(cases, mode), strict=True):
        timesteps = len(answer["leaves"]["reward"])
        assert answer["draws"] == case["draws"][:timesteps]


def test_the_three_modes_answer_the_same_bytes(dice: JaxCandidate, rng: Any) -> None:
    cases = [dice_case(rng, 9) for _ in range(3)]
    single, batched, scanned = (dice.rollout(cases, mode) for mode in MODES)
    for one, two, three in zip(single, batched, scanned, strict=True):
        for path, array in one["leaves"].items():
            assert array.tobytes() == two["leaves"][path].tobytes() == three["leaves"][path].tobytes(), path


def test_an_answer_depends_neither_on_the_batch_around_it_nor_on_padding(dice: JaxCandidate, rng: Any) -> None:
    cases = [dice_case(rng, int(length)) for length in rng.integers(0, 12, 40)]
    together = dice.rollout(cases)
    for index in (0, 17, 39):
        [alone] = dice.rollout([cases[index]])
        assert alone["draws"] == together[index]["draws"]
        for path, array in alone["leaves"].items():
            assert array.tobytes() == together[index]["leaves"][path].tobytes(), path


def test_a_case_longer_than_one_scan_goes_on_in_the_next(lcg: JaxCandidate) -> None:
    back, still = -np.ones(SEGMENT + 40, np.int64), np.zeros(SEGMENT + 40, np.int64)
    cases = [{"seed": seed, "actions": {"action": actions}} for seed in range(2) for actions in (back, still)]
    for case, answer in zip(cases, lcg.rollout(cases), strict=True):
        expected = lcg_expected(case["seed"], case["actions"]["action"].tolist())
        assert_equal(answer["leaves"], expected)
    assert max(len(answer["leaves"]["reward"]) for answer in lcg.rollout(cases)) == SEGMENT + 41


def test_many_cases_are_played_in_parts_that_fit_into_memory(
    dice: JaxCandidate, rng: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [dice_case(rng, int(length)) for length in rng.integers(0, 12, 20)]
    whole = dice.rollout(cases)
    monkeypatch.setattr(rollout, "MAX_CHUNK_BYTES", 4000)
    for one, other in zip(whole, dice.rollout(cases), strict=True):
        assert_equal(one["leaves"], other["leaves"])


def test_neither_padding_nor_room_takes_more_memory_than_is_allowed(
    dice: JaxCandidate, rng: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, int]] = []

    class Noted(rollout.Batch):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            made.append((self.size, self.length))

    monkeypatch.setattr(rollout, "Batch", Noted)
    lengths = [1] * 40 + [10] * 9 + [100]
    cases = [dice_case(rng, length) for length in lengths]
    monkeypatch.setattr(rollout, "MAX_CHUNK_BYTES", 1 << 13)
    dice.rollout(cases, room=(1000, 100))
    timestep_bytes = rollout._timestep_bytes(dice._env)
    assert all(size <= rollout._together(timestep_bytes, length) for size, length in made)
    assert {length for _, length in made} == {1, 10, 100} and max(size for size, _ in made) > 8


@pytest.mark.parametrize(
    ("most", "size"), [(0, 1), (1, 1), (7, 1), (8, 8), (127, 32), (128, 128), (255, 128), (256, 256), (1000, 512)]
)
def test_the_largest_size_within_a_limit(most: int, size: int) -> None:
    assert size_within(most) == size and bucket(size) == size


def test_no_cases_get_no_answers(dice: JaxCandidate) -> None:
    assert dice.rollout([]) == []


@pytest.mark.slow
def test_without_a_tape_the_candidate_draws_and_reports_what_replays_the_case(dice: JaxCandidate, rng: Any) -> None:
    cases = [dice_case(rng, 9, seed=seed) | {"draws": None} for seed in (1, 2, 1 << 40)]
    answers = dice.rollout(cases)
    winds = [
        value.tobytes()
        for answer in answers
        for timestep in answer["draws"]
        for name, value in timestep
        if name == "wind"
    ]
    assert len(set(winds)) == len(winds) > 10
    replayed = [case | {"draws": answer["draws"]} for case, answer in zip(cases, answers, strict=True)]
    for one, other, case in zip(answers, dice.rollout(replayed), replayed, strict=True):
        assert_equal(one["leaves"], other["leaves"])
        rolls = [sum(name == "roll" for name, _ in timestep) for timestep in one["draws"][1:]]
        assert rolls == case["actions"]["action/bet"][: len(rolls)].tolist()


@pytest.mark.parametrize("mode", MODES)
def test_draws_without_a_tape_are_the_same_in_every_mode(dice: JaxCandidate, rng: Any, mode: str) -> None:
    cases = [dice_case(rng, 9, seed=seed) | {"draws": None} for seed in (4, 5)]
    for one, other in zip(dice.rollout(cases), dice.rollout(cases, mode), strict=True):
        assert_equal(one["leaves"], other["leaves"])


def test_a_draw_past_the_end_of_the_tape_is_poison_and_is_counted(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 4)
    case["draws"] = case["draws"][:3]
    [answer] = dice.rollout([case])
    assert np.isnan(answer["leaves"]["observation/board"][3]).all()
    assert not np.isnan(answer["leaves"]["observation/board"][2]).any()
    [(name, value)] = [draw for draw in answer["draws"][3] if draw[0] == "wind"]
    assert name == "wind" and np.isnan(value).all()


def test_a_die_that_the_tape_lacks_is_poison_and_one_left_over_is_not_reported(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 2)
    case["actions"]["action/bet"][:] = 2
    six = ["roll", np.int32(6)]
    case["draws"][1:] = [[case["draws"][1][0], six], [case["draws"][2][0], six, six, six]]
    [answer] = dice.rollout([case])
    assert answer["leaves"]["state/total"][1] < -(1 << 30)
    counts = [sum(name == "roll" for name, _ in timestep) for timestep in answer["draws"]]
    assert counts == [0, 2, 2]


@pytest.mark.parametrize(
    ("timestep", "draw", "message"),
    [
        (0, ["roll", np.int32(1)], "'roll' at a reset, where the task declares ['deck', 'wind']"),
        (1, ["deck", np.array([1, 2], np.int32)], "'deck' at a step, where the task declares ['roll', 'wind']"),
        (1, ["wind", np.zeros(3, np.float32)], "'wind' more than 1 times in one step"),
        (1, ["roll", np.int64(3)], "'roll' is int64[], the task declares int32[]"),
        (0, ["deck", np.zeros(3, np.int32)], "'deck' is int32[3], the task declares int32[2]"),
    ],
)
def test_a_tape_that_does_not_fit_the_task_is_refused(
    dice: JaxCandidate, rng: Any, timestep: int, draw: Any, message: str
) -> None:
    case = dice_case(rng, 1)
    case["draws"][timestep].append(draw)
    with pytest.raises(ValueError) as caught:
        dice.rollout([case])
    assert message in str(caught.value)


def test_a_tape_with_more_timesteps_than_the_case_is_refused(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 2)
    case["draws"].append([])
    with pytest.raises(ValueError, match="a tape of 4 timesteps, but only 2 actions"):
        dice.rollout([case])


def test_an_action_of_another_dtype_or_shape_is_refused(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 2)
    wrong = copy.deepcopy(case)
    wrong["actions"]["action/bet"] = wrong["actions"]["action/bet"].astype(np.int32)
    with pytest.raises(
        ValueError, match=r"int32\[2\] was given for the leaf 'action/bet', the task declares int64\[2\]"
    ):
        dice.rollout([wrong])
    del case["actions"]["action/push"]
    with pytest.raises(ValueError, match="nothing was given for the leaf 'action/push'"):
        dice.rollout([case])


def test_an_integer_that_does_not_fit_without_64_bit_types_is_refused(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 1)
    case["actions"]["action/bet"][0] = 1 << 33
    with pytest.raises(ValueError, match="'action/bet' holds an integer over 32 bits"):
        dice.rollout([case])


def test_an_unknown_mode_is_named(dice: JaxCandidate, rng: Any) -> None:
    with pytest.raises(ValueError, match="no mode 'parallel'; expected one of"):
        dice.rollout([dice_case(rng, 1)], "parallel")


def test_in_mode_shared_the_seed_is_the_only_chance(lcg: JaxCandidate) -> None:
    actions = np.array([0, 1, 0, 0, 1, 0, 1, 1], np.int64)
    cases = [{"seed": seed, "actions": {"action": actions}} for seed in (0, 7, (1 << 62) + 5)]
    for mode in MODES:
        for case, answer in zip(cases, lcg.rollout(cases, mode), strict=True):
            assert_equal(answer["leaves"], lcg_expected(case["seed"], actions.tolist()))
            assert answer["draws"] == []
