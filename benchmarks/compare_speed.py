"""Comparing two trajectories of 1,000 steps x 128 environments x 8 floats: equal, within a tolerance, and different."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.common import report, spread
from harness.compare import compare
from harness.model import Case, Leaf, Trajectory
from harness.task.contract import Tolerance

ROUNDS = 20


def main() -> None:
    """Measure and report."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((1001, 128, 8)).astype(np.float32)
    case = Case(0, {"action": np.zeros(1000, dtype=np.int32)})
    leaves = {"observation": Leaf("observation", "float32", (128, 8))}
    near = values * np.float32(1 + 1e-6)
    other = values.copy()
    other[-1, -1, -1] += 1
    rows = []
    for name, actual, tolerance in (
        ("equal", values.copy(), Tolerance()),
        ("all within a tolerance", near, Tolerance(1e-5, 1e-5)),
        ("the last value differs", other, Tolerance()),
    ):
        seconds = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            compare(
                Trajectory(case, {"observation": values}),
                Trajectory(case, {"observation": actual}),
                leaves,
                {"observation": tolerance},
            )
            seconds.append(1000 * (time.perf_counter() - began))
        rows.append({"trajectories": name, "milliseconds": spread(seconds), "goal": "milliseconds"})
    report("compare_speed", "Comparing 1,000 steps x 128 environments x 8 floats", rows)
