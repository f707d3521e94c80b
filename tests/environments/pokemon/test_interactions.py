"""The states from which level 2's sequences begin are whole: a battle that is set up from one reads the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.model import Case
from harness.protocol.environment import Environment
from harness.reference.install import setup
from harness.reference.start import start_reference
from harness.task.suite import load_suite
from tests.environments.pokemon.battles import TASK

pytestmark = pytest.mark.slow
SEQUENCES = {sequence.name: sequence for sequence in load_suite(TASK).sequences}
NONE = {path: np.zeros(0, np.int32) for path in TASK.actions}


@pytest.fixture(scope="module")
def reference() -> Iterator[Environment]:
    started = start_reference(TASK, setup(TASK))
    yield started
    started.close()


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_battle_that_begins_in_such_a_state_has_it(reference: Environment, name: str) -> None:
    @settings(max_examples=6, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(SEQUENCES[name].make(TASK), min_size=50, max_size=50))
    def survives(made: list[dict[str, dict[str, object]]]) -> None:
        starts = [
            {path: np.asarray(value, TASK.leaves[path].dtype) for path, value in one["start"].items()} for one in made
        ]
        played = reference.rollout([Case(0, NONE, start=start) for start in starts])
        for start, trajectory in zip(starts, played, strict=True):
            for path, value in start.items():
                assert np.array_equal(trajectory.leaves[path][0], value), path

    survives()
