"""A batch over eight devices of the CPU: bit by bit the episodes that one device plays."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from harness.candidate.adapters.jax.candidate import JaxCandidate
from harness.candidate.faces.over_devices import compiled
from harness.candidate.jax_process import jax_environment
from harness.candidate.start import candidate_options
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS, ROOT

DEVICES = 8
PLAYS = f"""
import hashlib, sys
import jax, numpy as np
from harness.candidate.adapters.jax.candidate import JaxCandidate
from harness.candidate.faces.jax_vector import JaxVectorEnv
from harness.candidate.start import candidate_options
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS

task = load_task(ENVIRONMENTS / sys.argv[1])
candidate = JaxCandidate()
candidate.open(candidate_options(task, str(task.directory / task.candidate.entry)))
env = candidate._bench._env

def digest(tree):
    sha = hashlib.sha256()
    for path, leaf in jax.tree.leaves_with_path(tree):
        array = np.asarray(leaf)
        if array.dtype == object:  # final observations, of those that ended
            array = np.array([one for one in array if one is not None])
        sha.update(f"{{path}} {{array.dtype}} {{array.shape}}".encode() + array.tobytes())
    return sha.hexdigest()

for devices in (1, 2, {DEVICES}):
    found = []
    for kind in ("step", "scan"):
        prepared = candidate.bench_prepare(kind, 64, 40, devices)
        assert prepared["devices"] == devices
        sums = candidate.bench_run(kind, 64, 40, 7, 2, devices)
        found.append(digest([candidate.bench_envs(kind, 64, 40, 7, 1, [0, 9, 63], devices), sums]))
    for mode in ("NextStep", "SameStep"):
        vector = JaxVectorEnv(env, 64, mode, devices)
        seen = [vector.reset(seed=3)]
        vector.action_space.seed(5)
        for _ in range(40):
            seen.append(vector.step(vector.action_space.sample()))
        some = np.arange(64) % 3 == 0
        seen.append(vector.reset(seed=4, options={{"reset_mask": some}}))
        seen.append(vector.step(vector.action_space.sample()))
        if devices > 1:
            assert len(jax.tree.leaves(vector._state)[0].sharding.device_set) == devices
        found.append(digest(seen))
    print(devices, *found)
"""


def played(name: str) -> dict[str, list[str]]:
    variables = os.environ | jax_environment(devices=DEVICES) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PLAYS, name], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cartpole", "pong"])
def test_the_same_episodes_are_played_on_any_number_of_devices(name: str) -> None:
    found = played(name)
    assert found["1"] == found["2"] == found[str(DEVICES)] and len(found["1"]) == 4


def test_what_cannot_be_shared_out_is_told() -> None:
    task = load_task(ENVIRONMENTS / "cartpole")
    candidate = JaxCandidate()
    candidate.open(candidate_options(task, str(task.directory / task.candidate.entry)))
    with pytest.raises(ValueError, match="65 instances cannot be shared out equally among 2 devices"):
        candidate.bench_prepare("step", 65, 10, 2)
    with pytest.raises(ValueError, match="there cannot be 0 devices"):
        candidate.bench_prepare("step", 64, 10, 0)
    with pytest.raises(ValueError, match=r"4 devices were asked for, JAX has 1 \(cpu\).*JAX_NUM_CPU_DEVICES"):
        candidate.bench_prepare("step", 64, 10, 4)


def test_a_function_on_one_device_is_only_compiled() -> None:
    assert compiled(lambda numbers: numbers + 1, (0,), 0)(np.arange(3)).tolist() == [1, 2, 3]
