"""Battles of Pokémon on both sides, as many turns as are asked for: what differs, and how often each move was made.

    python -m benchmarks.battles [--turns 1000000] [--candidate rust] [--seed N]

Each battle is played by the reference under one of the task's policies, and by the candidate with the same choices and
rolls; every leaf of every timestep is compared. Who goes on with a move of several turns is not counted again.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, report
from harness.candidate.start import CandidateWorker
from harness.compare import compare_many
from harness.model import Case, Trajectory
from harness.task.load import load_task
from harness.verify.verifier import Verifier

TOGETHER = 256
MOVES = 165


def moves_made(trajectory: Trajectory) -> np.ndarray:
    """How often each move was made, by its number: where its points were paid, and where another move called it."""
    leaves = trajectory.leaves
    last, moves = leaves["state/side_last"][1:], leaves["state/act_moves"][:-1]
    points = leaves["state/act_pp"].astype(np.int64)
    stayed = leaves["state/active"][1:] == leaves["state/active"][:-1]
    paid = (points[1:] < points[:-1]) & stayed[..., None]
    called = (last != leaves["state/side_last"][:-1]) & ~(paid & (moves == last[..., None])).any(axis=2)
    return np.bincount(np.concatenate([moves[paid], last[called]]), minlength=MOVES + 1)


def main(given: Sequence[str] = ()) -> None:
    """Play, compare and report; a battle that differs is told, and the run goes on."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.battles", description=__doc__)
    parser.add_argument("--turns", type=int, default=50_000)
    parser.add_argument("--candidate", choices=("rust", "jax"), default="rust")
    parser.add_argument("--seed", type=int, default=1, help="of the first battle; the others follow")
    asked = parser.parse_args(given)
    task = load_task(ENVIRONMENTS / "pokemon").with_candidate(asked.candidate)
    driver = sandboxes.choose(None)
    battles = turns = differing = 0
    ends = {"won": 0, "tie": 0, "cut off": 0}
    made = np.zeros(MOVES + 1, np.int64)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, Verifier(task, driver, prepare=False) as verifier:
        reference, worker = verifier.reference(), CandidateWorker(task, driver)
        try:
            candidate = worker.open(candidate_tree(task.directory, Path(scratch)))
            while turns < asked.turns:
                policy = task.budgets.policies[battles // TOGETHER % len(task.budgets.policies)]
                seeds = [asked.seed + battles + number for number in range(TOGETHER)]
                expected = reference.drive(policy, seeds, task.budgets.horizon)
                cases = [Case(one.case.seed, one.case.cut(one.steps).actions, draws=one.draws) for one in expected]
                found = compare_many(expected, candidate.rollout(cases), task.outputs, task.tolerances)
                for one, difference in zip(expected, found, strict=True):
                    turns += one.steps
                    made += moves_made(one)
                    over, paid = one.leaves["terminated"][-1], one.leaves["reward/p1"][-1]
                    ends["cut off" if not over else "won" if paid else "tie"] += 1
                    if difference is not None:
                        differing += 1
                        print(
                            f"seed {one.case.seed} under {policy}, step {difference.step}: {difference.path}",
                            flush=True,
                        )
                battles += TOGETHER
                print(f"{turns:,} of {asked.turns:,} turns, {differing} battles differ", flush=True)
        finally:
            worker.close()
    rarest = np.argsort(made[1:])[:5] + 1
    row = {
        "candidate": asked.candidate, "battles": battles, "turns": turns, "differ": differing, **ends,
        "moves made": int(made.sum()), "rarest": ", ".join(f"move {move}: {made[move]}" for move in rarest),
        "turns/s": turns / (time.monotonic() - began),
    }  # fmt: skip
    report("battles", "Battles of Pokémon on both sides", [row])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
