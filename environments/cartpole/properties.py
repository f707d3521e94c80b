"""Level 1 of CartPole: what is true of every episode, what episodes should reach, and where its probes are asked."""

import math

import hypothesis.strategies as st
import numpy as np

from lockstep import Array, Trajectory, feature, generator, invariant

X_LIMIT = 2.4
THETA_LIMIT = 12 * 2 * math.pi / 360
STEP_LIMIT = 500
TIME_STEP = 0.02
START = 0.05
STATE = ("x", "x_dot", "theta", "theta_dot")
EDGES = tuple(sign * limit for limit in (X_LIMIT, THETA_LIMIT) for sign in (-1, 1))


def _state(trajectory: Trajectory, name: str) -> Array:
    return trajectory.leaves[f"state/{name}"]


def _after_first(rows: Array) -> Array:
    """One truth for each row from one for each step; a first row has no step that could break it."""
    return np.concatenate([[True], rows])


# --- start ------------------------------------------------------------------------------------------------------------


@invariant(module="start")
def an_observation_is_the_state_rounded_to_float32(trajectory: Trajectory) -> Array:
    rounded = np.stack([_state(trajectory, name) for name in STATE], axis=1).astype(np.float32)
    return np.all(trajectory.leaves["observation"] == rounded, axis=1)


@invariant(module="start")
def an_episode_starts_near_rest_in_the_middle(trajectory: Trajectory) -> bool:
    if trajectory.case.start is not None:
        return True
    near = all(-START <= _state(trajectory, name)[0] < START for name in STATE)
    return near and _state(trajectory, "steps")[0] == 0


# --- dynamics ---------------------------------------------------------------------------------------------------------


@invariant(module="dynamics")
def positions_move_by_the_velocities_before_the_step(trajectory: Trajectory) -> Array:
    moved = [
        np.isclose(_state(trajectory, name)[1:], (_state(trajectory, name) + TIME_STEP * speed)[:-1], 1e-12, 1e-14)
        for name, speed in (("x", _state(trajectory, "x_dot")), ("theta", _state(trajectory, "theta_dot")))
    ]
    return _after_first(np.logical_and(*moved))


@invariant(module="dynamics")
def the_cart_gains_speed_towards_the_side_that_it_is_pushed_to(trajectory: Trajectory) -> Array:
    gained = np.diff(_state(trajectory, "x_dot"))
    to_the_right = trajectory.case.actions["action"][: trajectory.steps] == 1
    return _after_first((gained > 0) == to_the_right)


# --- termination ------------------------------------------------------------------------------------------------------


@invariant(module="termination")
def an_episode_fails_exactly_when_cart_or_pole_are_beyond_their_limits(trajectory: Trajectory) -> Array:
    beyond = (np.abs(_state(trajectory, "x")) > X_LIMIT) | (np.abs(_state(trajectory, "theta")) > THETA_LIMIT)
    return _after_first((trajectory.leaves["terminated"] == beyond)[1:])


@invariant(module="termination")
def every_step_pays_one_and_so_does_the_last(trajectory: Trajectory) -> Array:
    return trajectory.leaves["reward"] == (np.arange(trajectory.rows) > 0)


# --- truncation -------------------------------------------------------------------------------------------------------


@invariant(module="truncation")
def steps_are_counted_one_by_one(trajectory: Trajectory) -> Array:
    return _after_first(np.diff(_state(trajectory, "steps")) == 1)


@invariant(module="truncation")
def an_episode_is_truncated_exactly_at_its_five_hundredth_step(trajectory: Trajectory) -> Array:
    return _after_first((trajectory.leaves["truncated"] == (_state(trajectory, "steps") >= STEP_LIMIT))[1:])


# --- what episodes should reach ---------------------------------------------------------------------------------------


@feature
def the_cart_left_on_the_left(trajectory: Trajectory) -> Array:
    return _state(trajectory, "x") < -X_LIMIT


@feature
def the_cart_left_on_the_right(trajectory: Trajectory) -> Array:
    return _state(trajectory, "x") > X_LIMIT


@feature
def the_pole_fell_to_the_left(trajectory: Trajectory) -> Array:
    return _state(trajectory, "theta") < -THETA_LIMIT


@feature
def the_pole_fell_to_the_right(trajectory: Trajectory) -> Array:
    return _state(trajectory, "theta") > THETA_LIMIT


@feature
def the_time_limit_was_reached(trajectory: Trajectory) -> Array:
    return trajectory.leaves["truncated"]


@feature
def the_pole_came_back_from_a_lean_of_six_degrees(trajectory: Trajectory) -> Array:
    lean = np.abs(_state(trajectory, "theta")) > THETA_LIMIT / 2
    return _after_first(lean[:-1] & ~lean[1:])


@feature
def the_cart_braked_while_it_was_fast(trajectory: Trajectory) -> Array:
    """The pushes work against a speed of more than 1 m/s."""
    speed = _state(trajectory, "x_dot")
    return _after_first((np.abs(speed[:-1]) > 1) & (np.diff(speed) * speed[:-1] < 0))


# --- where the probes are asked ---------------------------------------------------------------------------------------


def _number(limit: float) -> st.SearchStrategy[float]:
    """Any number up to a limit on either side; the edges and zero more often than chance would."""
    return st.sampled_from([-limit, -0.0, 0.0, limit]) | st.floats(-limit, limit, allow_subnormal=False)


def _at_an_edge(edges: tuple[float, ...]) -> st.SearchStrategy[float]:
    """An edge, or the next number inside or outside of it: `>` and `>=` differ nowhere else."""
    neighbour = st.sampled_from([-math.inf, 0.0, math.inf])
    return st.builds(
        lambda edge, towards: edge if towards == 0.0 else math.nextafter(edge, towards),
        st.sampled_from(edges),
        neighbour,
    )


@generator("dynamics")
def dynamics_inputs() -> st.SearchStrategy[dict[str, float]]:
    return st.fixed_dictionaries(
        {
            "x": _number(X_LIMIT),
            "x_dot": _number(5.0),
            "theta": _number(THETA_LIMIT),
            "theta_dot": _number(4.5),
            "action": st.integers(0, 1),
        }
    )


@generator("termination")
def termination_inputs() -> st.SearchStrategy[dict[str, float]]:
    x = st.floats(-2.5, 2.5) | _at_an_edge(EDGES[:2])
    theta = st.floats(-0.3, 0.3) | _at_an_edge(EDGES[2:])
    return st.fixed_dictionaries({"x": x, "theta": theta})


@generator("truncation")
def truncation_inputs() -> st.SearchStrategy[dict[str, int]]:
    near = st.integers(STEP_LIMIT - 2, STEP_LIMIT + 2)
    return st.fixed_dictionaries({"steps": near | st.integers(1, 600)})
