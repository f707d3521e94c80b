"""The general adapter of Gymnasium environments: its tape records what a generator decides, and forces it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from harness.protocol.worker import load
from tests.paths import ROOT


@pytest.fixture(scope="module")
def adapter() -> Iterator[ModuleType]:
    path = list(sys.path)
    log = load(f"{ROOT / 'harness/authoring/templates/gymnasium_adapter.py'}:Log")
    yield sys.modules[log.__module__]
    sys.path[:] = path
    sys.modules.pop(log.__module__)


def decide(adapter: ModuleType, draws: list[Any] | None) -> tuple[list[Any], list[Any]]:
    """Decisions of several kinds, and the draws that were recorded."""
    log = adapter.Log()
    tape = adapter.Tape(np.random.default_rng(5), log)
    log.begin(draws)
    deck = [1, 2, 3, 4]
    answers = [tape.random(), tape.integers(10), tape.normal(size=2), tape.choice([2.5, 3.5]), tape.permutation(3)]
    tape.shuffle(deck)
    answers.append(deck)
    assert tape.choice(["red", "blue"]) in ("red", "blue")
    log.end()
    return answers, log.taken()


def test_forced_draws_answer_in_the_very_types_of_the_generator(adapter: ModuleType) -> None:
    answers, draws = decide(adapter, None)
    assert [name for name, _ in draws] == ["random", "integers", "normal_2", "choice", "permutation_3", "shuffle_4"]
    other = [[name, np.array(value[::-1]) if value.shape else value + 1] for name, value in draws]
    forced, recorded = decide(adapter, other)
    assert [type(answer) for answer in forced] == [type(answer) for answer in answers]
    assert forced[0] == answers[0] + 1
    assert forced[5] == answers[5][::-1]
    assert all(np.array_equal(value, made) for (_, value), (_, made) in zip(other, recorded, strict=True))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda draws: draws[:-1], "the draw shuffle_4 is missing"),
        (lambda draws: [*draws, ["random", np.array(0.5)]], "draws are left over: random"),
        (lambda draws: [draws[1], draws[0], *draws[2:]], "a draw random .* is due, integers"),
        (lambda draws: [[draws[0][0], np.zeros(2)], *draws[1:]], r"shape \(2,\)\) was given"),
    ],
    ids=["missing", "left over", "out of order", "of another shape"],
)
def test_a_tape_that_does_not_fit_is_refused(adapter: ModuleType, fault: Any, said: str) -> None:
    _, draws = decide(adapter, None)
    with pytest.raises(ValueError, match=said):
        decide(adapter, fault(draws))
