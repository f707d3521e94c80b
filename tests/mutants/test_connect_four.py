"""Wrong candidates of Connect Four are caught, those among them that only a full board shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.connect_four import JAX, RUST
from tests.mutants.plant import Mutant, assert_caught, plant
from tests.mutants.repeat import GROUPS
from tests.paths import ENVIRONMENTS
from tests.sampling import by_day

pytestmark = pytest.mark.slow
SEED = 3
TASK = load_task(ENVIRONMENTS / "connect_four")
IN_JAX, IN_RUST = ({mutant.name: mutant for mutant in mutants} for mutants in (JAX, RUST))
DAILY = {"a win with the last stone is paid as a draw", "five across are no four", "an illegal move costs nothing"}


@pytest.fixture(scope="module")
def verifier(request: pytest.FixtureRequest) -> Iterator[Verifier]:
    with Verifier(TASK.with_candidate(request.param), sandboxes.choose(None), prepare=True) as started:
        yield started


def judged(verifier: Verifier, mutant: Mutant, tree: Path) -> None:
    plant(verifier.task, mutant, tree)
    assert_caught(mutant, verifier.verify(tree, LevelsRequest((1, 2, 3), SEED, stop_at_failure=True)))


@pytest.mark.parametrize("verifier", ["jax"], indirect=True)
@pytest.mark.parametrize("name", by_day(IN_JAX, DAILY))
def test_a_fault_in_jax_is_caught(verifier: Verifier, name: str, tmp_path: Path) -> None:
    judged(verifier, IN_JAX[name], tmp_path)


@pytest.mark.rust
@pytest.mark.parametrize("verifier", ["rust"], indirect=True)
@pytest.mark.parametrize("name", by_day(IN_RUST, DAILY | {RUST[0].name}))
def test_a_fault_in_rust_is_caught(verifier: Verifier, name: str, tmp_path: Path) -> None:
    judged(verifier, IN_RUST[name], tmp_path)


@pytest.mark.parametrize("verifier", ["jax", pytest.param("rust", marks=pytest.mark.rust)], indirect=True)
def test_the_shipped_candidates_pass_and_games_of_every_kind_are_counted(verifier: Verifier) -> None:
    verdict = verifier.verify(TASK.directory, LevelsRequest((1, 2, 3), SEED))
    assert verdict.outcome is Outcome.PASS, verdict
    occurred = verdict.reports[-1].occurred
    assert occurred is not None
    assert occurred.results["0.0, 0.0"] >= 5


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_each_fault_can_be_planted_in_the_candidate_as_it_is_now(group: str, tmp_path: Path) -> None:
    """By day too: most faults are judged at night, and a candidate that was rewritten has lost the place of some."""
    directory, mutants, kind = GROUPS[group]
    task = load_task(directory).with_candidate(kind)
    for number, mutant in enumerate(mutants):
        plant(task, mutant, tmp_path / str(number))
