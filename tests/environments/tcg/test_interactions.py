"""Level 2's sequences of the card game: whole states, every word of an attack, and both readings alike in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings

from harness.model import Case, Trajectory
from harness.protocol.environment import Environment
from tests.environments.tcg.conftest import TASK
from tests.environments.tcg.test_reference import SUITE, differing

SEQUENCES = {sequence.name: sequence for sequence in SUITE.sequences}
FIRST_ATTACK, LAST_ATTACK = 29, 30


def played(reference: Environment, name: str, count: int) -> list[Trajectory]:
    """So many cases of a sequence, on the reference."""
    found: list[Case] = []

    @settings(max_examples=count, database=None, phases=[Phase.generate])
    @given(SEQUENCES[name].make(TASK))
    def make(case: dict[str, Any]) -> None:
        leaves = {path: np.asarray(value, TASK.leaves[path].dtype) for path, value in case.get("start", {}).items()}
        found.append(Case(len(found), {"action": np.asarray(case["actions"], np.int32)}, start=leaves or None))

    make()
    return reference.rollout(found)


@pytest.mark.parametrize("name", SEQUENCES)
def test_both_readings_do_the_same_from_whole_states(reference: Environment, name: str) -> None:
    cases = played(reference, name, 40)
    for trajectory in cases:
        for path, value in (trajectory.case.start or {}).items():
            assert np.array_equal(trajectory.leaves[path][0], value), path
    assert differing(cases) == set()


def test_sequences_do_what_they_are_named_for(reference: Environment) -> None:
    attacks = played(reference, "an attack that does more than its damage", 40)
    legal = [bool(one.leaves["legal_actions"][0][one.case.actions["action"][0]]) for one in attacks]
    assert all(legal) and all(one.case.actions["action"][0] in (FIRST_ATTACK, LAST_ATTACK) for one in attacks)
    assert np.mean([len(one.draws or ()) > 0 for one in attacks]) > 0.2
    decided = played(reference, "what decides a game", 40)
    assert np.mean([one.leaves["terminated"][-1] for one in decided]) > 0.3
