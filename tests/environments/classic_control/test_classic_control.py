"""Environments of Gymnasium that compute in floats: their tasks as `lockstep new` makes them, and faithful translations.

A sine in XLA is not the sine of NumPy. So a translation of Pendulum is a unit in the last place off in some steps, and one
of Acrobot, whose pendulums are chaotic, ends in another episode. MountainCarContinuous rounds each step to float32, and is
equal.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import sandboxes
from harness.authoring import scaffold
from harness.reference.install import Installed
from harness.reference.start import start_references
from harness.task.contract import Tolerance
from harness.task.load import load_task
from harness.verdict import Outcome, Verdict
from harness.verify.request import LevelsRequest
from harness.verify.rounding.first_tolerances import write_first_tolerances
from harness.verify.verifier import Verifier
from tests.edits import edit

HERE = Installed(Path(sys.prefix), Path(sys.executable))
IDS = {"pendulum": "Pendulum-v1", "acrobot": "Acrobot-v1", "mountain_car_continuous": "MountainCarContinuous-v0"}
ENTRY = "candidate/env.py"
CAR = "mountain_car_continuous"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """The tasks, each made once, with its translation."""
    made: dict[str, Path] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaffold, "setup", lambda task, progress: HERE)
        patch.setattr("harness.verify.verifier.setup", lambda task, *_: HERE)
        for name, identifier in IDS.items():
            directory = scaffold.new(name, tmp_path_factory.mktemp("tasks") / name, gymnasium=identifier)
            task = load_task(directory)
            with closing(start_references(task, HERE)) as reference:
                write_first_tolerances(task, HERE, reference)
            shutil.copy(Path(__file__).with_name(f"{name}.py"), directory / ENTRY)
            made[name] = directory
        yield made


def verified(directory: Path, levels: tuple[int, ...] = (1, 2, 3), seed: int = 7) -> Verdict:
    with Verifier(load_task(directory), sandboxes.choose(None)) as verifier:
        return verifier.verify(directory, LevelsRequest(levels, seed))


def edited(directory: Path, tmp_path: Path, old: str, new: str) -> Path:
    """A copy of a task whose candidate has another text in one place."""
    copy = tmp_path / directory.name
    shutil.copytree(directory, copy)
    edit(copy / ENTRY, old, new)
    return copy


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name in ("acrobot", "pendulum") else ()) for name in IDS]
)
def test_a_faithful_translation_passes(tasks: dict[str, Path], name: str) -> None:
    verdict = verified(tasks[name])
    assert verdict.outcome is Outcome.PASS, verdict.divergences


def test_tolerances_are_those_of_rounding_and_of_nothing_else(tasks: dict[str, Path]) -> None:
    pendulum, acrobot, car = (load_task(tasks[name]) for name in IDS)
    for task in (pendulum, acrobot):
        state = task.tolerances["state/state"]
        assert 1e-15 < state.atol < 1e-13 and state.rtol == 0.0
        assert task.tolerances["observation"].ulp == 1
    assert 1e-10 < pendulum.tolerances["reward"].atol < 1e-7, "the torque is squared in float32"
    assert "reward" not in acrobot.tolerances, "it is a whole number"
    assert list(car.tolerances) == ["reward"], "its state is rounded to float32, which hides what is beyond"
    assert Tolerance() == acrobot.tolerance("reward")


FAULTS = {
    "a product in float32": (
        "pendulum",
        "(3 * G / 2 * jnp.sin(state.theta)",
        "(jnp.float32(3 * G / 2) * jnp.sin(state.theta.astype(jnp.float32))",
    ),
    "a hundred units too slow": ("pendulum", "state.theta + speed * DT,", "state.theta + speed * DT * (1 - 4e-14),"),
    "a limit that is a little too low": ("pendulum", "DT, G = 8.0", "DT, G = 7.999999"),
    "an episode that is a step too long": ("pendulum", "after.steps >= LIMIT", "after.steps > LIMIT"),
    "a square that is left out": ("acrobot", "0.5 * (fast_one * fast_one)", "0.5 * fast_one"),
    "an angle that is wrapped too late": ("acrobot", "where(angle > jnp.pi,", "where(angle > jnp.pi + 0.1,"),
    "an end that comes too early": ("acrobot", "joints[0]) > 1.0", "joints[0]) > 0.99"),
    "another gravity": ("acrobot", "GRAVITY = 0.2, 500, 9.8", "GRAVITY = 0.2, 500, 9.81"),
    "a first step in float32": (CAR, "velocity, force, jnp.float64)", "velocity, force, jnp.float32)"),
    "a wall that keeps the speed": (CAR, "(velocity < 0), dtype(0), velocity)", "(velocity < 0), velocity, velocity)"),
}


IN_CI = ("a product in float32",)
"""One; the others, of each environment, are planted every night."""


@pytest.mark.parametrize(
    "fault", [name if name in IN_CI else pytest.param(name, marks=pytest.mark.nightly) for name in FAULTS]
)
def test_a_planted_fault_is_found(tasks: dict[str, Path], tmp_path: Path, fault: str) -> None:
    name, old, new = FAULTS[fault]
    verdict = verified(edited(tasks[name], tmp_path, old, new))
    assert verdict.outcome is Outcome.FAIL
