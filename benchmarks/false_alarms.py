"""Verifies the unfaulted candidates again and again with fresh seeds: how often an honest one is accused.

    python -m benchmarks.false_alarms [--rounds 100] [--of cartpole]... [--seed N] [--out FILE]

What was judged is written to FILE line by line; a run that was interrupted goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sandboxes
from benchmarks.common import ENVIRONMENTS, RESULTS, candidate_tree, report, spread
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier

OF: Mapping[str, tuple[str, str]] = {
    "cartpole": ("cartpole", "jax"),
    "pong": ("pong", "jax"),
    "pong in Rust": ("pong", "rust"),
    "gameboy": ("gameboy", "rust"),
}
"""Candidates: the task of each, and its kind."""
BY_DEFAULT = ("cartpole", "pong")


def judged(name: str, seeds: Sequence[int], out: Path) -> list[dict[str, Any]]:
    """A row for each seed: the outcome, and what was looked at."""
    known = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    done = {row["seed"]: row for row in known if row["of"] == name}
    directory, kind = OF[name]
    task = load_task(ENVIRONMENTS / directory).with_candidate(kind)
    with tempfile.TemporaryDirectory() as scratch, Verifier(task, sandboxes.choose(None), prepare=True) as verifier:
        tree = candidate_tree(task.directory, Path(scratch))
        for number, seed in enumerate(seeds, start=1):
            if seed not in done:
                began = time.perf_counter()
                verdict = verifier.verify(tree, LevelsRequest((1, 2, 3), seed))
                last = verdict.reports[-1]
                done[seed] = {
                    "of": name, "seed": seed, "outcome": str(verdict.outcome), "seconds": time.perf_counter() - began,
                    "episodes": last.episodes, "steps": last.steps,
                }  # fmt: skip
                with out.open("a") as journal:
                    journal.write(json.dumps(done[seed]) + "\n")
            print(f"{name} {number}/{len(seeds)}: {done[seed]['outcome']}", flush=True)
    return [done[seed] for seed in seeds]


def main(given: Sequence[str] = ()) -> None:
    """Measure and report; seeds of runs that did not pass are in the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.false_alarms", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--of", action="append", choices=OF)
    parser.add_argument("--seed", type=int, default=1, help="the first of the seeds")
    parser.add_argument("--out", type=Path, default=RESULTS / "false_alarms.jsonl")
    asked = parser.parse_args(given)
    asked.out.parent.mkdir(exist_ok=True)
    rows = []
    for name in asked.of or BY_DEFAULT:
        each = judged(name, range(asked.seed, asked.seed + asked.rounds), asked.out)
        accused = [row["seed"] for row in each if row["outcome"] != Outcome.PASS]
        rows.append(
            {
                "candidate": name,
                "runs": len(each),
                "accused": ", ".join(map(str, accused)) or "never",
                "episodes": sum(row["episodes"] for row in each),
                "steps": sum(row["steps"] for row in each),
                "seconds a run": spread([row["seconds"] for row in each]),
            }
        )
    report("false_alarms", "Levels 1 to 3 of the unfaulted candidates, fresh seeds each time", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
