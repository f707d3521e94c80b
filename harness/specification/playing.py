"""Scenarios played against a reading: what it answers to each situation, held against the outcome that is stated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.compare import EXACT, differing_elements, value_text
from harness.errors import Raised
from harness.model import Array, Case, Tape, Trajectory
from harness.specification.scenarios import Expectation, Scenario
from harness.task.contract import Tolerance


@dataclass(frozen=True)
class Miss:
    """One value that a reading answers otherwise than a scenario states."""

    step: int
    address: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.address} at step {self.step}: expected {self.expected}, got {self.actual}"


@dataclass(frozen=True)
class Played:
    """What a reading made of one scenario; `misses` is empty where it does as stated."""

    scenario: Scenario
    misses: tuple[Miss, ...]

    @property
    def passed(self) -> bool:
        """Whether the reading does as the scenario says."""
        return not self.misses

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description of what it misses."""
        return {
            "scenario": self.scenario.name,
            "where": self.scenario.where,
            "cites": list(self.scenario.cites),
            "misses": [str(miss) for miss in self.misses],
        }


def play_scenarios(
    play: Callable[[Sequence[Case]], list[Trajectory]],
    scenarios: Sequence[Scenario],
    tolerances: Mapping[str, Tolerance],
) -> list[Played]:
    """Play each scenario, in order. One that the reading refuses is a miss of its own, not a failure of the machinery.

    Args:
        play: what a reading answers to cases (`Environment.rollout`).

    Raises:
        EnvironmentFailure: the reading crashed, was late, or broke the protocol.
    """
    played = []
    for scenario in scenarios:
        try:
            [answered] = play([scenario.case])
        except Raised as refused:
            played.append(Played(scenario, (Miss(0, "the scenario", "an answer", first_line(refused)),)))
            continue
        played.append(Played(scenario, tuple(_misses(answered, scenario, tolerances))))
    return played


def first_line(refused: Raised) -> str:
    """What a reading said when it refused."""
    return refused.what.splitlines()[0] if refused.what else "it raised"


def _misses(answered: Trajectory, scenario: Scenario, tolerances: Mapping[str, Tolerance]) -> Iterator[Miss]:
    if scenario.case.draws is not None:
        for step in range(answered.timesteps):
            stated, drawn = (_drawn(tape, step) for tape in (scenario.case.draws, answered.draws or ()))
            if stated != drawn:
                yield Miss(step, "what is drawn", stated or "nothing", drawn or "nothing")
    for expectation in sorted(scenario.expects, key=lambda one: one.step):
        if expectation.step >= answered.timesteps:
            yield Miss(expectation.step, expectation.address, _shown(expectation), f"the end at step {answered.steps}")
            continue
        given: Array = np.asarray(answered.leaves[expectation.path][expectation.step][expectation.index])
        tolerance = tolerances.get(expectation.path, EXACT)
        differing = differing_elements(np.asarray(expectation.value), given, tolerance)
        if differing is None:
            form = f"{given.dtype} {list(given.shape)}"
            yield Miss(expectation.step, expectation.address, _shown(expectation), form)
            continue
        for index in np.argwhere(differing.reshape(given.shape)):
            place = (*expectation.index, *(int(i) for i in index))
            address = expectation.path + (f"[{','.join(map(str, place))}]" if place else "")
            wanted, got = (value_text(array[tuple(index)]) for array in (expectation.value, given))
            yield Miss(expectation.step, address, wanted, got)


def _drawn(tape: Tape, step: int) -> str:
    """The names of what is drawn in a timestep; the order of different names means nothing."""
    return ", ".join(sorted(draw.name for draw in tape[step])) if step < len(tape) else ""


def _shown(expectation: Expectation) -> str:
    return value_text(expectation.value) if not expectation.value.ndim else str(expectation.value.tolist())
