"""A picture of a game of Pong, as the library's own `c_render` lays it out.

That function draws into a window of raylib, which needs a display, so it cannot be called where references run. Sizes,
places and colours below are those in it (`pufferlib/ocean/pong/pong.h`). Two things differ: the ball is a white square where
the C shows a puffer fish from a file, and the digits of the scores are made of blocks, not of raylib's font.
"""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTH, HEIGHT = 500, 640
PADDLE_WIDTH, PADDLE_HEIGHT = 20, 70
BALL = 32
PAD = 3 * PADDLE_WIDTH
"""The window is wider than the field, by this much on either side."""

BACKGROUND, WHITE, SCORE = (6, 24, 24), (255, 255, 255), (0, 187, 187)
LEFT, RIGHT = (255, 0, 0), (0, 255, 255)

SCORE_TOP, SCORE_ASIDE, BLOCK = 10, 50, 6
"""Scores stand 50 to either side of the middle and are 30 high: five blocks."""
# Each digit row by row.
_FONT = (
    "111101101101111",
    "010110010010111",
    "111001111100111",
    "111001111001111",
    "101101111001001",
    "111100111001111",
    "111100111101111",
    "111001001001001",
    "111101111101111",
    "111101111001111",
)


def draw(state: dict[str, Any]) -> np.ndarray:
    """The picture of a state, given by the names of its fields: uint8 `[640, 620, 3]`.

    What lies outside of the window is cut off.
    """
    picture = np.empty((HEIGHT, WIDTH + 2 * PAD, 3), dtype=np.uint8)
    picture[:] = BACKGROUND
    # The field's y grows upwards, the picture's downwards.
    _fill(picture, PAD - PADDLE_WIDTH, HEIGHT - state["paddle_yl"] - PADDLE_HEIGHT, PADDLE_WIDTH, PADDLE_HEIGHT, LEFT)
    _fill(picture, WIDTH + PAD, HEIGHT - state["paddle_yr"] - PADDLE_HEIGHT, PADDLE_WIDTH, PADDLE_HEIGHT, RIGHT)
    _fill(picture, PAD + state["ball_x"], HEIGHT - state["ball_y"] - BALL, BALL, BALL, WHITE)
    for score, aside in ((state["score_l"], -SCORE_ASIDE), (state["score_r"], SCORE_ASIDE)):
        _write(picture, int(score), WIDTH // 2 + PAD + aside)
    return picture


def _write(picture: np.ndarray, number: int, middle: int) -> None:
    """Write a number around a column, in digits of 3 by 5 blocks with one block between them."""
    digits = str(number)
    left = middle - BLOCK * (4 * len(digits) - 1) // 2
    for place, digit in enumerate(digits):
        for cell, black in enumerate(_FONT[int(digit)]):
            if black == "1":
                row, column = divmod(cell, 3)
                x, y = left + BLOCK * (4 * place + column), SCORE_TOP + BLOCK * row
                _fill(picture, x, y, BLOCK, BLOCK, SCORE)


def _fill(picture: np.ndarray, left: float, top: float, width: int, height: int, colour: tuple[int, int, int]) -> None:
    """A rectangle, as far as it is inside the picture; places that are no numbers are nowhere."""
    if not (np.isfinite(left) and np.isfinite(top)):
        return
    x, y = int(left), int(top)
    picture[max(y, 0) : max(y + height, 0), max(x, 0) : max(x + width, 0)] = colour
