"""Bounds, advice and text: what is made of what was measured."""

from __future__ import annotations

from typing import Any

import pytest

from harness.measure.profile import text
from harness.measure.profile.advice import advise
from harness.measure.profile.contenders import CANDIDATE, PEER, Cell, Contender
from harness.measure.profile.hot import HotStep, Operation
from harness.measure.profile.machine import Abilities, bound, output_bytes, suspicious
from harness.task.load import load_task
from tests.verify.levels.conftest import WALK


class Nobody:
    def ask(self, call: str, **arguments: Any) -> Any:
        raise AssertionError("nobody is asked here")


def cell(role: str = CANDIDATE, flops: float = 0.0) -> Cell:
    return Cell(Contender("candidate", role, Nobody(), 0), "scan", 100, 10, facts={"flops": flops})


def test_a_rate_beyond_what_its_outputs_allow_is_suspicious() -> None:
    task = load_task(WALK)
    assert output_bytes(task) == 8 + 4 + 1 + 1
    limit = bound(task, cell(), Abilities({}, 1e9, 1.4e9))
    assert limit is not None and (limit.by, limit.steps_per_s) == ("bytes", pytest.approx(1e8))
    assert not suspicious(1.4e8, limit) and suspicious(1.6e8, limit)


def test_a_rate_beyond_what_its_operations_allow_is_suspicious() -> None:
    limit = bound(load_task(WALK), cell(flops=100 * 50.0), Abilities({}, 1e9, 1e12))
    assert limit is not None and (limit.by, limit.steps_per_s) == ("operations", pytest.approx(2e7))
    assert suspicious(1e8, limit)


def test_of_a_peer_no_bound_is_known() -> None:
    assert bound(load_task(WALK), cell(PEER), Abilities({}, 1e9, 1e9)) is None
    assert not suspicious(1e12, None)


def hot(*operations: tuple[str, str, float], chance: float = 0.0) -> HotStep:
    described = tuple(
        Operation(f"op.{number}", kind, share, f"env.py:{number} rule", origin)
        for number, (kind, origin, share) in enumerate(operations)
    )
    return HotStep(described, {"chance": chance}, {}, 1)


@pytest.mark.parametrize(
    ("found", "item", "name"),
    [
        (hot(("conditional", "candidate", 0.6), ("arithmetic", "candidate", 0.4)), 2, "Branches"),
        (hot(("while", "candidate", 0.5), ("arithmetic", "candidate", 0.5)), 5, "Loops"),
        (hot(("gather", "candidate", 0.2), ("scatter", "candidate", 0.2)), 7, "Memory"),
        (hot(("arithmetic", "chance", 0.7), chance=0.7), 0, "Chance"),
        (hot(("arithmetic", "candidate", 0.9)), 0, "The rules themselves"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_advice_is_what_takes_most_of_the_time(found: HotStep, item: int, name: str) -> None:
    advice = advise(found, x64=False, compile_s=2.0, compile_added=10 << 20, state_bytes=40)
    assert (advice.item, advice.name) == (item, name)


def test_arithmetic_in_64_bits_points_to_the_types() -> None:
    advice = advise(hot(("arithmetic", "candidate", 0.9)), x64=True, compile_s=2.0, compile_added=None, state_bytes=40)
    assert advice.item == 6 and "env.py:0 rule (90%)" in advice.because


def test_a_compilation_that_takes_minutes_goes_first() -> None:
    advice = advise(hot(("gather", "candidate", 0.9)), x64=False, compile_s=300.0, compile_added=5 << 30, state_bytes=4)
    assert advice.item == 2 and "5,120 MB" in advice.because


@pytest.mark.parametrize(("value", "shown"), [(12.0, "12"), (1234.0, "1.23k"), (9.99e6, "9.99M"), (7.1e9, "7.1G")])
def test_a_figure_has_three_digits(value: float, shown: str) -> None:
    assert text.figure(value) == shown
