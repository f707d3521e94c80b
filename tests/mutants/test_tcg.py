"""Wrong candidates of the card game in Rust are caught at one of the levels 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.plant import assert_found, plant
from tests.mutants.tcg import MUTANTS
from tests.paths import ENVIRONMENTS
from tests.sampling import by_day

pytestmark = pytest.mark.slow
TASK = load_task(ENVIRONMENTS / "tcg").with_candidate("rust")
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
DAILY = {"an ex is worth one point", "one may evolve in turn 2"}


@pytest.fixture(scope="module")
def verifier(cargo: None) -> Iterator[Verifier]:
    with Verifier(TASK, sandboxes.choose(None), prepare=True) as started:
        yield started


@pytest.mark.parametrize("name", by_day(BY_NAME, DAILY))
def test_a_fault_is_caught(verifier: Verifier, name: str, tmp_path: Path) -> None:
    plant(TASK, BY_NAME[name], tmp_path)
    verdict = verifier.verify(tmp_path, LevelsRequest((1, 2, 3), 3, stop_at_failure=True))
    assert_found(verdict)
