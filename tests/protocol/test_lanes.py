"""Many environments in one message: the worker's side, and what the client makes of answers that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness.errors import BadAnswer
from harness.model import Case, Draw
from harness.protocol.environment import Environment, Pool
from harness.protocol.lanes import Lanes
from harness.protocol.spec import parse_spec
from tests.protocol.walker import HORIZON

SEEDS = [3, 4, 5]
Open = Callable[..., Environment]


@pytest.fixture
def walkers(open_walker: Open) -> Iterator[Environment]:
    yield open_walker()


def actions(*values: int) -> dict[str, Any]:
    return {"action": np.array(values, np.int64)}


def test_a_lane_plays_the_episode_of_its_seed_and_rests_when_it_is_over(walkers: Environment) -> None:
    lanes = walkers.lanes(SEEDS, state=True)
    rows, draws = [lanes.leaves], [lanes.draws]
    for _ in range(HORIZON):
        step = lanes.advance(actions(2, 1, 0))
        rows.append(step.leaves)
        draws.append(step.draws)
    assert lanes.over.all()
    for lane, (seed, action) in enumerate(zip(SEEDS, (2, 1, 0), strict=True)):
        expected = walkers.rollout([Case(seed, actions(*[action] * HORIZON))])[0]
        for path, array in expected.leaves.items():
            np.testing.assert_array_equal([row[path][lane] for row in rows[: expected.rows]], array, err_msg=path)
        assert [list(row[lane]) for row in draws[: expected.rows]] == [list(row) for row in expected.draws or ()]
        assert not any(row[lane] for row in draws[expected.rows :])


def test_an_ended_lane_begins_anew_in_the_same_answer_and_its_last_observation_is_kept(walkers: Environment) -> None:
    lanes = walkers.lanes(SEEDS)
    for number in range(HORIZON):
        step = lanes.advance(actions(2, 2, 0), [100 + number, 200 + number, 300 + number])
        if not step.ended.any():
            continue
        lane = int(np.flatnonzero(step.ended)[0])
        seed = [100, 200, 300][lane] + number
        begun = walkers.reset(seed)
        for path in ("observation/place", "observation/even"):
            np.testing.assert_array_equal(step.leaves[path][lane], begun.leaves[path][0])
            assert step.final[path].shape[0] == step.ended.sum()
        assert abs(step.before_reset("observation/place")[lane][0]) >= 5 or number == HORIZON - 1
        assert [draw.name for draw in step.next_draws[0]] == ["start", "slope"]
        assert step.leaves["terminated"][lane] or step.leaves["truncated"][lane]
        assert "state/place" not in step.leaves
        return
    pytest.fail("no episode ended")


def test_a_lane_takes_its_chance_from_a_tape_as_long_as_that_has_rows(walkers: Environment) -> None:
    tape = ((Draw("start", np.array(1)), Draw("slope", np.array(0.5))), (Draw("gust", np.array(1)),), ())
    lanes = walkers.lanes(SEEDS, draws=[tape, None, tape], state=True)
    assert (lanes.leaves["state/place"][[0, 2]] == 1).all() and lanes.leaves["state/slope"][0] == 0.5
    first = lanes.advance(actions(2, 1, 2))
    assert (first.leaves["state/place"][[0, 2]] == 3).all()  # 1, a step, a gust from the tape
    second = lanes.advance(actions(1, 1, 1))
    assert (second.leaves["state/place"][[0, 2]] == 3).all()
    third = lanes.advance(actions(0, 1, 0))  # an even place: the lane's own gust
    assert [draw.name for draw in third.draws[0]] == ["gust"]


def test_a_fixed_draw_is_the_same_in_every_episode_and_the_others_are_those_of_its_seed(open_walker: Open) -> None:
    walkers, free = Pool([open_walker(), open_walker()]), open_walker()
    natural = free.lanes(SEEDS, state=True)
    lanes = walkers.lanes(SEEDS, state=True, fixed={"start": 2})
    assert natural.leaves["state/place"].tolist() != [2, 2, 2] and lanes.leaves["state/place"].tolist() == [2, 2, 2]
    np.testing.assert_array_equal(natural.leaves["state/slope"], lanes.leaves["state/slope"])
    begun = 0
    for number in range(HORIZON):
        step = lanes.advance(actions(2, 2, 2), [100 + number, 200 + number, 300 + number])
        for row in step.next_draws:
            begun += 1
            assert [draw.name for draw in row] == ["start", "slope"] and int(row[0].value) == 2
        assert (step.leaves["state/place"][step.ended] == 2).all()
    assert begun
    walkers.close()


def test_what_a_reset_does_not_draw_cannot_be_fixed(walkers: Environment) -> None:
    with pytest.raises(BadAnswer, match="the reset draws no gust, which was to be fixed"):
        walkers.lanes(SEEDS, fixed={"gust": 1})
    tape = ((Draw("start", np.array(1)), Draw("slope", np.array(0.5))),)
    lanes = walkers.lanes(SEEDS, draws=[tape] * 3, state=True, fixed={"start": 2})
    assert lanes.leaves["state/place"].tolist() == [1, 1, 1], "a tape goes first"


def test_lanes_of_a_pool_are_shared_out_and_answer_in_their_order(open_walker: Open) -> None:
    alone = open_walker().lanes([1, 2, 3, 4, 5], state=True)
    pool = Pool([open_walker(), open_walker()])
    shared = pool.lanes([1, 2, 3, 4, 5], state=True)
    for number in range(HORIZON):
        following = [10 * number + lane for lane in range(5)]
        one, other = (lanes.advance(actions(2, 0, 2, 0, 1), following) for lanes in (alone, shared))
        assert one.leaves.keys() == other.leaves.keys() and one.final.keys() == other.final.keys()
        for path in one.leaves:
            np.testing.assert_array_equal(one.leaves[path], other.leaves[path], err_msg=path)
            np.testing.assert_array_equal(one.before_reset(path), other.before_reset(path), err_msg=path)
        assert (one.ended == other.ended).all() and one.draws == other.draws
    pool.close()


def test_new_lanes_end_those_before(walkers: Environment) -> None:
    walkers.lanes(SEEDS)
    lanes = walkers.lanes([7], state=True)
    assert lanes.advance(actions(1)).leaves["state/steps"].tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"actions": actions(1, 1)}, "3 lanes need an action each"),
        ({"actions": actions(1, 1, 1), "next": [1]}, "3 lanes need an action each, and a next seed each"),
        ({"actions": actions(1, 1, 9)}, "outside its bounds"),
        ({"actions": {"jump": np.zeros(3)}}, "the spec declares"),
        ({"actions": actions(2, 2, 2), "next": [-1, -1, -1]}, "is not a whole number from 0"),
    ],
)
def test_what_lanes_cannot_do_is_refused_and_they_go_on(
    walkers: Environment, arguments: dict[str, Any], complaint: str
) -> None:
    lanes = walkers.lanes(SEEDS)
    with pytest.raises(BadAnswer, match=complaint):
        for _ in range(HORIZON):
            walkers.ask("advance", **arguments)
    assert walkers.lanes(SEEDS).leaves.keys() == lanes.leaves.keys()


class Answers:
    """A worker of which every answer is known; `fault` changes one of them."""

    def __init__(self, fault: Callable[[str, dict[str, Any]], None], capabilities: list[str] | None = None) -> None:
        flag, number = {"dtype": "bool", "shape": []}, {"dtype": "float32", "shape": []}
        leaves = {"observation": number, "reward": number, "terminated": flag, "truncated": flag, "action": flag}
        given = ["lanes"] if capabilities is None else capabilities
        self.spec = parse_spec({"protocol": 1, "leaves": leaves, "capabilities": given})
        self._fault = fault

    def ask(self, call: str, **arguments: Any) -> Any:
        ended = np.array([call == "advance", False])
        leaves = {"observation": np.zeros(2, "f4"), "reward": np.zeros(2, "f4"), "terminated": ended}
        answer = {
            "leaves": leaves | {"truncated": np.zeros(2, bool)},
            "draws": [[], []],
            "ended": [0],
            "final": {"observation": np.ones(1, "f4")},
            "next_draws": [[]],
        }
        self._fault(call, answer)
        return answer

    def tape(self, described: Any, rows: int, where: str) -> Any:
        return ((),) * rows


def _break(call: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[str, dict[str, Any]], None]:
    return lambda asked, answer: change(answer) and None if asked == call else None


FAULTS = {
    "an end that it does not name": _break("advance", lambda a: a.update(ended=[])),
    "another end than it shows": _break("advance", lambda a: a.update(ended=[1])),
    "no last observation": _break("advance", lambda a: a.update(final={})),
    "a last observation too many": _break("advance", lambda a: a["final"].update(observation=np.ones(2, "f4"))),
    "a lane too few": _break("advance", lambda a: a["leaves"].update(reward=np.zeros(1, "f4"))),
    "a beginning that has ended": _break("lanes", lambda a: a["leaves"].update(terminated=np.ones(2, bool))),
    "a beginning with a reward": _break("lanes", lambda a: a["leaves"].update(reward=np.ones(2, "f4"))),
    "state that was not asked for": _break("lanes", lambda a: a["leaves"].update({"state/x": np.zeros(2, "f4")})),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_cannot_be_right_is_refused(fault: str) -> None:
    with pytest.raises(BadAnswer):
        Lanes(Answers(FAULTS[fault]), [1, 2]).advance({"action": np.zeros(2, bool)}, [3, 4])


def test_a_right_answer_is_taken() -> None:
    step = Lanes(Answers(lambda call, answer: None), [1, 2]).advance({"action": np.zeros(2, bool)}, [3, 4])
    assert step.before_reset("observation").tolist() == [1, 0] and step.leaves["observation"].tolist() == [0, 0]


def test_a_worker_without_lanes_is_told_apart() -> None:
    with pytest.raises(BadAnswer, match="the capability `lanes`"):
        Lanes(Answers(lambda call, answer: None, []), [1])
