"""Every planted fault is caught, by the level and at the leaf that must catch it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants import cartpole, limits, pong
from tests.mutants.plant import Mutant, assert_caught, plant
from tests.paths import ENVIRONMENTS
from tests.sampling import one_of_each

SEED = 20_260
NOT_FIRST = {
    "a serve that can go up",
    "the observation of the new round on a point",
    "the tick goes on in the next round",
    "division by a reciprocal",
}
"""Faults in Pong that another check sees before the one that must: a verification that stops at a failure would not come to it."""


@pytest.fixture(scope="module")
def cartpole_verifier() -> Iterator[Verifier]:
    with Verifier(load_task(ENVIRONMENTS / "cartpole"), sandboxes.choose(None), prepare=True) as verifier:
        yield verifier


@pytest.fixture(scope="module")
def pong_verifier() -> Iterator[Verifier]:
    with Verifier(load_task(ENVIRONMENTS / "pong"), sandboxes.choose(None), prepare=True) as verifier:
        yield verifier


def found_by(mutant: Mutant) -> tuple[int, str]:
    """The level and the check that must find it."""
    return mutant.level, mutant.check


def limit(mutant: Mutant) -> tuple[bool, ...]:
    """What it is the limit of."""
    return tuple(word in mutant.name for word in ("edge", "angle", "degrees", "wall", "paddle", "close"))


def levels(mutant: Mutant) -> tuple[int, ...]:
    """The level that must catch it and those below, which must not."""
    return tuple(range(1, mutant.level + 1))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", one_of_each(cartpole.MUTANTS, found_by))
def test_a_planted_fault_in_cartpole_is_caught_where_it_must_be(
    mutant: Mutant, cartpole_verifier: Verifier, tmp_path: Path
) -> None:
    plant(load_task(ENVIRONMENTS / "cartpole"), mutant, tmp_path)
    assert_caught(mutant, cartpole_verifier.verify(tmp_path, LevelsRequest(levels(mutant), SEED)))


@pytest.mark.slow
@pytest.mark.pong
@pytest.mark.parametrize("mutant", one_of_each(pong.MUTANTS, levels))
def test_a_planted_fault_in_pong_is_caught_where_it_must_be(
    mutant: Mutant, pong_verifier: Verifier, tmp_path: Path
) -> None:
    plant(load_task(ENVIRONMENTS / "pong"), mutant, tmp_path)
    request = LevelsRequest(levels(mutant), SEED, stop_at_failure=mutant.name not in NOT_FIRST)
    assert_caught(mutant, pong_verifier.verify(tmp_path, request))


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.pong
@pytest.mark.parametrize(
    "mutant", [mutant for mutant in pong.MUTANTS if mutant.name not in NOT_FIRST], ids=lambda mutant: mutant.name
)
def test_a_planted_fault_in_pong_is_caught_by_a_verification_in_full(
    mutant: Mutant, pong_verifier: Verifier, tmp_path: Path
) -> None:
    """One that stops at the first failure is quick; a full one goes on, and makes inputs small: minutes in all."""
    plant(load_task(ENVIRONMENTS / "pong"), mutant, tmp_path)
    assert_caught(mutant, pong_verifier.verify(tmp_path, LevelsRequest(levels(mutant), SEED)))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", one_of_each(limits.CARTPOLE, limit))
def test_a_limit_of_cartpole_that_is_wrong_by_bits_in_the_step_alone_is_caught(
    mutant: Mutant, cartpole_verifier: Verifier, tmp_path: Path
) -> None:
    plant(load_task(ENVIRONMENTS / "cartpole"), mutant, tmp_path)
    assert_caught(
        mutant, cartpole_verifier.verify(tmp_path, LevelsRequest((mutant.level,), SEED, stop_at_failure=True))
    )


@pytest.mark.slow
@pytest.mark.pong
@pytest.mark.parametrize("mutant", one_of_each(limits.PONG, limit))
def test_a_limit_of_pong_that_is_wrong_by_bits_in_the_step_alone_is_caught(
    mutant: Mutant, pong_verifier: Verifier, tmp_path: Path
) -> None:
    plant(load_task(ENVIRONMENTS / "pong"), mutant, tmp_path)
    assert_caught(mutant, pong_verifier.verify(tmp_path, LevelsRequest((mutant.level,), SEED, stop_at_failure=True)))
