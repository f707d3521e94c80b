"""Tolerances from how far leaves moved."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.model import Case, Leaf, Trajectory
from harness.task.contract import Candidate, Reference, Task, Tolerance
from harness.verify.rounding.tolerances import Moved, moved, table_lines, tolerances

LEAVES = {
    "state/x": Leaf("state/x", "float64"),
    "state/n": Leaf("state/n", "int32"),
    "observation": Leaf("observation", "float32"),
    "reward": Leaf("reward", "float64"),
    "terminated": Leaf("terminated", "bool"),
}
TASK = Task("t", "", "translate", Path(), Reference(None), Candidate("jax", "candidate/env.py"), LEAVES, ())
STILL = Moved(0.0, 0, 1.0)


def step(x: float, n: int = 4, reward: float = 1.0) -> Trajectory:
    leaves = {
        "state/x": np.array([0.0, x]),
        "state/n": np.array([3, n], np.int32),
        "observation": np.array([0.0, x], np.float32),
        "reward": np.array([0.0, reward]),
        "terminated": np.array([False, False]),
    }
    return Trajectory(Case(0, {"action": np.zeros(1)}), leaves)


def test_the_furthest_move_counts_and_what_fell_beyond_a_limit_does_not() -> None:
    expected = [step(2.0), step(-8.0)]
    repeats = [
        [step(np.nextafter(2.0, 3.0)), step(-8.0)],
        [step(2.0), step(-7.0, n=5)],
        [step(2.0), step(-8.0, reward=1.5)],
    ]
    found = moved(TASK, expected, repeats)
    assert found["state/x"] == Moved(float(np.spacing(2.0)), 1, 8.0)
    assert found["reward"] == Moved(0.5, 1 << 51, 1.0)
    assert "state/n" not in found
    assert moved(TASK, expected, [[step(2.0, n=5), step(-8.0, n=5)]]) == {}


def test_a_few_units_are_said_in_units_and_more_as_a_distance() -> None:
    few, many = Moved(3e-16, 3, 9.0), Moved(3e-15, 999, 9.0)
    assert tolerances(TASK, {"state/x": few, "reward": STILL})["state/x"] == Tolerance(ulp=16)
    found = tolerances(TASK, {"state/x": many, "observation": STILL, "reward": Moved(2.4e-10, 7000, 16.0)})
    assert found["state/x"] == Tolerance(atol=2e-14)
    assert found["observation"] == Tolerance(ulp=1, atol=2e-14), (
        "what is rounded from it may come to lie one unit further"
    )
    assert found["reward"] == Tolerance(atol=1e-9)
    assert table_lines(found) == [
        '"state/x" = { atol = 2e-14 }', "observation = { ulp = 1, atol = 2e-14 }", "reward = { atol = 1e-09 }",
    ]  # fmt: skip


def test_a_state_that_does_not_move_stays_exact_and_so_does_what_is_seen_of_it() -> None:
    found = tolerances(TASK, {"state/x": STILL, "observation": STILL, "reward": Moved(1e-16, 1, 1.0)})
    assert found == {"reward": Tolerance(ulp=4)}
    assert tolerances(TASK, {"state/x": STILL, "observation": STILL, "reward": STILL}) == {}


def test_a_jump_is_no_rounding() -> None:
    found = tolerances(TASK, {"state/x": Moved(6.28, 1 << 50, 3.2), "reward": Moved(1e-16, 1, 1.0)})
    assert "state/x" not in found
