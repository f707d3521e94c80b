"""What `profile_sps` costs: its figure for a scanned rollout beside a benchmark of the same candidate written by hand.

The one by hand does the same work under its own clock, in a process of its own: no sandbox, no pipe to wait for, no sum of
the outputs. Both run in turns on the same machine, with the same flags, so that what else goes on there hits both. The
second column by hand draws actions and keys with JAX's generator, as is usual, which is work of another size.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, report, spread
from harness.candidate.jax_process import jax_environment
from harness.candidate.start import CandidateWorker, candidate_options
from harness.measure.profile.contenders import CANDIDATE, SCAN, Cell, Contender, prepare
from harness.measure.profile.run import run_length
from harness.task.contract import Task
from harness.task.load import load_task

BATCHES = (512, 2048, 8192)
ROUNDS = 40
SECONDS = 0.15

BY_HAND = r"""
import json, sys, time
from functools import partial
import jax, jax.numpy as jnp, numpy as np
options = json.loads(sys.stdin.readline())
jax.config.update("jax_enable_x64", options["x64"])
from harness.candidate.adapters.bench_random import step_key_data, random_action
from harness.candidate.faces.jax_env import JaxEnv
env = JaxEnv(options["entry"], options)
shown = [name for name in ("observation", "reward", "terminated", "truncated", "legal_actions")]
leaf, dtype = env.actions["action"], jnp.int64 if options["x64"] else jnp.int32

def keep(outputs):
    return {name: outputs[name] for name in shown if name in outputs}

def lean(key_data, env_indices, carry, _):
    timestep, state = carry
    actions = random_action(jnp, 0, leaf, key_data, env_indices, timestep, None).astype(dtype)
    first, second = step_key_data(key_data, env_indices, timestep)
    keys = jax.random.wrap_key_data(jnp.stack([first, jnp.broadcast_to(second, first.shape)], -1), impl="threefry2x32")
    state, outputs = jax.vmap(env.step_autoreset)(keys, state, actions)
    return (timestep + jnp.uint32(1), state), keep(outputs)

def usual(batch, carry, _):
    key, state = carry
    key, acting, stepping = jax.random.split(key, 3)
    actions = jax.random.randint(acting, (batch,), leaf["low"], leaf["high"] + 1).astype(dtype)
    state, outputs = jax.vmap(env.step_autoreset)(jax.random.split(stepping, batch), state, actions)
    return (key, state), keep(outputs)

made = {}
for line in sys.stdin:
    batch, length, repeats, way = json.loads(line)
    env_indices, key_data = np.arange(batch, dtype=np.uint32), np.array([1, 2], np.uint32)
    if (way, batch) not in made:
        body = partial(lean, key_data, env_indices) if way == "lean" else partial(usual, batch)
        run = jax.jit(lambda carry, body=body: jax.lax.scan(body, carry, length=length))
        key = jax.random.key(0)
        state, _ = jax.vmap(env.reset)(jax.random.split(key, batch))
        first = (jnp.uint32(1), state) if way == "lean" else (key, state)
        jax.block_until_ready(run(first))
        made[way, batch] = run, first
    run, carry = made[way, batch]
    began = time.perf_counter()
    for _ in range(repeats):
        carry, outputs = run(carry)
        jax.block_until_ready(outputs)
    print(batch * length * repeats / (time.perf_counter() - began), flush=True)
"""


class ByHand:
    """The benchmark by hand, in a process that measures when it is asked to."""

    def __init__(self, task: Task) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", BY_HAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | jax_environment(task.candidate.xla_flags),
        )
        self._ask(candidate_options(task, str(task.directory / task.candidate.entry)))

    def rate(self, cell: Cell, way: str) -> float:
        """Steps per second, `lean` or as is `usual`, of a scan like that of a cell."""
        self._ask([cell.batch, cell.length, cell.repeats, way])
        assert self._process.stdout is not None
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _ask(self, value: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()


def main() -> None:
    """Measure and report."""
    timesteps = [timestep for name in ("cartpole", "pong") for timestep in measure(load_task(ENVIRONMENTS / name))]
    report("profile_cost", "What profiling costs: scanned rollouts (steps per second)", timesteps)


def measure(task: Task) -> list[dict[str, object]]:
    """A timestep for each batch size of one task."""
    timesteps = []
    with ExitStack() as stack:
        tree = candidate_tree(task.directory, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        worker = CandidateWorker(task, sandboxes.choose(None))
        stack.callback(worker.close)
        contender = Contender("candidate", CANDIDATE, worker.open(tree), worker.pid)
        hand = ByHand(task)
        stack.callback(hand.close)
        for batch in BATCHES:
            length = run_length(task, SCAN, batch)
            cell = prepare(contender, SCAN, batch, length, seconds=SECONDS, longest_s=SECONDS, seed=1)
            for way in ("lean", "usual"):
                hand.rate(cell, way)  # compiles it
            lean, usual = [], []
            for number in range(ROUNDS):
                # In turns, and each before the other as often as behind it.
                for way in ("profile", "lean") if number % 2 else ("lean", "profile"):
                    if way == "lean":
                        lean.append(hand.rate(cell, way))
                    else:
                        cell.readings.append(cell.read(100 + number, cell.repeats))
                usual.append(hand.rate(cell, "usual"))
            timesteps.append(
                {
                    "candidate": task.name,
                    "batch": batch,
                    "profile_sps": spread(cell.rates),
                    "by hand": spread(lean),
                    "ratio": statistics.median(one / other for one, other in zip(cell.rates, lean, strict=True)),
                    "by hand, usual draws": spread(usual),
                }
            )
    return timesteps
