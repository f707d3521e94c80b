"""Level 1 of HalfCheetah: what is true of every episode, what episodes should reach, and where its probes are asked."""

from typing import Any

import hypothesis.strategies as st
import numpy as np

from lockstep import Array, Trajectory, feature, generator, invariant

STEP_LIMIT = 1000
SECONDS = 0.05
RANGES = np.array([(-0.52, 1.05), (-0.785, 0.785), (-0.4, 0.785), (-1.0, 0.7), (-1.2, 0.87), (-0.5, 0.5)])


def _state(trajectory: Trajectory, name: str) -> Array:
    return trajectory.leaves[f"state/{name}"]


def _after_first(rows: Array) -> Array:
    """One truth for each row from one for each step; a first row has no step that could break it."""
    return np.concatenate([[True], rows])


# --- start ------------------------------------------------------------------------------------------------------------


@invariant(module="start")
def an_observation_is_the_state_without_x(trajectory: Trajectory) -> Array:
    shown = np.concatenate([_state(trajectory, "qpos")[:, 1:], _state(trajectory, "qvel")], axis=1)
    return np.all(trajectory.leaves["observation"] == shown, axis=1)


@invariant(module="start")
def an_episode_starts_near_the_pose_of_the_model_with_no_guess_for_the_solver(trajectory: Trajectory) -> bool:
    if trajectory.case.start is not None:
        return True
    near = np.all(np.abs(_state(trajectory, "qpos")[0]) <= 0.1)
    return bool(near and not _state(trajectory, "warmstart")[0].any() and _state(trajectory, "steps")[0] == 0)


# --- integration ------------------------------------------------------------------------------------------------------


@invariant(module="integration")
def positions_move_no_further_than_velocities_of_the_step_allow(trajectory: Trajectory) -> Array:
    """Within a step nothing is faster than a joint at its motor and the ground's push could make it."""
    return _after_first(np.all(np.abs(np.diff(_state(trajectory, "qpos"), axis=0)) < 20.0, axis=1))


# --- reward -----------------------------------------------------------------------------------------------------------


@invariant(module="reward")
def a_step_pays_its_speed_less_a_tenth_of_the_squares_of_its_action(trajectory: Trajectory) -> Array:
    speed = np.diff(_state(trajectory, "qpos")[:, 0]) / SECONDS
    action = trajectory.case.actions["action"][: trajectory.steps].astype(np.float64)
    paid = speed - 0.1 * np.sum(action**2, axis=1)
    return _after_first(np.isclose(trajectory.leaves["reward"][1:], paid, rtol=1e-6, atol=1e-6))


@invariant(module="reward")
def an_episode_is_truncated_exactly_at_its_thousandth_step_and_never_fails(trajectory: Trajectory) -> Array:
    counted = _after_first(np.diff(_state(trajectory, "steps")) == 1)
    ends = trajectory.leaves["truncated"][1:] == (_state(trajectory, "steps")[1:] >= STEP_LIMIT)
    return counted & ~trajectory.leaves["terminated"] & _after_first(ends)


# --- what episodes should reach ---------------------------------------------------------------------------------------


def _beyond(joint: int, name: str) -> tuple[Any, Any]:
    """Below and above the range of a joint."""

    def below(trajectory: Trajectory) -> Array:
        return _state(trajectory, "qpos")[:, 3 + joint] < RANGES[joint, 0]

    def above(trajectory: Trajectory) -> Array:
        return _state(trajectory, "qpos")[:, 3 + joint] > RANGES[joint, 1]

    below.__name__, above.__name__ = f"the_{name}_is_below_its_range", f"the_{name}_is_above_its_range"
    return feature(below), feature(above)


back_thigh_below, back_thigh_above = _beyond(0, "back_thigh")
back_shin_below, back_shin_above = _beyond(1, "back_shin")
back_foot_below, back_foot_above = _beyond(2, "back_foot")
front_thigh_below, front_thigh_above = _beyond(3, "front_thigh")
front_shin_below, front_shin_above = _beyond(4, "front_shin")
front_foot_below, front_foot_above = _beyond(5, "front_foot")


@feature
def the_cheetah_lies_on_its_back(trajectory: Trajectory) -> Array:
    return np.cos(_state(trajectory, "qpos")[:, 2]) < -0.5


@feature
def the_cheetah_is_in_the_air(trajectory: Trajectory) -> Array:
    return _state(trajectory, "qpos")[:, 1] > 0.3


@feature
def the_cheetah_runs(trajectory: Trajectory) -> Array:
    return trajectory.leaves["reward"] > 2.0


@feature
def the_time_limit_was_reached(trajectory: Trajectory) -> Array:
    return trajectory.leaves["truncated"]


# --- where the probes are asked ---------------------------------------------------------------------------------------


PLACES = ((0.8, 0.0, 3.1), (0.1, 0.0, 0.4), (-0.5, np.pi, 0.5), (-0.2, 0.0, 1.5))
"""How high, at which pitch, and how much that varies: in the air, on its feet, on its back, and deep in the ground."""


def _poses() -> st.SearchStrategy[Array]:
    """In one of these places; joints a little beyond their ranges at times."""

    def build(seed: int, place: int) -> Array:
        rng = np.random.default_rng(seed)
        z, pitch, lean = PLACES[place]
        low, high = RANGES[:, 0] - 0.05 * place, RANGES[:, 1] + 0.05 * place
        whole = [rng.uniform(-20, 20), z + rng.uniform(-0.25, 0.15), pitch + rng.uniform(-lean, lean)]
        return np.concatenate([whole, rng.uniform(low, high)])

    return st.builds(build, st.integers(0, 2**32 - 1), st.integers(0, 3))


def _numbers(count: int, limit: float, dtype: type = np.float64) -> st.SearchStrategy[Array]:
    def build(seed: int, part: float) -> Array:
        return np.random.default_rng(seed).uniform(-limit * part, limit * part, count).astype(dtype)

    return st.builds(build, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 1.0]))


def _velocities() -> st.SearchStrategy[Array]:
    return _numbers(9, 1.0).map(lambda part: part * np.array([10.0, 8.0, 15.0, *[30.0] * 6]))


def _actions() -> st.SearchStrategy[Array]:
    return _numbers(6, 1.0, np.float32)


def _of_poses() -> st.SearchStrategy[dict[str, Array]]:
    return st.fixed_dictionaries({"qpos": _poses()})


def _of_states() -> st.SearchStrategy[dict[str, Array]]:
    return st.fixed_dictionaries({"qpos": _poses(), "qvel": _velocities()})


def _of_steps() -> st.SearchStrategy[dict[str, Array]]:
    return st.fixed_dictionaries(
        {"qpos": _poses(), "qvel": _velocities(), "action": _actions(), "warmstart": _numbers(9, 1000.0)}
    )


kinematics_inputs = generator("kinematics")(_of_poses)
mass_matrix_inputs = generator("mass_matrix")(_of_poses)
limits_inputs = generator("limits")(_of_poses)
contacts_inputs = generator("contacts")(_of_poses)
bias_inputs = generator("bias")(_of_states)
passive_inputs = generator("passive")(_of_states)
constraints_inputs = generator("constraints")(_of_states)
solver_inputs = generator("solver")(_of_steps)
advance_inputs = generator("advance")(_of_steps)


@generator("actuation")
def actuation_inputs() -> st.SearchStrategy[dict[str, Array]]:
    return st.fixed_dictionaries({"action": _actions()})


@generator("reward")
def reward_inputs() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"x_velocity": st.floats(-10.0, 20.0), "action": _actions()})
