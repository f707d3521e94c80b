"""The chance of a seed: games of the first reading and of the candidate in Rust draw the same, with no tape between."""

from __future__ import annotations

import pytest

from harness.protocol.environment import Environment
from tests.environments.seeds import differing_without_a_tape
from tests.environments.tcg.conftest import TASK

pytestmark = [pytest.mark.slow, pytest.mark.rust]
SEEDS = [*range(40, 60), (1 << 62) + 3]


def test_a_seed_draws_the_same_in_both(cargo: None, reference: Environment) -> None:
    task = TASK.with_candidate("rust")
    assert differing_without_a_tape(task, reference, "rival", SEEDS, 0) == [0, 0]
    assert differing_without_a_tape(task, reference, "rival", SEEDS, 1) == [len(SEEDS), len(SEEDS)]  # planted
