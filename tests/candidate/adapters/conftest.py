from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from harness.candidate.jax_process import jax_environment

# Read when JAX starts. Most of the time of these tests goes into compiling, and none of them measures speed.
os.environ.update(jax_environment(("--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true")))

import jax

from harness.candidate.adapters.jax.candidate import JaxCandidate
from harness.candidate.faces.jax_env import JaxEnv
from tests.candidate.adapters.contracts import DICE, LCG


@pytest.fixture(scope="module")
def dice() -> Iterator[JaxCandidate]:
    candidate = JaxCandidate()
    candidate.open(DICE)
    yield candidate


@pytest.fixture(scope="module")
def lcg() -> Iterator[JaxCandidate]:
    candidate = JaxCandidate()
    candidate.open(LCG)
    yield candidate


@pytest.fixture(scope="module")
def dice_env() -> JaxEnv:
    jax.config.update("jax_enable_x64", False)
    return JaxEnv(DICE["entry"], DICE)
