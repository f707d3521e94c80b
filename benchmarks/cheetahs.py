"""Steps of HalfCheetah on both sides: what differs, and how far floats are off.

    python -m benchmarks.cheetahs [--steps 1000000] [--candidate rust] [--seed N]

Episodes of the reference under the task's policies, in turn; each step of the candidate begins at the reference's own state,
and every leaf is compared at its tolerance. A run from the same seed repeats the same episodes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from benchmarks.both_sides import both_sides
from benchmarks.common import ENVIRONMENTS, report
from harness.deviations import told
from harness.task.load import load_task
from harness.verify.deviation_count import DeviationCount

EPISODES = 16
"""So many are driven at once."""


def main(given: Sequence[str] = ()) -> None:
    """Play, compare and report; an episode that differs is told, and the run goes on."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cheetahs", description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--candidate", default="rust", help="jax, float32 or rust")
    parser.add_argument("--seed", type=int, default=1, help="of the first episode; the others follow")
    asked = parser.parse_args(given)
    task = load_task(ENVIRONMENTS / "halfcheetah").with_candidate(asked.candidate)
    policies, steps, begun, differ = task.budgets.policies, 0, 0, 0
    started = time.monotonic()
    with both_sides(task) as both:
        off = DeviationCount(both.task.tolerances)
        while steps < asked.steps:
            policy = policies[begun // EPISODES % len(policies)]
            seeds = list(range(asked.seed + begun, asked.seed + begun + EPISODES))
            expected = both.reference.drive(policy, seeds, task.budgets.horizon)
            for one, difference in zip(expected, both.differences(expected, off.add), strict=True):
                steps += one.steps
                if difference is not None:
                    differ += 1
                    print(f"seed {one.case.seed} under {policy}, step {difference.step}: {difference.path}", flush=True)
            begun += EPISODES
            print(f"{steps:,} of {asked.steps:,} steps, {differ} episodes differ", flush=True)
    for _, line in told(off.table(), resynchronised=True):
        print(line)
    row = {
        "candidate": asked.candidate, "steps": steps, "episodes": begun, "episodes that differ": differ,
        "steps/s": steps / (time.monotonic() - started),
    }  # fmt: skip
    report("cheetahs", "Steps of HalfCheetah on both sides", [row])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
