"""Level 2 for Pong: short sequences from where rules meet."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st

from lockstep import Task, sequence

Sequence = st.SearchStrategy[dict[str, Any]]

CENTRE = {
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
    # What no sub-frame of a game shows, so that it is seen where the buffer is left as it was.
    "observation": [0.25] * 8,
}
SPEEDS = st.integers(-13, 13)
SCORES = st.integers(0, 20)


def whole(low: int, high: int) -> st.SearchStrategy[int]:
    """Whole numbers, which is all that games reach."""
    return st.integers(low, high)


def sequences(actions: int, **fields: st.SearchStrategy[Any]) -> Sequence:
    """Any actions, up to so many, from the middle of a game with these fields drawn."""
    start = st.fixed_dictionaries(fields).map(lambda drawn: {f"state/{k}": v for k, v in (CENTRE | drawn).items()})
    return st.fixed_dictionaries({"start": start, "actions": st.lists(whole(0, 2), min_size=1, max_size=actions)})


@sequence("the agent misses in any sub-frame, and the round after")
def agent_misses(task: Task) -> Sequence:
    return sequences(
        4, ball_x=whole(380, 468), ball_y=whole(300, 608), ball_vy=SPEEDS, paddle_yr=whole(-35, 150), win=whole(0, 1)
    )


@sequence("the opponent misses in any sub-frame, and the round after")
def opponent_misses(task: Task) -> Sequence:
    return sequences(
        4,
        ball_x=whole(-10, 80),
        ball_y=whole(300, 608),
        ball_vx=st.just(-10),
        ball_vy=SPEEDS,
        paddle_yl=whole(-35, 150),
        win=whole(0, 1),
    )


@sequence("a point with the agent's paddle at a limit")
def paddle_at_a_limit(task: Task) -> Sequence:
    return sequences(
        3,
        ball_x=whole(380, 468),
        ball_y=whole(-13, 621),
        ball_vy=SPEEDS,
        paddle_yr=st.sampled_from([-35, -30, 600, 605]),
    )


@sequence("the wall and the agent's paddle in one step")
def wall_and_agent(task: Task) -> Sequence:
    near_a_wall = whole(-13, 20) | whole(588, 621)
    return near_a_wall.flatmap(
        lambda y: sequences(
            3,
            ball_x=whole(380, 468),
            ball_y=st.just(y),
            ball_vy=SPEEDS,
            paddle_yr=whole(max(-35, y - 80), min(605, y + 40)),
        )
    )


@sequence("the wall and the opponent's paddle in one step")
def wall_and_opponent(task: Task) -> Sequence:
    near_a_wall = whole(-13, 20) | whole(588, 621)
    return near_a_wall.flatmap(
        lambda y: sequences(
            3,
            ball_x=whole(-10, 80),
            ball_y=st.just(y),
            ball_vx=st.just(-10),
            ball_vy=SPEEDS,
            paddle_yl=whole(max(-35, y - 80), min(605, y + 40)),
        )
    )


@sequence("the last point of a game")
def last_point(task: Task) -> Sequence:
    near_the_end = st.sampled_from([(20, 20), (20, 0), (0, 20), (19, 20), (20, 19), (19, 19)])
    return st.tuples(near_the_end, st.booleans()).flatmap(
        lambda drawn: sequences(
            6,
            score_l=st.just(drawn[0][0]),
            score_r=st.just(drawn[0][1]),
            ball_x=whole(0, 80) if drawn[1] else whole(380, 468),
            ball_vx=st.just(-10 if drawn[1] else 10),
            ball_y=st.just(560),
            ball_vy=whole(-3, 3),
            paddle_yl=st.just(100),
            paddle_yr=st.just(100),
        )
    )


@sequence("a level ball met by a moving paddle")
def level_ball(task: Task) -> Sequence:
    return sequences(
        3,
        ball_x=whole(380, 468),
        ball_vy=st.sampled_from([-3, 0, 3]),
        paddle_yr=whole(220, 330),
        score_l=SCORES,
        score_r=SCORES,
    )


@sequence("whole rallies from a serve")
def from_a_serve(task: Task) -> Sequence:
    actions = st.lists(whole(0, 2), min_size=1, max_size=task.budgets.sequence_length)
    return st.fixed_dictionaries({"start": st.none(), "actions": actions})
