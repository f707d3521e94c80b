"""How fast an exploration is beside the reference's bare speed: the same workers, in turns on one machine.

    python -m benchmarks.exploration_speed [--task cartpole]... [--rounds 5] [--steps 20000]

Bare is what the workers do at level 3 before any candidate is asked: whole episodes of random play, answered and decoded. An
exploration chooses states, has them restored and played on from, and looks at every step; both count the steps that the
reference took. A restored state costs about as much as several steps, so a task with short ways to an end is slowest.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import sandboxes
from benchmarks.common import ENVIRONMENTS, report, spread
from harness.protocol.environment import Pool
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.exploration.explorer import STREAM, Explorer
from harness.verify.streams import Streams
from harness.verify.verifier import Verifier

TASKS = ("cartpole", "pong")
SEED = 20_261_125
CHUNK = 64


def bare(task: Task, reference: Pool, steps: int, seed: int) -> float:
    """Steps per second of random play."""
    streams, taken, number = Streams(seed), 0, 0
    began = time.perf_counter()
    while taken < steps:
        played = reference.drive("random", streams.seeds(f"bare/{number}", CHUNK), task.budgets.horizon)
        taken += sum(trajectory.steps for trajectory in played)
        number += 1
    return taken / (time.perf_counter() - began)


def explored(task: Task, reference: Pool, steps: int, seed: int) -> float:
    """Steps per second of an exploration, once it has looked at a few episodes as level 3 lets it."""
    streams = Streams(seed)
    explorer = Explorer(task, reference, streams.random(STREAM), restores="restore" in reference.spec.capabilities)
    for policy in task.budgets.policies:
        explorer.observe(reference.drive(policy, streams.seeds(f"episodes/{policy}", CHUNK), task.budgets.horizon))
    began = time.perf_counter()
    taken = sum(trajectory.steps for wave in explorer.waves(steps) for trajectory in wave.played)
    return taken / (time.perf_counter() - began)


def measure(name: str, rounds: int, steps: int) -> dict[str, object]:
    """The speeds of one task, round by round, and their ratio."""
    task = load_task(ENVIRONMENTS / name)
    speeds: dict[str, list[float]] = {"bare": [], "explored": []}
    with Verifier(task, sandboxes.choose(None)) as verifier:
        reference = verifier.reference()
        workers = len(reference.environments)
        bare(task, reference, steps // 4, SEED - 1)
        for number in range(rounds):
            speeds["bare"].append(bare(task, reference, steps, SEED + number))
            speeds["explored"].append(explored(task, reference, steps, SEED + number))
    ratios = [one / other for one, other in zip(speeds["explored"], speeds["bare"], strict=True)]
    return {
        "task": name,
        "workers": workers,
        **{f"{what}, steps/s": spread(each) for what, each in speeds.items()},
        "explored / bare": spread(ratios),
    }


def main(given: Sequence[str] = ()) -> None:
    """Measure, and print and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exploration_speed", description=__doc__)
    parser.add_argument("--task", action="append", choices=(*TASKS, "gameboy"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20_000)
    asked = parser.parse_args(given)
    rows = [measure(name, asked.rounds, asked.steps) for name in asked.task or TASKS]
    report("exploration_speed", "Exploration beside the reference's bare speed", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
