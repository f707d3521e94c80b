"""Scripted players, so that games of every kind are played: won, lost, close. A step moves the paddle by 64 pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

STILL, UP, DOWN = 0, 1, 2
FRAMES = 8
PADDLE_SPEED = 8.0
LOWEST, HIGHEST = -35.0, 605.0
BALL_CENTRE, PADDLE_CENTRE = 16.0, 35.0
RIGHT_EDGE = 468.0
REACH = PADDLE_CENTRE + BALL_CENTRE
NOISE = 0.1


def track(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Follow the ball and meet it while moving the way it goes, which makes it too steep for the opponent: wins."""
    if rng.random_sample() < NOISE:
        return int(rng.randint(3))
    vx, vy = row["state/ball_vx"], row["state/ball_vy"]
    ball = row["state/ball_y"] + BALL_CENTRE
    # The frame, counted from 1, in which the ball passes the right edge.
    arrival = np.floor((RIGHT_EDGE - row["state/ball_x"]) / vx) + 1 if vx > 0 else np.inf
    if arrival > FRAMES:
        return _towards(row, ball + FRAMES * vy)
    order = (UP, DOWN, STILL) if vy > 0 or (vy == 0 and rng.randint(2)) else (DOWN, UP, STILL)
    for action in order:
        paddle = row["state/paddle_yr"] + PADDLE_SPEED * arrival * _direction(action)
        if abs(min(max(paddle, LOWEST), HIGHEST) + PADDLE_CENTRE - (ball + arrival * vy)) < REACH - PADDLE_SPEED:
            return action
    return _towards(row, ball + arrival * vy)


def dodge(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Keep away from the ball: loses 0 to 21, soon."""
    if rng.random_sample() < NOISE:
        return int(rng.randint(3))
    return _towards(row, 640.0 if row["state/ball_y"] < 304.0 else 0.0)


def _towards(row: dict[str, Any], target: float) -> int:
    distance = target - (row["state/paddle_yr"] + PADDLE_CENTRE)
    if abs(distance) <= FRAMES * PADDLE_SPEED / 2:
        return STILL
    return UP if distance > 0 else DOWN


def _direction(action: int) -> int:
    return {STILL: 0, UP: 1, DOWN: -1}[action]
