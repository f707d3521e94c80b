"""Scripted players, so that games of every kind are seen: won levels, lost lives. Other cartridges get buttons at random."""

from __future__ import annotations

from typing import Any

import numpy as np

NOTHING, RIGHT, LEFT, A = 0, 1, 2, 5
ACTIONS = 16
BRICKS, METEORS = 0, 1
NOISE = 0.05
MASHING = 0.2
# Places in work memory, as roms/README.md has them.
PADDLE, BALL_X, SERVE = 0x14, 0x15, 0x19
SHIP_X, SHIP_Y, FALL, METEOR_BYTES, METEORS_AT_MOST = 0x14, 0x15, 0x1C, 4, 16
PADDLE_CENTRE, SLACK = 10, 4
DANGER_ABOVE, DANGER_BELOW, DANGER_ASIDE = 40, 8, 12
FIELD_CENTRE = 80


def play(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Meet the ball, dodge the meteors."""
    game = row["state/cartridge/inserted"]
    if game not in (BRICKS, METEORS):
        return int(rng.randint(ACTIONS)) if rng.random_sample() < MASHING else NOTHING
    if rng.random_sample() < NOISE:
        return int(rng.randint(ACTIONS))
    memory = row["state/memory/wram"]
    return _meet(memory) if game == BRICKS else _dodge(memory)


def idle(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Hold nothing: games are lost by themselves, and the other cartridges run as they do without a player."""
    return NOTHING


def _meet(memory: np.ndarray) -> int:
    if memory[SERVE]:
        return A
    distance = int(memory[BALL_X]) - PADDLE_CENTRE - int(memory[PADDLE])
    if abs(distance) < SLACK:
        return NOTHING
    return RIGHT if distance > 0 else LEFT


def _dodge(memory: np.ndarray) -> int:
    falling = memory[FALL : FALL + METEOR_BYTES * METEORS_AT_MOST].reshape(-1, METEOR_BYTES).astype(int)
    x, y = int(memory[SHIP_X]), int(memory[SHIP_Y])
    below, aside = falling[:, 0] - y, abs(falling[:, 1] - x)
    near = falling[(below > -DANGER_ABOVE) & (below < DANGER_BELOW) & (aside < DANGER_ASIDE)]
    if not len(near):
        return NOTHING
    middle = near[:, 1].mean()
    if middle == x:
        return RIGHT if x < FIELD_CENTRE else LEFT
    return RIGHT if middle < x else LEFT
