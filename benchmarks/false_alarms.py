"""Verifies the unfaulted candidates again and again with fresh seeds: how often an honest one is accused."""

from __future__ import annotations

import secrets
import tempfile
import time
from pathlib import Path

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, report, spread
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier

ROUNDS = 20
TASKS = ("cartpole", "pong")


def main() -> None:
    """Measure and report; seeds of runs that did not pass are in the table."""
    rows = []
    for name in TASKS:
        task = load_task(ENVIRONMENTS / name)
        seconds, episodes, steps, accused = [], 0, 0, []
        with tempfile.TemporaryDirectory() as scratch:
            tree = candidate_tree(task.directory, Path(scratch))
            with Verifier(task, sandboxes.choose(None), prepare=True) as verifier:
                for number in range(ROUNDS):
                    began = time.perf_counter()
                    seed = secrets.randbits(62)
                    verdict = verifier.verify(tree, LevelsRequest((1, 2, 3), seed))
                    seconds.append(time.perf_counter() - began)
                    print(f"{name} {number + 1}/{ROUNDS}: {verdict.outcome}", flush=True)
                    if verdict.outcome is not Outcome.PASS:
                        accused.append(seed)
                    else:
                        episodes += verdict.reports[-1].episodes
                        steps += verdict.reports[-1].steps
        rows.append(
            {
                "task": name,
                "runs": ROUNDS,
                "accused": ", ".join(map(str, accused)) or "never",
                "episodes": episodes,
                "steps": steps,
                "seconds a run": spread(seconds),
            }
        )
    report("false_alarms", "Levels 1 to 3 of the unfaulted candidates, fresh seeds each time", rows)
