"""How long an agent waits for level 1 of one CartPole module: cold (everything starts), and warm (between two edits).

Warm means what a session of the harness has at hand while its agent thinks: reference workers that run, and the next
candidate's worker with JAX imported. The candidate's code is new in each round: it is loaded and compiled anew.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from pathlib import Path

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, must_pass, report, spread
from harness.reference.install import setup
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier

ROUNDS = 5
MODULE = "dynamics"
THINKING_S = 4.0
"""An agent takes longer than this between two runs; in it the next worker gets ready."""


def main() -> None:
    """Measure and report."""
    task = load_task(ENVIRONMENTS / "cartpole")
    setup(task)
    driver = sandboxes.choose(None)
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as scratch:
        tree = candidate_tree(task.directory, Path(scratch))
        for _ in range(ROUNDS):
            began = time.perf_counter()
            with Verifier(task, driver) as verifier:
                must_pass(verifier.verify(tree, LevelsRequest((1,), secrets.randbits(62), MODULE)))
                cold.append(time.perf_counter() - began)
        with Verifier(task, driver, prepare=True) as verifier:
            verifier.reference()
            for _ in range(ROUNDS):
                time.sleep(THINKING_S)
                began = time.perf_counter()
                must_pass(verifier.verify(tree, LevelsRequest((1,), secrets.randbits(62), MODULE)))
                warm.append(time.perf_counter() - began)
    rows = [
        {"feedback": "cold", "seconds": spread(cold), "goal": "under 8"},
        {"feedback": "warm", "seconds": spread(warm), "goal": "under 2"},
    ]
    report("feedback", f"Level 1 of CartPole's module {MODULE}", rows)
