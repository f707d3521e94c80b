"""The general adapter of Gymnasium environments: its tape records what a generator decides, and forces it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.protocol.worker import load
from tests.paths import ROOT


@pytest.fixture(scope="module")
def adapter() -> Iterator[ModuleType]:
    path = list(sys.path)
    log = load(f"{ROOT / 'harness/authoring/templates/gymnasium_chance.py'}:Log")
    yield sys.modules[log.__module__]
    sys.path[:] = path
    sys.modules.pop(log.__module__)


def decide(adapter: ModuleType, draws: list[Any] | None) -> tuple[list[Any], list[Any]]:
    """Decisions of several kinds, and the draws that were recorded."""
    log = adapter.Log()
    tape = adapter.Generator(np.random.PCG64(5))
    with log.timestep(draws):
        deck = [1, 2, 3, 4]
        answers = [tape.random(), tape.integers(10), tape.normal(size=2), tape.choice([2.5, 3.5]), tape.permutation(3)]
        tape.shuffle(deck)
        answers.append(deck)
        answers.append(tape.choice(["red", "blue"]))
    return answers, log.taken()


def test_forced_draws_answer_in_the_very_types_of_the_generator(adapter: ModuleType) -> None:
    answers, draws = decide(adapter, None)
    assert [name for name, _ in draws] == [
        "random", "integers", "normal_2", "choice_float64", "permutation_3", "shuffle_4", "choice_index",
    ]  # fmt: skip
    other = [[name, np.array(value[::-1]) if value.shape else value + 1] for name, value in draws]
    other[-1][1] = 1 - draws[-1][1]
    forced, recorded = decide(adapter, other)
    assert [type(answer) for answer in forced] == [type(answer) for answer in answers]
    assert forced[0] == answers[0] + 1
    assert forced[5] == answers[5][::-1]
    assert {forced[6], answers[6]} == {"red", "blue"}
    assert all(np.array_equal(value, made) for (_, value), (_, made) in zip(other, recorded, strict=True))


def test_names_may_come_in_any_order_and_draws_of_one_name_come_in_theirs(adapter: ModuleType) -> None:
    answers, draws = decide(adapter, None)
    forced, recorded = decide(adapter, draws[::-1])
    assert str(forced) == str(answers) and [name for name, _ in recorded] == [name for name, _ in draws]
    log, tape = adapter.Log(), adapter.Generator(np.random.PCG64(5))
    with log.timestep([["random", np.array(0.25)], ["integers", np.array(3)], ["random", np.array(0.75)]]):
        assert (tape.random(), tape.random(), tape.integers(10)) == (0.25, 0.75, 3)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda draws: draws[:-1], "the draw choice_index is missing"),
        (lambda draws: [*draws, ["random", np.array(0.5)]], "draws are left over: random"),
        (lambda draws: [["integer", draws[1][1]], *draws[:1], *draws[2:]], "the draw integers is missing"),
        (lambda draws: [[draws[0][0], np.zeros(2)], *draws[1:]], r"shape \(2,\) was given"),
    ],
    ids=["missing", "left over", "of another name", "of another shape"],
)
def test_a_tape_that_does_not_fit_is_refused(adapter: ModuleType, fault: Any, said: str) -> None:
    _, draws = decide(adapter, None)
    with pytest.raises(ValueError, match=said):
        decide(adapter, fault(draws))


def test_what_others_draw_after_a_refused_timestep_is_not_the_environments(adapter: ModuleType) -> None:
    log, tape = adapter.Log(), adapter.Generator(np.random.PCG64(5))
    with pytest.raises(ValueError, match="the draw random is missing"), log.timestep([]):
        tape.random()
    assert 0 <= tape.random() < 1
    assert log.taken() == []


def describing() -> tuple[Any, Any]:
    """The modules by which `lockstep new` describes values, and reads and writes them."""
    path = list(sys.path)
    load(f"{ROOT / 'harness/authoring/templates/gymnasium_describe.py'}:Unusable")
    sys.path[:] = path
    describe, state = (sys.modules.pop(name) for name in ("gymnasium_describe", "gymnasium_state"))
    return describe, state


@pytest.mark.parametrize("values", [[0.5, np.float32(0.25)], [np.float32(0.25), 0.5]], ids=["narrow last", "wide last"])
def test_a_float_that_is_narrow_at_times_is_written_back_in_the_kind_that_it_had(values: list[Any]) -> None:
    describe, state = describing()
    found, leaves, _ = describe.described(values)
    assert leaves == {"": {"dtype": "float64", "shape": []}, "_narrow": {"dtype": "bool", "shape": []}}
    owner = SimpleNamespace()
    for value in values:
        owner.speed, leaf = value, {"state/speed": leaves[""]}
        timestep: dict[str, Any] = {}
        described = found | {"place": [("attribute", "speed")]}
        state.read(owner, "state/speed", described, timestep, leaf)
        owner.speed = None
        state.write(owner, "state/speed", described, timestep)
        assert (type(owner.speed), owner.speed) == (type(value), value)


@pytest.mark.parametrize(
    ("arguments", "options", "law"),
    [
        ((20,), {}, {"kind": "integers", "low": 0, "high": 19}),
        ((3,), {"p": [0.5, 0.25, 0.25]}, {"kind": "categorical", "probabilities": [0.5, 0.25, 0.25]}),
        (([0, 1, 2],), {"size": 2}, {"kind": "integers", "low": 0, "high": 2}),
        ((4,), {"size": 2, "replace": False}, None),
        (([1, 2, 4],), {}, None),
        (([0.0, 1.0],), {}, None),
        ((["a", "b"],), {}, None),
    ],
)
def test_a_choice_among_whole_numbers_from_zero_on_has_a_law(
    arguments: tuple[Any, ...], options: dict[str, Any], law: dict[str, Any] | None
) -> None:
    describe, _ = describing()
    assert describe.law_of("choice", [("choice", arguments, options)] * 2) == law


@pytest.mark.parametrize("values", [[None, np.zeros(0)], [[[]], [[], []]]], ids=["or nothing", "rows of nothing"])
def test_a_place_that_holds_no_number_is_no_leaf(values: list[Any]) -> None:
    describe, _ = describing()
    assert describe.described(values) is None


@pytest.mark.parametrize(
    ("name", "arguments", "options", "law"),
    [
        ("choice", (["a", "b"],), {}, {"kind": "integers", "low": 0, "high": 1}),
        ("choice", (["a", "b"],), {"p": [0.75, 0.25]}, {"kind": "categorical", "probabilities": [0.75, 0.25]}),
        ("choice", (["a", "b"], 2, False), {}, None),
        ("python_choice", ([[], [1], [2, 3]],), {}, {"kind": "integers", "low": 0, "high": 2}),
        ("python_sample", (["a", "b"], 2), {}, None),
    ],
)
def test_a_place_in_a_list_has_a_law(
    name: str, arguments: tuple[Any, ...], options: dict[str, Any], law: dict[str, Any] | None
) -> None:
    describe, _ = describing()
    assert describe.law_of(f"{name}_index", [(name, arguments, options)] * 2) == law


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        ((np.int64(4), 0.5), {}, "4, 0.5"),
        ((), {"size": (2, 3), "low": np.float32(0.5)}, "low=0.5, size=[2, 3]"),
        ((["a", True, None],), {"dtype": np.int32}, "['a', True, None], dtype=int32"),
        ((np.arange(3),), {}, "[0, 1, 2]"),
        (([[], [1], [1, 2]],), {}, "[[], [1], [1, 2]]"),
        ((np.array(3.0),), {}, None),
        ((range(100),), {}, None),
        ((object(),), {}, None),
        (([object()],), {}, None),
    ],
)
def test_how_a_draw_is_asked_for_is_told_by_numbers_words_and_short_lists(
    adapter: ModuleType, arguments: tuple[Any, ...], options: dict[str, Any], told: str | None
) -> None:
    assert adapter.asked(arguments, options) == told


def test_a_draw_has_the_name_of_its_way_and_another_way_the_plain_one(adapter: ModuleType) -> None:
    log, tape = adapter.Log({"integers": {"3": "", "10": "_b"}}), adapter.Generator(np.random.PCG64(5))
    with log.timestep():
        tape.integers(10), tape.integers(3), tape.integers(4), tape.random()
    assert [name for name, _ in log.taken()] == ["integers_b", "integers", "integers", "random"]
