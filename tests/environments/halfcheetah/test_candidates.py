"""HalfCheetah's candidates: each passes, and the one in float32 holds its positions in float64."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sandboxes
from benchmarks.common import candidate_tree
from harness.candidate.faces.jax_env import load_module
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.paths import ENVIRONMENTS

TASK = load_task(ENVIRONMENTS / "halfcheetah")
CANDIDATE = TASK.directory / "candidate"


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("largest", [1.0, 20.0, 1e5])
def test_cosines_and_sines_are_those_of_numpy_to_two_units_in_the_last_place(largest: float) -> None:
    angles = np.concatenate(
        [np.random.RandomState(0).uniform(-largest, largest, 100_000), np.arange(-9, 10) * np.pi / 4]
    )
    cosines, sines = jax.jit(load_module(CANDIDATE / "angles.py").cosines_and_sines)(angles)
    unit = np.finfo(np.float64).eps
    assert np.abs(cosines - np.cos(angles)).max() <= unit
    assert np.abs(sines - np.sin(angles)).max() <= unit


def test_the_cheetah_in_float32_keeps_the_digits_of_its_positions() -> None:
    env = load_module(CANDIDATE / "float32.py")
    leaves = {"qpos": jnp.full(9, 1 / 3), "qvel": jnp.full(9, 1 / 3), "warmstart": jnp.zeros(9), "steps": jnp.int32(0)}
    shown = env.encode(env.decode(leaves))
    assert np.array_equal(shown["qpos"], leaves["qpos"])
    assert np.array_equal(shown["qvel"], np.float32(leaves["qvel"]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jax", "float32", "rust"])
def test_a_candidate_passes(name: str, tmp_path: Path) -> None:
    tree = candidate_tree(TASK.directory, tmp_path)
    with Verifier(TASK.with_candidate(name), sandboxes.choose(None), prepare=True) as verifier:
        verdict = verifier.verify(tree, LevelsRequest((1, 2, 3), 3))
    assert verdict.outcome is Outcome.PASS, verdict.reports[-1].divergences
