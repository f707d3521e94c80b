"""Numbers of steps, predicates over them, and how often these hold."""

from __future__ import annotations

import numpy as np
import pytest

from harness.measure.strength.rare.drawing import Drawer
from harness.measure.strength.rare.numbers import ACTION, BEFORE, CHANGE, Number, Numbers, change
from harness.measure.strength.rare.predicates import (
    ABOVE,
    BELOW,
    EQUAL,
    FAMILIES,
    TAIL,
    Condition,
    Evaluation,
    Predicate,
)
from harness.measure.strength.rare.sample import Sample
from harness.measure.strength.rare.watching import Meeting
from harness.model import Case, Trajectory
from harness.support.document import DocumentError
from harness.task.load import load_task
from tests.measure.strength.rare.synthetic import MOVED, NUMBERS, PLACE, STEPS, TAKEN, predicate, steps
from tests.paths import ENVIRONMENTS

DRAWN_FROM, COUNTED_IN = 400_000, 400_000


def played() -> Trajectory:
    """Three steps of the walk, from 0 to 1, 3 and 2."""
    leaves = {
        "state/place": np.array([0.0, 1.0, 3.0, 2.0]),
        "state/steps": np.arange(4, dtype=np.int32),
        "reward": np.zeros(4, np.float32),
    }
    return Trajectory(Case(0, {"action": np.array([1, 2, 0, 0], np.int32)}), leaves)


def test_the_numbers_of_a_step_are_those_before_it_what_it_changes_and_its_action() -> None:
    assert NUMBERS.of_trajectory(played()).tolist() == [[0, 1, 3], [0, 1, 2], [1, 2, -1], [1, 2, 0]]


def test_a_whole_number_changes_by_less_than_its_width_with_a_sign() -> None:
    before, after = np.array([250, 3], np.uint8), np.array([2, 250], np.uint8)
    assert change(before, after).tolist() == [8, -9]


def test_of_a_large_state_only_some_numbers_are_looked_at_and_each_seed_has_its_own() -> None:
    task = load_task(ENVIRONMENTS / "gameboy")
    one, other = (Numbers.of_task(task, np.random.default_rng(seed)) for seed in (1, 2))
    assert one != other and one == Numbers.of_task(task, np.random.default_rng(1))
    assert sum(number.kind == BEFORE for number in one.chosen) == 24
    pong = Numbers.of_task(load_task(ENVIRONMENTS / "pong"), np.random.default_rng(1)).chosen
    assert {number.kind for number in pong} == {BEFORE, CHANGE, ACTION}
    assert Number(BEFORE, "state/observation", 7) in pong


def test_predicates_that_begin_alike_are_counted_together_and_each_as_if_it_were_alone() -> None:
    rows = steps(5000, 3)
    chosen = [
        Predicate(TAIL, conditions, 0.1)
        for conditions in (
            (Condition(PLACE, ABOVE, 1.0),),
            (Condition(PLACE, ABOVE, 2.0), Condition(TAKEN, EQUAL, 1.0)),
            (Condition(PLACE, BELOW, -1.5), Condition(STEPS, ABOVE, 6.0), Condition(MOVED, BELOW, 0.0)),
            (Condition(STEPS, EQUAL, 9.0),),
            (Condition(STEPS, EQUAL, 4.0), Condition(PLACE, ABOVE, 0.5)),
            (Condition(STEPS, EQUAL, 9000.0),),
        )
    ]
    place, step, moved, action = rows
    wanted = [
        place >= 1,
        (place >= 2) & (action == 1),
        (place <= -1.5) & (step >= 6) & (moved <= 0),
        step == 9,
        (step == 4) & (place >= 0.5),
        step == 9000,
    ]
    counts = Evaluation(NUMBERS.chosen, chosen).counts(rows)
    assert counts.tolist() == [int(each.sum()) for each in wanted] and counts[0] > 500


@pytest.mark.parametrize("share", [1e-2, 1e-3, 1e-4])
def test_predicates_of_every_family_are_drawn_for_a_share_and_hold_in_about_so_many_fresh_steps(share: float) -> None:
    sample = Sample(NUMBERS, DRAWN_FROM, np.random.default_rng(1))
    for seed in range(4):
        sample.add(steps(DRAWN_FROM // 4, seed))
    proposed = list(Drawer(sample, np.random.default_rng(2)).proposals(share, 20))
    assert {each.family for each in proposed} == set(FAMILIES)
    assert len(proposed) == len({(each.family, each.conditions) for each in proposed})
    held = Evaluation(NUMBERS.chosen, proposed).counts(steps(COUNTED_IN, 99)) / COUNTED_IN
    near = [share / 3 <= each <= 3 * share for each in held]
    assert np.mean(near) > 0.8


def test_an_extreme_that_a_sample_by_chance_has_not_is_known() -> None:
    sample = Sample(NUMBERS, 1 << 22, np.random.default_rng(1))
    rows = steps(1 << 18, 5)
    sample.add(rows)
    assert sample.sampled.shape[1] < rows.shape[1] / 4
    furthest = np.sort(rows[0])[::-1]
    assert sample.threshold((0, ABOVE), 3 / (1 << 18)) == furthest[2]
    held, each = sample.holding((0, ABOVE), float(furthest[9]))
    assert (held.shape[1], each) == (10, 1.0)


def test_a_predicate_is_met_in_the_check_that_first_compares_a_step_in_which_it_holds() -> None:
    tail, value = predicate(), Predicate(TAIL, (Condition(STEPS, EQUAL, 0.0),), 0.1)
    meeting = Meeting(NUMBERS, [tail, value, Predicate(TAIL, (Condition(PLACE, ABOVE, 9.0),), 0.1)])
    first, whole = played(), played()
    meeting.compared([Trajectory(first.case, {path: array[:2] for path, array in first.leaves.items()})], None)
    meeting.ended(1, "single steps")
    meeting.compared([whole], None)
    meeting.ended(2, "sequences")
    assert meeting.met == ["level 2, sequences", "level 1, single steps", ""]
    assert meeting.steps == 4


def test_a_comparison_of_other_leaves_than_the_reward_shows_no_fault_in_it() -> None:
    meeting = Meeting(NUMBERS, [predicate()])
    meeting.compared([played()], frozenset({"state/place"}))
    meeting.ended(1, "single steps")
    assert (meeting.met, meeting.steps) == ([""], 0)
    meeting.compared([played()], frozenset({"reward"}))
    meeting.ended(1, "single steps")
    assert meeting.met == ["level 1, single steps"]


def test_a_predicate_is_read_as_it_was_written() -> None:
    several = Predicate(TAIL, (Condition(MOVED, BELOW, -0.1), Condition(TAKEN, EQUAL, 2.0)), 1e-4, 55)
    assert Predicate.from_json(several.to_json()) == several
    assert str(several) == "change of place[0] <= -0.1 and action[0] == 2"


@pytest.mark.parametrize(
    "wrong",
    [
        {"family": "any"},
        {"conditions": []},
        {"conditions": [predicate().conditions[0].to_json()] * 4},
        {"share": 0.0},
        {"hits": -1},
        {"conditions": [predicate().conditions[0].to_json() | {"relation": "!="}]},
        {"conditions": [predicate().conditions[0].to_json() | {"number": {"kind": "after", "path": "x", "index": 0}}]},
        {"conditions": [predicate().conditions[0].to_json() | {"number": PLACE.to_json() | {"index": -1}}]},
    ],
)
def test_what_is_no_predicate_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(DocumentError):
        Predicate.from_json(predicate().to_json() | wrong)
