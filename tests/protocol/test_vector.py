"""Many environments in one message: the worker's side, and what the client makes of answers that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness.errors import BadAnswer
from harness.model import Case, Draw
from harness.protocol.environment import Environment, Pool
from harness.protocol.spec import parse_spec
from harness.protocol.vector import VectorEnv
from tests.protocol.walker import HORIZON

SEEDS = [3, 4, 5]
Open = Callable[..., Environment]


@pytest.fixture
def walkers(open_walker: Open) -> Iterator[Environment]:
    yield open_walker()


def actions(*values: int) -> dict[str, Any]:
    return {"action": np.array(values, np.int64)}


def test_a_sub_env_plays_the_episode_of_its_seed_and_rests_when_it_is_over(walkers: Environment) -> None:
    vector = walkers.vector(SEEDS, state=True)
    timesteps, draws = [vector.leaves], [vector.draws]
    for _ in range(HORIZON):
        step = vector.advance(actions(2, 1, 0))
        timesteps.append(step.leaves)
        draws.append(step.draws)
    assert vector.over.all()
    for env_index, (seed, action) in enumerate(zip(SEEDS, (2, 1, 0), strict=True)):
        expected = walkers.rollout([Case(seed, actions(*[action] * HORIZON))])[0]
        for path, array in expected.leaves.items():
            np.testing.assert_array_equal(
                [timestep[path][env_index] for timestep in timesteps[: expected.timesteps]], array, err_msg=path
            )
        assert [list(timestep[env_index]) for timestep in draws[: expected.timesteps]] == [
            list(timestep) for timestep in expected.draws or ()
        ]
        assert not any(timestep[env_index] for timestep in draws[expected.timesteps :])


def test_an_ended_sub_env_begins_anew_in_the_same_answer_and_its_last_observation_is_kept(walkers: Environment) -> None:
    vector = walkers.vector(SEEDS)
    for number in range(HORIZON):
        step = vector.advance(actions(2, 2, 0), [100 + number, 200 + number, 300 + number])
        if not step.ended.any():
            continue
        env_index = int(np.flatnonzero(step.ended)[0])
        seed = [100, 200, 300][env_index] + number
        begun = walkers.reset(seed)
        for path in ("observation/place", "observation/even"):
            np.testing.assert_array_equal(step.leaves[path][env_index], begun.leaves[path][0])
            assert step.final[path].shape[0] == step.ended.sum()
        assert abs(step.before_reset("observation/place")[env_index][0]) >= 5 or number == HORIZON - 1
        assert [draw.name for draw in step.next_draws[0]] == ["start", "slope"]
        assert step.leaves["terminated"][env_index] or step.leaves["truncated"][env_index]
        assert "state/place" not in step.leaves
        return
    pytest.fail("no episode ended")


def test_a_sub_env_takes_its_chance_from_a_tape_as_long_as_that_has_timesteps(walkers: Environment) -> None:
    tape = ((Draw("start", np.array(1)), Draw("slope", np.array(0.5))), (Draw("gust", np.array(1)),), ())
    vector = walkers.vector(SEEDS, draws=[tape, None, tape], state=True)
    assert (vector.leaves["state/place"][[0, 2]] == 1).all() and vector.leaves["state/slope"][0] == 0.5
    first = vector.advance(actions(2, 1, 2))
    assert (first.leaves["state/place"][[0, 2]] == 3).all()  # 1, a step, a gust from the tape
    second = vector.advance(actions(1, 1, 1))
    assert (second.leaves["state/place"][[0, 2]] == 3).all()
    third = vector.advance(actions(0, 1, 0))  # an even place: the sub-environment's own gust
    assert [draw.name for draw in third.draws[0]] == ["gust"]


def test_a_fixed_draw_is_the_same_in_every_episode_and_the_others_are_those_of_its_seed(open_walker: Open) -> None:
    walkers, free = Pool([open_walker(), open_walker()]), open_walker()
    natural = free.vector(SEEDS, state=True)
    vector = walkers.vector(SEEDS, state=True, fixed={"start": 2})
    assert natural.leaves["state/place"].tolist() != [2, 2, 2] and vector.leaves["state/place"].tolist() == [2, 2, 2]
    np.testing.assert_array_equal(natural.leaves["state/slope"], vector.leaves["state/slope"])
    begun = 0
    for number in range(HORIZON):
        step = vector.advance(actions(2, 2, 2), [100 + number, 200 + number, 300 + number])
        for timestep in step.next_draws:
            begun += 1
            assert [draw.name for draw in timestep] == ["start", "slope"] and int(timestep[0].value) == 2
        assert (step.leaves["state/place"][step.ended] == 2).all()
    assert begun
    walkers.close()


def test_what_a_reset_does_not_draw_cannot_be_fixed(walkers: Environment) -> None:
    with pytest.raises(BadAnswer, match="the reset draws no gust, which was to be fixed"):
        walkers.vector(SEEDS, fixed={"gust": 1})
    tape = ((Draw("start", np.array(1)), Draw("slope", np.array(0.5))),)
    vector = walkers.vector(SEEDS, draws=[tape] * 3, state=True, fixed={"start": 2})
    assert vector.leaves["state/place"].tolist() == [1, 1, 1], "a tape goes first"


def test_sub_envs_of_a_pool_are_shared_out_and_answer_in_their_order(open_walker: Open) -> None:
    alone = open_walker().vector([1, 2, 3, 4, 5], state=True)
    pool = Pool([open_walker(), open_walker()])
    shared = pool.vector([1, 2, 3, 4, 5], state=True)
    for number in range(HORIZON):
        following = [10 * number + env_index for env_index in range(5)]
        one, other = (vector.advance(actions(2, 0, 2, 0, 1), following) for vector in (alone, shared))
        assert one.leaves.keys() == other.leaves.keys() and one.final.keys() == other.final.keys()
        for path in one.leaves:
            np.testing.assert_array_equal(one.leaves[path], other.leaves[path], err_msg=path)
            np.testing.assert_array_equal(one.before_reset(path), other.before_reset(path), err_msg=path)
        assert (one.ended == other.ended).all() and one.draws == other.draws
    pool.close()


def test_new_sub_envs_end_those_before(walkers: Environment) -> None:
    walkers.vector(SEEDS)
    vector = walkers.vector([7], state=True)
    assert vector.advance(actions(1)).leaves["state/steps"].tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"actions": actions(1, 1)}, "3 sub-environments need an action each"),
        ({"actions": actions(1, 1, 1), "next": [1]}, "3 sub-environments need an action each, and a next seed each"),
        ({"actions": actions(1, 1, 9)}, "outside its bounds"),
        ({"actions": {"jump": np.zeros(3)}}, "the spec declares"),
        ({"actions": actions(2, 2, 2), "next": [-1, -1, -1]}, "is not a whole number from 0"),
    ],
)
def test_what_sub_envs_cannot_do_is_refused_and_they_go_on(
    walkers: Environment, arguments: dict[str, Any], complaint: str
) -> None:
    vector = walkers.vector(SEEDS)
    with pytest.raises(BadAnswer, match=complaint):
        for _ in range(HORIZON):
            walkers.ask("advance", **arguments)
    assert walkers.vector(SEEDS).leaves.keys() == vector.leaves.keys()


class Answers:
    """A worker of which every answer is known; `fault` changes one of them."""

    def __init__(self, fault: Callable[[str, dict[str, Any]], None], capabilities: list[str] | None = None) -> None:
        flag, number = {"dtype": "bool", "shape": []}, {"dtype": "float32", "shape": []}
        leaves = {"observation": number, "reward": number, "terminated": flag, "truncated": flag, "action": flag}
        given = ["vector"] if capabilities is None else capabilities
        self.spec = parse_spec({"protocol": 2, "leaves": leaves, "capabilities": given})
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

    def tape(self, described: Any, timesteps: int, where: str) -> Any:
        return ((),) * timesteps


def _break(call: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[str, dict[str, Any]], None]:
    return lambda asked, answer: change(answer) and None if asked == call else None


FAULTS = {
    "an end that it does not name": _break("advance", lambda a: a.update(ended=[])),
    "another end than it shows": _break("advance", lambda a: a.update(ended=[1])),
    "no last observation": _break("advance", lambda a: a.update(final={})),
    "a last observation too many": _break("advance", lambda a: a["final"].update(observation=np.ones(2, "f4"))),
    "a sub-environment too few": _break("advance", lambda a: a["leaves"].update(reward=np.zeros(1, "f4"))),
    "a beginning that has ended": _break("vector", lambda a: a["leaves"].update(terminated=np.ones(2, bool))),
    "a beginning with a reward": _break("vector", lambda a: a["leaves"].update(reward=np.ones(2, "f4"))),
    "state that was not asked for": _break("vector", lambda a: a["leaves"].update({"state/x": np.zeros(2, "f4")})),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_cannot_be_right_is_refused(fault: str) -> None:
    with pytest.raises(BadAnswer):
        VectorEnv(Answers(FAULTS[fault]), [1, 2]).advance({"action": np.zeros(2, bool)}, [3, 4])


def test_a_right_answer_is_taken() -> None:
    step = VectorEnv(Answers(lambda call, answer: None), [1, 2]).advance({"action": np.zeros(2, bool)}, [3, 4])
    assert step.before_reset("observation").tolist() == [1, 0] and step.leaves["observation"].tolist() == [0, 0]


def test_a_worker_without_sub_envs_is_distinguished() -> None:
    with pytest.raises(BadAnswer, match="the capability `vector`"):
        VectorEnv(Answers(lambda call, answer: None, []), [1])
