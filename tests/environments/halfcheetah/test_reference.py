"""HalfCheetah's reference: the quirks of Gymnasium and MuJoCo that QUIRKS.md states, by their own code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness.authoring.conformance import check_reference
from harness.errors import Raised
from harness.model import Array, Case, Trajectory
from harness.protocol.environment import Environment
from harness.reference.install import setup
from harness.reference.start import start_reference
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.adjacent import units_off
from tests.paths import ENVIRONMENTS

pytestmark = pytest.mark.slow
TASK = load_task(ENVIRONMENTS / "halfcheetah")
REST = {
    "state/qpos": np.array([0.0, -0.12, *[0.0] * 7]),
    "state/qvel": np.zeros(9),
    "state/warmstart": np.zeros(9),
    "state/steps": np.int32(0),
}


@pytest.fixture(scope="module")
def reference() -> Iterator[Environment]:
    started = start_reference(TASK, setup(TASK))
    yield started
    started.close()


def played(reference: Environment, actions: Any, start: dict[str, Array] | None = None, **changed: Any) -> Trajectory:
    """An episode of these actions, from a reset or a state with some leaves changed."""
    begun = None if start is None else start | {f"state/{name}": value for name, value in changed.items()}
    [trajectory] = reference.rollout([Case(1, {"action": np.asarray(actions, np.float32)}, start=begun)])
    return trajectory


def asked(reference: Environment, name: str, **inputs: Any) -> dict[str, Array]:
    answer = reference.probe(name, {leaf: np.asarray(value)[None] for leaf, value in inputs.items()})
    return {leaf: value[0] for leaf, value in answer.items()}


def test_the_adapter_passes_the_kit() -> None:
    results = check_reference(lambda: start_reference(TASK, setup(TASK)), TASK)
    assert not [(each.name, each.detail) for each in results if each.outcome is Outcome.FAIL]


def test_a_picture_shows_where_the_cheetah_is(reference: Environment) -> None:
    def drawn(**changed: float) -> Array:
        qpos = REST["state/qpos"].copy()
        for name, value in changed.items():
            qpos[["x", "z", "pitch"].index(name)] += value
        reference.restore(REST | {"state/qpos": qpos})
        return reference.render()

    def box(picture: Array) -> list[int]:
        """Left, right, upper and lower edge of what is darker than sky and earth."""
        rows, columns = np.nonzero(picture.min(axis=2) < 160)
        return [columns.min(), columns.max() + 1, rows.min(), rows.max() + 1]

    standing = drawn()
    assert (standing.shape, standing.dtype) == ((240, 480, 3), np.uint8)
    left, right, top, bottom = box(standing)
    # The torso is a metre long and in the middle, the head reaches beyond it, a foot behind; both feet are at the ground.
    assert (left, right, bottom) == (pytest.approx(174, abs=3), pytest.approx(318, abs=3), pytest.approx(200, abs=5))
    assert box(drawn(z=0.5)) == [left, right, top - 50, bottom - 50]
    assert box(drawn(pitch=np.pi))[3] < bottom - 20  # its legs are in the air
    # The camera goes with it: a metre further the ground looks the same, half a metre further light is dark.
    assert (drawn(x=1.0) == standing).all()
    further = drawn(x=0.5)
    assert (further[:200] == standing[:200]).all() and (further[220] != standing[220]).any(axis=1).all()


def test_a_state_that_is_none_is_not_drawn(reference: Environment) -> None:
    reference.restore(REST | {"state/qpos": np.full(9, np.nan)})
    with pytest.raises(Raised, match="cannot be drawn"):
        reference.render()


def test_the_cost_of_an_action_is_float32(reference: Environment) -> None:
    action = np.full((1, 6), 0.3, np.float32)
    trajectory = played(reference, action)
    speed = np.diff(trajectory.leaves["state/qpos"][:, 0])[0] / 0.05
    total = np.float32(0)
    for square in np.square(action[0]):
        total += square
    assert trajectory.leaves["reward"][1] == speed - np.float64(np.float32(0.1) * total)
    assert trajectory.leaves["reward"][1] != speed - 0.1 * np.sum(np.square(action[0].astype(np.float64)))


def test_x_changes_nothing_but_itself(reference: Environment) -> None:
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 6))
    here, there = (played(reference, actions, REST, qpos=REST["state/qpos"] + [x, *[0.0] * 8]) for x in (0.0, 8.0))
    assert np.allclose(here.leaves["observation"], there.leaves["observation"], rtol=0, atol=1e-9)


def test_a_cheetah_on_its_back_goes_on_until_the_time_limit(reference: Environment) -> None:
    back = np.array([0.0, -0.5, np.pi, *[0.0] * 6])
    trajectory = played(reference, np.zeros((20, 6)), REST, qpos=back, steps=np.int32(990))
    assert trajectory.steps == 10 and trajectory.leaves["truncated"][-1]
    assert not trajectory.leaves["terminated"].any()


def test_the_accelerations_of_a_step_are_kept_for_the_next_and_a_reset_has_none(reference: Environment) -> None:
    kept = played(reference, np.zeros((2, 6))).leaves["state/warmstart"]
    assert not kept[0].any() and kept[1].any() and not np.array_equal(kept[1], kept[2])


def test_a_touch_is_felt_at_once_and_friction_sideways_is_the_ground(reference: Environment) -> None:
    touching = np.array([0.0, -0.1, 0.1, *[0.0] * 6])
    while not (contacts := asked(reference, "contacts", qpos=touching))["touches"].any():
        touching[1] -= 0.005
    rows = asked(reference, "constraints", qpos=touching, qvel=np.zeros(9))
    [end, *_] = np.flatnonzero(contacts["touches"])
    forwards, backwards, sideways = rows["jacobian"][6 + 3 * end : 9 + 3 * end]
    assert np.allclose((forwards + backwards) / 2, sideways) and not np.allclose(forwards, sideways)
    assert (rows["strength"][6 + 3 * end : 9 + 3 * end] > 0).all()


def test_only_ends_of_capsules_touch_and_only_the_ground(reference: Environment) -> None:
    folded = np.array([0.0, 5.0, 0.0, 1.05, 0.785, 0.785, -1.0, -1.2, -0.5])
    assert not asked(reference, "contacts", qpos=folded)["touches"].any()


def test_joints_are_free_within_their_range_and_pushed_back_beyond_it(reference: Environment) -> None:
    pose = np.array([0.0, 1.0, 0.0, 1.06, 0.0, 0.0, -1.01, 0.0, 0.0])
    limits = asked(reference, "limits", qpos=pose)
    assert np.allclose(limits["distance"], [-0.01, 0, 0, -0.01, 0, 0])
    assert limits["towards"].tolist() == [-1, 0, 0, 1, 0, 0]


def test_at_rest_the_last_digits_decide_whether_the_solver_takes_a_step(reference: Environment) -> None:
    """Quirk 15: nothing lies between both ways, and both are gone from within eight units in the last place."""
    still = {
        "state/qpos": np.array(
            [
                -0.007490708966708522,
                -0.18024454778661955,
                0.08596410937921432,
                0.48873842176817744,
                -0.23866812168276946,
                0.2933982016568587,
                -0.48840154351173787,
                -0.22817235195013474,
                0.2773198555614062,
            ]
        ),
        "state/qvel": np.array(
            [
                -1.1093503769292998e-11,
                -3.181933697505214e-12,
                -5.544178924545806e-11,
                2.376539164262639e-12,
                7.180651972887553e-11,
                3.8788041132229405e-11,
                -1.3321941619628748e-10,
                -1.0358665068733717e-09,
                -5.540387442156792e-10,
            ]
        ),
        "state/warmstart": np.array(
            [
                4.230975376454508e-10,
                -7.381172313472706e-11,
                7.5904433257667e-11,
                4.213121807111018e-10,
                -1.2992315286717939e-09,
                7.557299504328121e-10,
                6.8909759941291345e-09,
                6.441710762031463e-09,
                8.418414395571913e-09,
            ]
        ),
        "state/steps": np.int32(0),
    }
    action = np.array(
        [
            0.8260110020637512,
            -0.6763917207717896,
            0.522570013999939,
            -0.5713552236557007,
            -0.10715169459581375,
            0.8381189703941345,
        ],
        np.float32,
    )[None]
    rng = np.random.default_rng(0)
    starts = [
        {path: units_off(value, rng.integers(-8, 9, value.shape), "float64") for path, value in still.items()}
        for _ in range(40)
    ]
    played = reference.rollout([Case(1, {"action": action}, start=start) for start in starts])
    speeds = np.array([one.leaves["state/qvel"][1, 7] for one in played])
    slow = np.abs(speeds + 2.3e-10) < 1e-11
    assert 8 <= slow.sum() <= 32
    assert (np.abs(speeds[~slow] + 2.64e-9) < 3e-11).all()
