"""Training and profiling on a GPU, by the commands that run everywhere; skipped, with the reason, where JAX finds none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.verify.levels.conftest import WALK, Walk

pytestmark = pytest.mark.slow
DEVICES = "import jax, json; print(json.dumps([device.platform for device in jax.devices()]))"


@pytest.fixture(scope="module")
def variables() -> dict[str, str]:
    """An environment in which JAX chooses its devices by itself, and finds a GPU."""
    free = {name: value for name, value in os.environ.items() if name not in ("JAX_PLATFORMS", "XLA_FLAGS")}
    found = subprocess.run([sys.executable, "-c", DEVICES], env=free, capture_output=True, text=True, check=True)
    if "gpu" not in (platforms := json.loads(found.stdout)):
        pytest.skip(f"JAX finds no GPU here, only {', '.join(sorted(set(platforms)))}")
    return free


def lockstep(variables: dict[str, str], *arguments: str) -> Any:
    program = "import sys, harness.cli; sys.exit(harness.cli.main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--json", "--sandbox", "process"],
        env=variables, cwd=WALK.parents[2], capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_a_candidate_is_profiled_on_the_gpu(variables: dict[str, str], walk: Walk) -> None:
    document = lockstep(variables, "profile", str(walk.directory), "--batch", "256", "--seconds-per", "0.1")
    assert document["outcome"] == "PASS", document
    assert document["machine"]["device"]["platform"] == "gpu"
    assert {each["kind"] for each in document["measurements"]} >= {"step", "scan", "train"}


def test_policies_are_trained_on_the_gpu(variables: dict[str, str], walk: Walk, tmp_path: Path) -> None:
    document = lockstep(
        variables, "train", str(walk.directory), "--steps", "8192", "--seeds", "2", "--out", str(tmp_path / "policies")
    )
    assert [policy["seed"] for policy in document["policies"]] == [0, 1]
    assert all(policy["return"] is not None for policy in document["policies"])
