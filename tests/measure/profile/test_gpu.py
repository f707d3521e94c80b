"""Candidates on a GPU: `make test-gpu` runs these. Elsewhere they are skipped, where JAX finds no GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT
from tests.verify.levels.conftest import Walk

pytestmark = [pytest.mark.slow, pytest.mark.gpu]
DEVICES = "import jax, json; print(json.dumps([device.platform for device in jax.devices()]))"


@pytest.fixture(scope="module", autouse=True)
def free() -> None:
    """JAX finds a GPU where it may choose its device by itself."""
    variables = {name: value for name, value in os.environ.items() if name not in ("JAX_PLATFORMS", "XLA_FLAGS")}
    found = subprocess.run([sys.executable, "-c", DEVICES], env=variables, capture_output=True, text=True, check=True)
    if "gpu" not in (platforms := json.loads(found.stdout)):
        pytest.skip(f"JAX finds no GPU here, only {', '.join(sorted(set(platforms)))}")


@pytest.fixture(params=["bubblewrap", "process"])
def sandbox(request: pytest.FixtureRequest) -> str:
    """A driver that gives the GPU of a machine to what runs in it; the image of docker's is too large for this."""
    return str(request.param)


def lockstep(*arguments: str) -> Any:
    program = "import sys, harness.cli; sys.exit(harness.cli.main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--json", "--device", "gpu"],
        env=os.environ | {"LOCKSTEP_ALLOW_UNISOLATED": "1"}, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_candidate_of_whole_numbers_is_verified_on_the_gpu(sandbox: str) -> None:
    document = lockstep("verify", "connect_four", "--level", "3", "--seed", "5", "--sandbox", sandbox)
    assert document["verdict"]["outcome"] == "PASS", document
    assert "NVIDIA" in document["verdict"]["sandbox"]["gpu"]


def test_a_candidate_of_exact_floats_that_the_gpu_rounds_otherwise_is_found(sandbox: str) -> None:
    document = lockstep("verify", "cartpole", "--level", "3", "--seed", "5", "--sandbox", sandbox)
    assert document["verdict"]["outcome"] == "FAIL", document


def test_a_candidate_is_profiled_on_the_gpu(sandbox: str, walk: Walk) -> None:
    document = lockstep(
        "profile", str(walk.directory), "--batch", "256", "--seconds-per", "0.1", "--sandbox", sandbox
    )  # fmt: skip
    assert document["outcome"] == "PASS", document
    assert document["machine"]["device"]["platform"] == "gpu"
    assert {each["kind"] for each in document["measurements"]} >= {"step", "scan", "train"}


def test_policies_are_trained_on_the_gpu(sandbox: str, walk: Walk, tmp_path: Path) -> None:
    out = str(tmp_path / "policies")
    document = lockstep(
        "train", str(walk.directory), "--steps", "8192", "--seeds", "2", "--out", out, "--sandbox", sandbox
    )  # fmt: skip
    assert [policy["seed"] for policy in document["policies"]] == [0, 1]
    assert all(policy["return"] is not None for policy in document["policies"])
