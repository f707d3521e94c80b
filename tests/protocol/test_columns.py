"""Cases and episodes in columns: the same as one by one, and refused where they do not fit together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.errors import BadAnswer
from harness.model import Case, Trajectory
from harness.protocol import worker
from harness.protocol.columns import COLUMNS, packed, unpacked
from harness.protocol.environment import Environment
from harness.protocol.worker import ProtocolError, SingleEnvironment
from tests.protocol.walker import Walker


@pytest.fixture
def mixed(opened_walker: Environment) -> list[Case]:
    """Resets and states, with and without tapes, of all lengths."""
    cases = [Case(seed, {"action": np.arange(seed % 9) % 3}) for seed in range(20)]
    reached = opened_walker.rollout(cases)
    states = [replace(one.case, start=one.state(one.steps // 2)) for one in reached[::3]]
    taped = [replace(one.case.cut(one.steps), seed=99, draws=one.draws) for one in reached[::4]]
    return [each for three in zip(cases, states, taped, strict=False) for each in three] + cases


@pytest.fixture
def alone(opened_walker: Environment, open_walker: Callable[..., Environment]) -> Environment:
    """The same environment, asked one by one."""
    other = open_walker()
    other.spec = replace(other.spec, capabilities=other.spec.capabilities - {COLUMNS})
    return other


def same(one: Sequence[Trajectory], other: Sequence[Trajectory]) -> bool:
    return [t.digest for t in one] == [t.digest for t in other] and [t.case.digest for t in one] == [
        t.case.digest for t in other
    ]


def test_cases_in_columns_are_answered_as_one_by_one(
    opened_walker: Environment, alone: Environment, mixed: list[Case]
) -> None:
    assert COLUMNS in opened_walker.spec.capabilities and packed(mixed) is not None
    assert same(opened_walker.rollout(mixed), alone.rollout(mixed))


@pytest.mark.parametrize("policy", ["random", "sticky", "outward"])
def test_episodes_in_columns_are_those_one_by_one(
    opened_walker: Environment, alone: Environment, mixed: list[Case], policy: str
) -> None:
    assert same(opened_walker.drive(policy, range(9), 12), alone.drive(policy, range(9), 12))
    begun = list(enumerate(case for case in mixed if case.draws is None))
    assert same(opened_walker.drive_after(begun, policy, 5), alone.drive_after(begun, policy, 5))


def test_cases_that_do_not_fit_together_are_asked_one_by_one(opened_walker: Environment, alone: Environment) -> None:
    cases = [Case(1, {"action": np.array([0, 1], dtype)}) for dtype in (np.int64, np.int8)]
    assert packed(cases) is None
    assert same(opened_walker.rollout(cases), alone.rollout(cases))


def test_a_listener_hears_of_cases_one_by_one(opened_walker: Environment, mixed: list[Case]) -> None:
    heard: list[Any] = []
    opened_walker.listener = lambda _, call, arguments: heard.append((call, arguments))
    opened_walker.rollout(mixed)
    [(call, arguments)] = heard
    assert call == "rollout" and arguments.keys() == {"cases"}
    assert [case["seed"] for case in arguments["cases"]] == [case.seed for case in mixed]


@pytest.fixture
def single() -> SingleEnvironment:
    environment = SingleEnvironment(Walker)
    environment.open({})
    return environment


def test_much_is_answered_in_parts(
    single: SingleEnvironment, opened_walker: Environment, mixed: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PART_BYTES", 999)
    answer = single.rollout(packed(mixed), columns=True)
    assert len(answer["parts"]) > 5
    spec, expected = opened_walker.spec, opened_walker.rollout(mixed)
    for episode, known in zip(unpacked(answer, spec.outputs, {}, "rollout"), expected, strict=True):
        assert all(np.array_equal(episode["leaves"][path], array) for path, array in known.leaves.items())


WRONG_REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "no seeds": ({"seeds": None}, "arrays of seeds and lengths"),
    "a seed too few": ({"seeds": np.array([1])}, "a seed and a length each"),
    "a length too large": ({"lengths": np.array([2, 2])}, "an action for each step"),
    "a negative length": ({"lengths": np.array([4, -1])}, "a length each"),
    "a start of a case that is not there": ({"started": np.array([2])}, "by the numbers of cases"),
    "draws of a case that is not there": ({"draws": [[7, []]]}, "by the numbers of cases"),
    "a start without its leaves": ({"started": np.array([0])}, "the state has"),
    "actions of another leaf": ({"actions": {"push": np.array([0, 1, 2])}}, "the action has"),
    "an action out of bounds": ({"actions": {"action": np.array([0, 1, 3])}}, "outside its bounds"),
    "a state of another type": (
        {
            "started": np.array([1]),
            "starts": {
                "state/place": np.array([1]),
                "state/steps": np.array([1]),
                "state/slope": np.array([0.5]),
            },
        },
        "state/steps must be int32",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_REQUESTS)
def test_a_wrong_request_is_refused(single: SingleEnvironment, wrong: str) -> None:
    cases = [Case(1, {"action": np.array([0, 1])}), Case(2, {"action": np.array([2])})]
    change, saying = WRONG_REQUESTS[wrong]
    assert len(single.rollout(packed(cases), columns=True)["parts"]) == 1
    with pytest.raises(ProtocolError, match=saying):
        single.rollout({**(packed(cases) or {}), **change}, columns=True)


WRONG_ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "a list": ({"parts": [[]]}, "without parts"),
    "nothing": ({"parts": None}, "without parts"),
    "lengths that are too long together": ({"timesteps": np.array([3, 3])}, "do not fit together"),
    "lengths that are too short together": ({"timesteps": np.array([3, 1])}, "do not fit together"),
    "an episode without timesteps": ({"timesteps": np.array([5, 0])}, "do not fit together"),
    "a negative length": ({"timesteps": np.array([6, -1])}, "do not fit together"),
    "lengths as floats": ({"timesteps": np.array([3.0, 2.0])}, "do not fit together"),
    "lengths as a list": ({"timesteps": [3, 2]}, "do not fit together"),
    "draws of one episode": ({"draws": [[]]}, "do not fit together"),
    "no draws": ({"draws": None}, "do not fit together"),
    "other leaves": ({"leaves": {}}, "it answered with"),
    "other actions": ({"actions": {"action": np.array([0, 1])}}, "has length 2"),
    "no actions": ({"actions": None}, "it answered with NoneType"),
}


@pytest.mark.parametrize("wrong", WRONG_ANSWERS)
def test_a_wrong_answer_is_refused(single: SingleEnvironment, opened_walker: Environment, wrong: str) -> None:
    cases = [Case(1, {"action": np.array([0, 1])}), Case(2, {"action": np.array([2])})]
    spec = opened_walker.spec
    answer = single.drive("outward", [1, 2], 0, after=packed(cases), columns=True)
    assert len(list(unpacked(answer, spec.outputs, spec.actions, "drive"))) == 2
    change, saying = WRONG_ANSWERS[wrong]
    changed = change if "parts" in change else {"parts": [{**answer["parts"][0], **change}]}
    with pytest.raises(BadAnswer, match=saying):
        list(unpacked(changed, spec.outputs, spec.actions, "drive"))
