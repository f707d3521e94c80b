"""Level 2 of HalfCheetah: short sequences in which modules meet, from states near what only some episodes reach."""

from typing import Any

import hypothesis.strategies as st
import numpy as np

from lockstep import Task, sequence

LENGTH = 8
RANGES = np.array([(-0.52, 1.05), (-0.785, 0.785), (-0.4, 0.785), (-1.0, 0.7), (-1.2, 0.87), (-0.5, 0.5)])


def _from(
    z: tuple[float, float], pitch: tuple[float, float], beyond: float, speed: float, steps: tuple[int, int] = (0, 0)
) -> st.SearchStrategy[dict[str, Any]]:
    """Sequences from states within these ranges, with joints so far beyond theirs and velocities up to a speed."""

    def build(seed: int, count: int, length: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        joints = rng.uniform(RANGES[:, 0] - beyond, RANGES[:, 1] + beyond)
        start = {
            "state/qpos": np.concatenate([rng.uniform(-1, 1, 1), [rng.uniform(*z), rng.uniform(*pitch)], joints]),
            "state/qvel": rng.uniform(-speed, speed, 9),
            "state/warmstart": np.zeros(9),
            "state/steps": count,
        }
        return {"start": start, "actions": rng.uniform(-1, 1, (length, 6)).astype(np.float32)}

    return st.builds(build, st.integers(0, 2**32 - 1), st.integers(*steps), st.integers(1, LENGTH))


@sequence("limits of joints, in the air")
def in_the_air(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from((0.6, 1.0), (-3.0, 3.0), 0.1, 10.0)


@sequence("on its feet")
def on_its_feet(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from((-0.15, 0.1), (-0.3, 0.3), 0.05, 3.0)


@sequence("on its head or its back")
def on_its_back(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from((-0.66, -0.4), (2.6, 3.7), 0.05, 3.0)


@sequence("at the time limit")
def at_the_time_limit(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _from((-0.15, 0.1), (-0.3, 0.3), 0.0, 1.0, steps=(992, 999))
