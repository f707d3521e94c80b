"""Batches over the devices of two processes that `jax.distributed` joins: bit by bit the episodes that one process plays."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from harness.candidate.jax_process import jax_environment
from tests.paths import ROOT

ENVS, DEVICES = 64, 8
PLAYS = """
import hashlib, json, sys
import jax, numpy as np

name, port, processes, number, envs, devices = sys.argv[1], *map(int, sys.argv[2:])
if processes > 1:
    jax.distributed.initialize(f"localhost:{port}", processes, number)
from harness.candidate.adapters.jax.candidate import JaxCandidate
from harness.candidate.faces.jax_vector import JaxVectorEnv
from harness.candidate.start import candidate_options
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS

task = load_task(ENVIRONMENTS / name)
candidate = JaxCandidate()
candidate.open(candidate_options(task, str(task.directory / task.candidate.entry)))
mine = slice(number * envs // processes, (number + 1) * envs // processes)
vector = JaxVectorEnv(candidate._bench._env, envs // processes, "NextStep", devices // processes)
everyone = JaxVectorEnv(candidate._bench._env, envs).action_space
everyone.seed(5)
seen = [vector.reset(seed=[3 + index for index in range(envs)[mine]])[0]]
for _ in range(60):
    seen.extend(vector.step(everyone.sample()[mine])[:4])
assert len(jax.tree.leaves(vector._state)[0].sharding.device_set) == devices // processes
assert (len(jax.devices()), len(jax.local_devices())) == (devices, devices // processes)
for row in range(vector.num_envs):
    digest = hashlib.sha256(b"".join(np.asarray(leaf)[row].tobytes() for leaf in jax.tree.leaves(seen)))
    print(digest.hexdigest())
"""


def played(name: str, processes: int) -> list[str]:
    """A digest of what each sub-environment showed, in order."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    variables = os.environ | jax_environment(devices=DEVICES // processes) | {"PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PLAYS, name, *map(str, (port, processes, number, ENVS, DEVICES))],
            env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(processes)
    ]  # fmt: skip
    said = [process.communicate(timeout=300) for process in running]
    assert all(process.returncode == 0 for process in running), said[0][1][-3000:]
    return [line for out, _ in said for line in out.split()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cartpole", "pong"])
def test_two_processes_play_together_what_one_plays_alone(name: str) -> None:
    alone = played(name, 1)
    assert len(set(alone)) == ENVS
    assert played(name, 2) == alone
