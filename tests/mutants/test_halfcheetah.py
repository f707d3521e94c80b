"""Wrong candidates of HalfCheetah are caught: at level 1 and traced to the module, but for those that few steps show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.halfcheetah import MUTANTS
from tests.mutants.plant import assert_caught, assert_found, plant
from tests.paths import ENVIRONMENTS

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
TASK = load_task(ENVIRONMENTS / "halfcheetah")
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(TASK, sandboxes.choose(None), prepare=True) as started:
        yield started


@pytest.mark.parametrize("name", BY_NAME)
def test_a_fault_is_caught_and_traced(verifier: Verifier, name: str, tmp_path: Path) -> None:
    mutant = BY_NAME[name]
    plant(TASK, mutant, tmp_path)
    verdict = verifier.verify(tmp_path, LevelsRequest(tuple(range(1, mutant.level + 1)), 3))
    if mutant.level == 1:
        assert_caught(mutant, verdict)
    assert_found(verdict)
