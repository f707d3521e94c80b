"""Every planted fault is caught, by the level and at the leaf that must catch it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verify.verifier import Verifier
from tests.mutants import cartpole, pong
from tests.mutants.plant import Mutant, assert_caught, plant
from tests.paths import ENVIRONMENTS

SEED = 20_260


@pytest.fixture(scope="module")
def cartpole_verifier() -> Iterator[Verifier]:
    with Verifier(load_task(ENVIRONMENTS / "cartpole"), sandboxes.choose(None), prepare=True) as verifier:
        yield verifier


@pytest.fixture(scope="module")
def pong_verifier() -> Iterator[Verifier]:
    with Verifier(load_task(ENVIRONMENTS / "pong"), sandboxes.choose(None), prepare=True) as verifier:
        yield verifier


def levels(mutant: Mutant) -> tuple[int, ...]:
    """The level that must catch it and those below, which must not."""
    return tuple(range(1, mutant.level + 1))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", cartpole.MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_fault_in_cartpole_is_caught_where_it_must_be(
    mutant: Mutant, cartpole_verifier: Verifier, tmp_path: Path
) -> None:
    plant(load_task(ENVIRONMENTS / "cartpole"), mutant, tmp_path)
    assert_caught(mutant, cartpole_verifier.verify(tmp_path, levels=levels(mutant), seed=SEED))


@pytest.mark.slow
@pytest.mark.pong
@pytest.mark.parametrize("mutant", pong.MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_fault_in_pong_is_caught_where_it_must_be(
    mutant: Mutant, pong_verifier: Verifier, tmp_path: Path
) -> None:
    plant(load_task(ENVIRONMENTS / "pong"), mutant, tmp_path)
    assert_caught(mutant, pong_verifier.verify(tmp_path, levels=levels(mutant), seed=SEED))
