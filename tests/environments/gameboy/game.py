"""Cases that choose their cartridge, and code that runs beside PyBoy."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from harness.model import Array, Case, Draw, Leaves, Trajectory
from harness.protocol.environment import Environment
from harness.reference.install import Installed, reference_command
from harness.task.contract import Task
from tests.paths import ENVIRONMENTS

DIRECTORY = ENVIRONMENTS / "gameboy"
CARTRIDGES = (
    "bricks",
    "meteors",
    "busy",
    "sprites",
    "window",
    "interrupts",
    "timers",
    "sound",
    "mbc1",
    "mbc1ram",
    "mbc2",
    "mbc3",
    "default",
)
NOTHING = 0


def run_python(
    task: Task, installed: Installed, code: str, folder: Path, reference: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run code in the reference's interpreter with the adapter's modules importable."""
    _, environment = reference_command(task, installed)
    environment["PYTHONPATH"] = str(reference or DIRECTORY / "reference")
    return subprocess.run(
        [str(installed.python), "-c", code],
        env={**os.environ, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def inserted(cartridge: str, actions: Any, random: int = 0x1234) -> Case:
    """A case with a cartridge of this name, and any random number for it."""
    row = (Draw("cartridge", i32(CARTRIDGES.index(cartridge))), Draw("random", i32(random)))
    return Case(1, {"action": np.asarray(actions, np.int64)}, draws=(row,))


def presses(seed: int, frames: int) -> Array:
    """Actions at random, each held for eight frames."""
    return np.repeat(np.random.default_rng(seed).integers(0, 16, frames // 8 + 1), 8)[:frames]


def onward(trajectory: Trajectory, row: int, steps: int, start: Leaves | None = None) -> Case:
    """The same actions from a row's state on, or from another state."""
    actions = trajectory.case.actions["action"][row : row + steps]
    return Case(1, {"action": actions}, start=trajectory.state(row) if start is None else start)


def differences(whole: Trajectory, row: int, part: Trajectory) -> set[str]:
    """The leaves in which what was played from a row on is not what the episode was."""
    rows = slice(row, row + part.rows)
    # Row 0 has no reward and is no end, whatever led to the state.
    first = {"reward": 1, "terminated": 1}
    return {
        path
        for path, values in part.leaves.items()
        if not np.array_equal(values[first.get(path, 0) :], whole.leaves[path][rows][first.get(path, 0) :])
    }


def after(trajectory: Trajectory) -> Trajectory:
    """What followed its first row."""
    return Trajectory(trajectory.case, {path: values[1:] for path, values in trajectory.leaves.items()})


def play(gameboy: Environment, case: Case) -> Trajectory:
    return gameboy.rollout([case])[0]


def i32(value: int) -> Array:
    return np.array(value, np.int32)
