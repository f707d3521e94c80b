"""Level 3's whole throughput (reference, candidate, comparison) against the reference's own bare stepping rate.

Two references: CartPole of Gymnasium, and one that spends a millisecond of processor time in each step. The bare rate is
what one process reaches that does nothing but step, taken before and after each level. Level 3 is measured with as many
workers as there are processors, and with one. What it compiles and starts takes some seconds however long it is, so CartPole
is measured at two lengths.
"""

from __future__ import annotations

import secrets
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, must_pass, report, run_python, spread
from harness.reference.install import setup
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier

ROUNDS = 2
SLOW_TASK = Path(__file__).parent / "slow_reference"

BARE_CARTPOLE = """
import sys, time, gymnasium, numpy
env = gymnasium.make("CartPole-v1")
env.reset(seed=0)
actions = numpy.random.RandomState(0).randint(0, 2, int(sys.argv[1])).tolist()
began = time.perf_counter()
for action in actions:
    _, _, terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        env.reset()
print(len(actions) / (time.perf_counter() - began))
"""
BARE_SLOW = """
import sys, time
sys.path.insert(0, sys.argv[2])
from adapter import Slow
env = Slow()
env.reset(0)
began = time.perf_counter()
for number in range(int(sys.argv[1])):
    if env.step(number % 2)["truncated"]:
        env.reset(number)
print(int(sys.argv[1]) / (time.perf_counter() - began))
"""


def main() -> None:
    """Measure and report."""
    cartpole = load_task(ENVIRONMENTS / "cartpole")
    slow = load_task(SLOW_TASK)
    rows = [
        measure(cartpole, BARE_CARTPOLE, bare_steps=200_000, episodes=4096, workers=0),
        measure(cartpole, BARE_CARTPOLE, bare_steps=200_000, episodes=16_384, workers=0),
        measure(cartpole, BARE_CARTPOLE, bare_steps=200_000, episodes=4096, workers=1),
        measure(slow, BARE_SLOW, bare_steps=2000, episodes=60, workers=0),
        measure(slow, BARE_SLOW, bare_steps=2000, episodes=60, workers=1),
    ]
    report("level3_throughput", "Level 3 against the reference's bare rate (steps per second)", rows)


def measure(task: Task, program: str, *, bare_steps: int, episodes: int, workers: int) -> dict[str, object]:
    """A row for one task; `workers` 0 stands for all processors."""
    installed = setup(task)
    sized = replace(task, budgets=replace(task.budgets, episodes=episodes))
    arguments = (str(bare_steps), str(task.directory / "reference"))
    bare, whole, ratios, steps = [], [], [], 0
    with (
        tempfile.TemporaryDirectory() as scratch,
        Verifier(sized, sandboxes.choose(None), workers=workers) as verifier,
    ):
        tree = candidate_tree(task.directory, Path(scratch))
        count = len(verifier.reference().environments)
        bare.append(run_python(installed.python, program, *arguments))
        for _ in range(ROUNDS):
            [level] = must_pass(verifier.verify(tree, LevelsRequest((3,), secrets.randbits(62)))).reports
            bare.append(run_python(installed.python, program, *arguments))
            steps = level.steps
            whole.append(steps / level.duration_s)
            ratios.append(whole[-1] / statistics.mean(bare[-2:]))
    return {
        "reference": task.name,
        "workers": count,
        "steps compared": steps,
        "bare SPS": spread(bare),
        "level 3 SPS": spread(whole),
        "ratio": statistics.median(ratios),
    }
