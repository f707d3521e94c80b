"""The chance of a seed: games of the first reading and of the candidate in Rust draw the same, with no tape between."""

from __future__ import annotations

import pytest

from harness.reference.start import start_reference
from harness.task.load import load_task
from tests.environments.seeds import differing_without_a_tape
from tests.paths import ENVIRONMENTS
from tests.specification.conftest import HERE

pytestmark = [pytest.mark.slow, pytest.mark.rust]
TASK = load_task(ENVIRONMENTS / "tcg").with_candidate("rust")
SEEDS = [*range(40, 60), (1 << 62) + 3]


def test_a_seed_draws_the_same_in_both(cargo: None) -> None:
    reference = start_reference(TASK, HERE)
    try:
        assert differing_without_a_tape(TASK, reference, "rival", SEEDS, 0) == [0, 0]
        assert differing_without_a_tape(TASK, reference, "rival", SEEDS, 1) == [len(SEEDS), len(SEEDS)]  # planted
    finally:
        reference.close()
