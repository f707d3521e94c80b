"""Pong in Rust beside PufferLib's C, both on one core and one thread: steps per second under random actions.

Both sides step their own batch into arrays that are allocated once; actions are drawn before the clock runs. The two
take turns on one processor, and times are the processor's, so that what else the machine does counts for neither. The
module is the one that is verified, compiled as a candidate is.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

import numpy as np
import psutil

import sandboxes
from benchmarks.common import ENVIRONMENTS, report, spread, took
from harness.candidate.crates.build import build
from harness.candidate.faces.rust_batch import SAME_STEP, RustBatch, load_module
from harness.measure.profile.contenders import Contender
from harness.measure.profile.peers import started_peer
from harness.task.load import load_task

BATCHES = (32, 128, 512, 2048, 8192)
ROUNDS = 7
STEPS_OF_A_ROUND = 4_000_000
LENGTH = 64
"""Rows of actions that are drawn before the clock runs."""


def main() -> None:
    """Measure and report."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        task = load_task(ENVIRONMENTS / "pong").with_candidate("rust")
        module = load_module(build(task, sandboxes.choose(None), task.directory))
        with started_peer(task, task.peers[0]) as peer:
            rows = [_beside(peer, module, batch) for batch in BATCHES]
    finally:
        os.sched_setaffinity(0, allowed)
    report("pong_rust_per_core", "Pong on one core: Rust beside PufferLib's C (steps per second)", rows)


def _beside(peer: Contender, module: Any, batch: int) -> dict[str, Any]:
    repeats = max(1, STEPS_OF_A_ROUND // (batch * LENGTH))
    steps = repeats * LENGTH * batch
    named = {"kind": "step", "batch": batch, "length": LENGTH}
    peer.asked.ask("bench_prepare", **named)
    # The worker is below the process that keeps its sandbox.
    begun = psutil.Process(peer.pid)
    workers = [begun, *begun.children(recursive=True)]
    games = RustBatch(module, batch, SAME_STEP, threads=1)
    games.reset(range(batch))
    actions = np.random.default_rng(0).integers(0, 3, (LENGTH, batch))

    def theirs() -> None:
        peer.asked.ask("bench_run", **named, seed=0, repeats=repeats)

    def ours() -> None:
        for _ in range(repeats):
            for row in actions:
                games.step({"action": row})

    def c_clock() -> float:
        times = [worker.cpu_times() for worker in workers]
        return sum(each.user + each.system for each in times)

    theirs()
    ours()
    pairs = [(took(theirs, c_clock), took(ours, time.process_time)) for _ in range(ROUNDS)]
    c, rust = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    return {
        "batch": batch,
        "C": steps / c,
        "Rust": steps / rust,
        "Rust / C": c / rust,
        "of each round": spread([c / rust for c, rust in pairs]),
    }
