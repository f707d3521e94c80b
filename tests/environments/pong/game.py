"""Cases from the middle of a game, and what tests look at in their trajectories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from harness.model import Array, Case, Draw, Trajectory
from harness.protocol.environment import Environment
from harness.reference.install import Installed, reference_command
from harness.task.contract import Task
from tests.paths import ENVIRONMENTS

DIRECTORY = ENVIRONMENTS / "pong"
STILL, UP, DOWN = 0, 1, 2
HIT = np.float32(0.1)
MIDDLE = {
    "paddle_dir": 0,
    "paddle_yl": 285,
    "paddle_yr": 285,
    "ball_x": 250,
    "ball_y": 304,
    "ball_vx": 10,
    "ball_vy": 0,
    "score_l": 3,
    "score_r": 5,
    "tick": 7,
    "n_bounces": 2,
    "win": 0,
    "observation": [0.25] * 8,
}


def run_python(task: Task, installed: Installed, code: str, folder: Path, reference: Path | None = None) -> str:
    """Run code in the reference's interpreter with the tape loaded and the adapter's modules importable."""
    _, environment = reference_command(task, installed)
    environment["PYTHONPATH"] = str(reference or DIRECTORY / "reference")
    done = subprocess.run(
        [str(installed.python), "-c", code],
        env={**os.environ, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def from_state(task: Task, actions: list[int], serve: int | None = None, **fields: Any) -> Case:
    """A case from the middle of a game; with `serve`, the first point's draw is forced, and it must be in the last step."""
    described = {f"state/{name}": value for name, value in (MIDDLE | fields).items()}
    start = {path: np.asarray(value, dtype=task.leaves[path].dtype) for path, value in described.items()}
    draws = None
    if serve is not None:
        draws = ((), *[()] * (len(actions) - 1), (Draw("serve", i32(serve)),))
    return Case(1, {"action": np.array(actions)}, start=start, draws=draws)


def f32(values: Any) -> Array:
    return np.array(values, dtype=np.float32)


def u32(values: Any) -> Array:
    return np.array(values, dtype=np.uint32)


def i32(values: Any) -> Array:
    return np.array(values, dtype=np.int32)


def play(pong: Environment, case: Case) -> Trajectory:
    return pong.rollout([case])[0]


def field(trajectory: Trajectory, name: str) -> list[Any]:
    return trajectory.leaves[f"state/{name}"].tolist()


def seen(trajectory: Trajectory) -> Array:
    return trajectory.leaves["observation"]
