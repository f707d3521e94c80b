"""The chance of a seed: battles of the reference and of the candidate in Rust roll the same, without a tape between them."""

from __future__ import annotations

import pytest

from harness.reference.install import setup
from harness.reference.start import start_reference
from tests.environments.pokemon.battles import TASK
from tests.environments.seeds import differing_without_a_tape

pytestmark = [pytest.mark.slow, pytest.mark.rust]
SEEDS = range(40, 64)


def test_a_seed_rolls_the_same_in_both(cargo: None) -> None:
    task, reference = TASK.with_candidate("rust"), start_reference(TASK, setup(TASK))
    try:
        assert differing_without_a_tape(task, reference, "stay", SEEDS, 0) == [0, 0]
        assert differing_without_a_tape(task, reference, "stay", SEEDS, 1) == [len(SEEDS), len(SEEDS)]  # planted
    finally:
        reference.close()
