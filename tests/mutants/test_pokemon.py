"""Wrong candidates of Pokémon are caught: what a probe shows at level 1 and traced, what turns show at level 2 or 3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.plant import assert_caught, assert_found, plant
from tests.mutants.pokemon import MUTANTS
from tests.paths import ENVIRONMENTS
from tests.sampling import by_day

pytestmark = pytest.mark.slow
TASK = load_task(ENVIRONMENTS / "pokemon").with_candidate("rust")
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
DAILY = {"stats roll over one later", "Haze keeps screens"}


@pytest.fixture(scope="module")
def verifier(cargo: None) -> Iterator[Verifier]:
    with Verifier(TASK, sandboxes.choose(None), prepare=True) as started:
        yield started


@pytest.mark.parametrize("name", by_day(BY_NAME, DAILY))
def test_a_fault_is_caught(verifier: Verifier, name: str, tmp_path: Path) -> None:
    mutant = BY_NAME[name]
    plant(TASK, mutant, tmp_path)
    if mutant.level == 1:
        verdict = verifier.verify(tmp_path, LevelsRequest((1,), 3, module=mutant.module, stop_at_failure=True))
        assert_caught(mutant, verdict)
    else:
        verdict = verifier.verify(tmp_path, LevelsRequest((2, 3), 3, stop_at_failure=True))
        assert_found(verdict)
