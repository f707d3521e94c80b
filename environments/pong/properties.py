"""Level 1 for Pong: what is true of every game, how to ask the probes, and what episodes should reach."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np

from lockstep import Array, Trajectory, feature, generator, invariant

LOWEST, HIGHEST = -35.0, 605.0
BALL, PADDLE = 32.0, 70.0
RAND_MAX = 2**31 - 1
HIT = np.float32(0.1)


def state(trajectory: Trajectory, name: str) -> Array:
    """A field of the state over all rows."""
    return trajectory.leaves[f"state/{name}"]


def points(trajectory: Trajectory) -> Array:
    """The rows in which a point was scored."""
    return np.abs(trajectory.leaves["reward"]) == 1


def fresh(trajectory: Trajectory) -> Array:
    """The rows that begin a round: the reset, and every point."""
    began = points(trajectory).copy()
    began[0] = trajectory.case.start is None
    return began


def since(values: Array) -> Array:
    """By how much each row differs from the one before; 0 in the first."""
    return np.diff(values.astype(np.int64), prepend=values[:1].astype(np.int64))


# --- invariants -------------------------------------------------------------------------------------------------------


@invariant("start")
def a_round_begins_with_everything_in_place(trajectory: Trajectory) -> Array:
    places = {
        "paddle_yl": 285,
        "paddle_yr": 285,
        "ball_x": 100,
        "ball_y": 304,
        "ball_vx": 10,
        "tick": 0,
        "n_bounces": 0,
    }
    placed = np.all([state(trajectory, name) == value for name, value in places.items()], axis=0)
    return ~fresh(trajectory) | placed


@invariant("start")
def the_serve_goes_down_or_straight_by_the_parity_of_its_draw(trajectory: Trajectory) -> Any:
    if trajectory.draws is None:
        return True
    served = [[int(draw.value) for draw in row] for row in trajectory.draws]
    expected = [row[0] % 2 - 1 if len(row) == 1 else np.nan for row in served]
    return ~fresh(trajectory) | (state(trajectory, "ball_vy") == expected)


@invariant("start")
def a_serve_is_drawn_once_for_each_round_and_never_else(trajectory: Trajectory) -> Any:
    if trajectory.draws is None:
        return True
    return np.array([len(row) for row in trajectory.draws]) == fresh(trajectory)


@invariant("start")
def observations_of_the_field_are_within_it_but_for_the_overshoot_of_one_sub_frame(trajectory: Trajectory) -> Array:
    seen = trajectory.leaves["observation"]
    low = np.array([0, 0, -10 / 500, -13 / 640, 0, 0, 0, 0], np.float32)
    high = np.array([1, 1, 468 / 500, 621 / 640, 1, 1, 0, 0], np.float32)
    return np.all((seen >= low) & (seen <= high), axis=1)


@invariant("paddles")
def paddles_stay_half_a_paddle_within_the_field(trajectory: Trajectory) -> Array:
    paddles = np.stack([state(trajectory, "paddle_yl"), state(trajectory, "paddle_yr")])
    return np.all((paddles >= LOWEST) & (paddles <= HIGHEST), axis=0)


@invariant("paddles")
def the_direction_is_the_last_action(trajectory: Trajectory) -> Array:
    chosen = np.array([0, 1, -1], np.float32)[trajectory.case.actions["action"][: trajectory.steps]]
    followed = state(trajectory, "paddle_dir")[1:] == chosen
    return np.concatenate([[True], followed])


@invariant("ball")
def the_ball_never_changes_its_speed_along_x(trajectory: Trajectory) -> Array:
    return np.abs(state(trajectory, "ball_vx")) == 10


@invariant("agent")
def the_ball_is_never_steeper_than_13_and_never_between_whole_numbers(trajectory: Trajectory) -> Array:
    vy = state(trajectory, "ball_vy")
    return (np.abs(vy) <= 13) & (vy == np.round(vy))


@invariant("scoring")
def a_point_is_one_more_for_one_side_and_a_reward_for_the_agent(trajectory: Trajectory) -> Array:
    left, right = since(state(trajectory, "score_l")), since(state(trajectory, "score_r"))
    reward = trajectory.leaves["reward"]
    return (right == (reward == 1)) & (left == (reward == -1))


@invariant("scoring")
def a_reward_is_a_point_won_or_lost_or_a_hit_or_nothing(trajectory: Trajectory) -> Array:
    return np.isin(trajectory.leaves["reward"], np.array([-1, 0, HIT, 1], np.float32))


@invariant("scoring")
def win_tells_who_scored_last(trajectory: Trajectory) -> Array:
    return ~points(trajectory) | (state(trajectory, "win") == (trajectory.leaves["reward"] == 1))


@invariant("scoring")
def a_game_ends_exactly_when_a_side_reaches_21_and_never_by_time(trajectory: Trajectory) -> Array:
    top = np.maximum(state(trajectory, "score_l"), state(trajectory, "score_r"))
    return (trajectory.leaves["terminated"] == (top == 21)) & ~trajectory.leaves["truncated"]


@invariant("frames")
def ticks_count_steps_and_begin_anew_each_round(trajectory: Trajectory) -> Array:
    continued = ~fresh(trajectory)
    continued[0] = False
    return ~continued | (since(state(trajectory, "tick")) == 1)


@invariant("frames")
def what_is_observed_is_the_buffer(trajectory: Trajectory) -> Array:
    return np.all(trajectory.leaves["observation"] == state(trajectory, "observation"), axis=1)


@invariant("frames")
def the_agents_hit_turns_the_ball_to_the_left(trajectory: Trajectory) -> Array:
    return (trajectory.leaves["reward"] != HIT) | (state(trajectory, "ball_vx") == -10)


# --- generators -------------------------------------------------------------------------------------------------------


def number(low: float, high: float) -> st.SearchStrategy[float]:
    """float32 values in a range: whole ones, as games have them, and others, but none near the subnormal ones.

    XLA takes subnormal numbers for 0, C does not (QUIRKS.md); zero keeps both its signs.
    """
    whole = st.integers(math.ceil(low), math.floor(high)).map(float)
    other = st.floats(low, high, width=32).map(lambda value: value if abs(value) > 1e-6 else math.copysign(0.0, value))
    return whole | other


HEIGHTS = number(-13, 621)
PADDLES = number(LOWEST, HIGHEST)
# Of a paddle from the ball: overlapping, by one pixel at least, just touching, and anything near.
OFFSETS = st.one_of(
    number(-PADDLE + 1, BALL - 1),
    st.sampled_from([-PADDLE + 1, 0.0, BALL - 1]),
    st.sampled_from([-PADDLE, BALL]),
    number(-PADDLE - 8, BALL + 8),
)


def paddle_near(ball_y: float) -> st.SearchStrategy[float]:
    """Paddles that a ball at this height meets, misses, or touches with its very edge."""
    near = OFFSETS.map(lambda offset: float(np.clip(np.float32(ball_y) + np.float32(offset), LOWEST, HIGHEST)))
    return st.one_of(near, near, near, near, near, PADDLES)


@generator("observation")
def fields_to_be_observed() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "paddle_yl": PADDLES,
            "paddle_yr": PADDLES,
            "ball_x": number(-10, 468),
            "ball_y": HEIGHTS,
            "ball_vx": number(-10, 10),
            "ball_vy": number(-13, 13),
            "score_l": st.integers(0, 21),
            "score_r": st.integers(0, 21),
        }
    )


@generator("paddles")
def paddles_and_a_ball_to_follow() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"paddle_yl": PADDLES, "paddle_yr": PADDLES, "ball_y": HEIGHTS, "action": st.integers(0, 2)}
    )


# A ball counts as level where |vy| < 0.01 once the paddle's 3 are added: exactly there, and a little beside it.
LEVEL = st.sampled_from([0.01, -0.01, 0.0, -0.0, 3.0, -3.0]).map(lambda vy: float(np.float32(vy)))
SLOPES = st.one_of(LEVEL, LEVEL, LEVEL, LEVEL, number(-13, 13))


@generator("opponent")
def balls_at_the_opponents_edge() -> st.SearchStrategy[dict[str, Any]]:
    return at_an_edge("paddle_yl", ball_x=st.one_of(number(0, 9), number(0, 9), number(9, 12)))


@generator("agent")
def balls_at_the_agents_edge() -> st.SearchStrategy[dict[str, Any]]:
    reaching = number(459, 468)
    return at_an_edge("paddle_yr", ball_x=st.one_of(reaching, reaching, number(456, 459)), action=st.integers(0, 2))


def at_an_edge(paddle: str, **others: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A ball about to reach an edge, and a paddle mostly near where it will be."""

    def meeting(where: tuple[float, float]) -> st.SearchStrategy[dict[str, Any]]:
        y, vy = where
        ball = {"ball_y": st.just(y), "ball_vy": st.just(vy), paddle: paddle_near(y + vy)}
        return st.fixed_dictionaries({**ball, "serve": st.integers(0, RAND_MAX), **others})

    return st.tuples(HEIGHTS, SLOPES).flatmap(meeting)


@generator("ball")
def balls_around_the_walls() -> st.SearchStrategy[dict[str, Any]]:
    heights = number(-13, 13) | number(595, 621) | HEIGHTS
    return st.fixed_dictionaries(
        {"ball_x": number(10, 458), "ball_y": heights, "ball_vx": number(-10, 10), "ball_vy": number(-13, 13)}
    )


# --- features ---------------------------------------------------------------------------------------------------------


@feature
def the_agent_scores(trajectory: Trajectory) -> Array:
    return trajectory.leaves["reward"] == 1


@feature
def the_opponent_scores(trajectory: Trajectory) -> Array:
    return trajectory.leaves["reward"] == -1


@feature
def the_agent_hits_standing_still(trajectory: Trajectory) -> Array:
    return (trajectory.leaves["reward"] == HIT) & (state(trajectory, "paddle_dir") == 0)


@feature
def the_agent_hits_moving_up(trajectory: Trajectory) -> Array:
    return (trajectory.leaves["reward"] == HIT) & (state(trajectory, "paddle_dir") == 1)


@feature
def the_agent_hits_moving_down(trajectory: Trajectory) -> Array:
    return (trajectory.leaves["reward"] == HIT) & (state(trajectory, "paddle_dir") == -1)


@feature
def the_opponent_hits(trajectory: Trajectory) -> Array:
    return (since(state(trajectory, "n_bounces")) > 0) & (trajectory.leaves["reward"] == 0)


@feature
def a_wall_turns_the_ball(trajectory: Trajectory) -> Array:
    vy = state(trajectory, "ball_vy")
    turned = np.concatenate([[False], (vy[1:] == -vy[:-1]) & (vy[1:] != 0)])
    return turned & (trajectory.leaves["reward"] == 0)


@feature
def a_step_ends_with_the_ball_behind_a_wall(trajectory: Trajectory) -> Array:
    y = state(trajectory, "ball_y")
    return (y < 0) | (y > 608)


@feature
def the_ball_is_as_steep_as_it_can_be(trajectory: Trajectory) -> Array:
    return np.abs(state(trajectory, "ball_vy")) == 13


@feature
def a_level_ball_is_made_to_rise(trajectory: Trajectory) -> Array:
    vy = state(trajectory, "ball_vy")
    levelled = np.concatenate([[False], vy[:-1] + 3 * state(trajectory, "paddle_dir")[1:] == 0])
    return levelled & (trajectory.leaves["reward"] == HIT) & (vy == 3)


@feature
def the_serve_is_straight(trajectory: Trajectory) -> Array:
    return fresh(trajectory) & (state(trajectory, "ball_vy") == 0)


@feature
def the_serve_goes_down(trajectory: Trajectory) -> Array:
    return fresh(trajectory) & (state(trajectory, "ball_vy") == -1)


@feature
def the_agents_paddle_is_at_its_lower_limit(trajectory: Trajectory) -> Array:
    return state(trajectory, "paddle_yr") == LOWEST


@feature
def the_agents_paddle_is_at_its_upper_limit(trajectory: Trajectory) -> Array:
    return state(trajectory, "paddle_yr") == HIGHEST


@feature
def a_rally_of_ten_bounces(trajectory: Trajectory) -> Array:
    return state(trajectory, "n_bounces") >= 10


@feature
def the_agent_wins_the_game(trajectory: Trajectory) -> Array:
    return trajectory.leaves["terminated"] & (state(trajectory, "score_r") == 21)


@feature
def the_opponent_wins_the_game(trajectory: Trajectory) -> Array:
    return trajectory.leaves["terminated"] & (state(trajectory, "score_l") == 21)


@feature
def a_close_game(trajectory: Trajectory) -> Array:
    """Both sides near the end."""
    return (state(trajectory, "score_l") >= 18) & (state(trajectory, "score_r") >= 18)
