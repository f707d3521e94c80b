"""Trajectories whose steps each begin at a state that is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.model import Case, Draw, Leaf, Trajectory
from harness.task.contract import Candidate, Reference, Task, Tolerance
from harness.verify.resynchronised import inexact_leaf, spread_steps, step_by_step, step_of

LIMIT = 40.0


class Doubling:
    """Doubles its number and adds the action and the draw; ends beyond a limit. `error` is added in each step."""

    def __init__(self, error: float = 0.0) -> None:
        self.error = error
        self.asked: list[Case] = []

    def __call__(self, cases: Sequence[Case]) -> list[Trajectory]:
        self.asked += cases
        return [self.played(case) for case in cases]

    def played(self, case: Case) -> Trajectory:
        numbers = [1.0 if case.start is None else float(case.start["state/n"])]
        tape: list[tuple[Draw, ...]] = [()]
        for step in range(case.length):
            forced = case.draws[step + 1] if case.draws is not None else (Draw("gust", np.asarray(0.5)),)
            tape.append(forced)
            numbers.append(2 * numbers[-1] + float(case.actions["action"][step]) + float(forced[0].value) + self.error)
            if numbers[-1] > LIMIT:
                break
        ended = np.array([False, *(number > LIMIT for number in numbers[1:])])
        leaves: dict[str, Any] = {"state/n": np.array(numbers), "terminated": ended, "truncated": np.zeros_like(ended)}
        return Trajectory(case, leaves, tuple(tape))


def case(*actions: float) -> Case:
    return Case(3, {"action": np.array(actions)})


def test_the_same_environment_answers_step_by_step_as_it_does_alone() -> None:
    led = Doubling()([case(1.0, 2.0, 3.0), case(), case(30.0, 30.0, 1.0)])
    for one, other in zip(led, step_by_step(Doubling(), led, forced=True), strict=True):
        assert one.digest == other.digest
        assert other.case is one.case


def test_an_error_of_a_step_is_not_enlarged_by_the_next() -> None:
    [led] = Doubling()([case(0.0, 0.0, 0.0)])
    [alone] = Doubling(error=0.01)([case(0.0, 0.0, 0.0)])
    [stepped] = step_by_step(Doubling(error=0.01), [led], forced=True)
    assert abs(alone.leaves["state/n"] - led.leaves["state/n"]).max() == pytest.approx(0.07)
    assert abs(stepped.leaves["state/n"] - led.leaves["state/n"]).max() == pytest.approx(0.01)


def test_a_trajectory_ends_with_the_first_step_that_ends() -> None:
    [led] = Doubling()([case(0.0, 0.0, 0.0, 0.0)])
    [stepped] = step_by_step(Doubling(error=30.0), [led], forced=True)
    assert (led.steps, stepped.steps) == (4, 3)
    assert stepped.leaves["terminated"].tolist() == [False, False, False, True]


def test_a_restored_start_and_forced_draws_are_handed_on() -> None:
    gusts = tuple((Draw("gust", np.asarray(value)),) for value in (0.25, 0.75))
    begun = replace(case(0.0, 1.0), start={"state/n": np.float64(3.0)}, draws=((), *gusts))
    [led] = Doubling()([begun])
    side = Doubling()
    assert step_by_step(side, [led], forced=True)[0].digest == led.digest
    first, *steps = side.asked
    assert first.start == begun.start and first.length == 0
    assert [step.draws for step in steps] == [((), gusts[0]), ((), gusts[1])]
    assert step_of(led, 2, forced=False).draws is None
    assert step_of(led, 2, forced=True).actions["action"].tolist() == [1.0]


def test_many_steps_are_asked_for_in_parts_and_stay_in_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.verify.resynchronised.TOGETHER", 2)
    led = Doubling()([case(1.0), case(), case(0.0, 0.0, 0.0)])
    assert [one.digest for one in step_by_step(Doubling(), led, forced=True)] == [one.digest for one in led]


def test_steps_are_taken_from_all_over() -> None:
    led = Doubling()([case(0.0, 0.0), case(), case(0.0, 0.0, 0.0)])
    every = [(led[0], 1), (led[0], 2), (led[2], 1), (led[2], 2), (led[2], 3)]
    assert spread_steps(led, 99) == every
    assert spread_steps(led, 2) == [every[0], every[-1]]
    assert spread_steps(Doubling()([case()]), 5) == []


@pytest.mark.parametrize(
    ("tolerance", "inexact"),
    [
        (Tolerance(), False),
        (Tolerance(atol=1e-300), False),
        (Tolerance(atol=1e-12), True),
        (Tolerance(rtol=1e-300), True),
        (Tolerance(ulp=1), True),
    ],
)
def test_what_xla_flushes_to_zero_is_no_tolerance(tmp_path: Any, tolerance: Tolerance, inexact: bool) -> None:
    leaves = {
        "state/n": Leaf("state/n", "float64"),
        "state/k": Leaf("state/k", "int32"),
        "reward": Leaf("reward", "float64"),
    }
    task = Task("t", "", "translate", tmp_path, Reference(None), Candidate("jax", "candidate/env.py"), leaves, ())
    loose = {"state/n": tolerance, "reward": Tolerance(atol=1.0)}
    assert inexact_leaf(replace(task, tolerances=loose)) == ("state/n" if inexact else None)
