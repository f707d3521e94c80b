"""What games should reach: a full board, and each line of four about to be completed."""

from typing import Any

import numpy as np

from lockstep import Array, Trajectory, feature

HEIGHT, WIDTH, LINE = 6, 7, 4
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))


def _lines() -> Array:
    """The cells of each line, `[69, LINE]`."""
    lines = [
        [(row + step * up) * WIDTH + column + step * right for step in range(LINE)]
        for row in range(HEIGHT)
        for column in range(WIDTH)
        for up, right in WAYS
        if row + (LINE - 1) * up < HEIGHT and 0 <= column + (LINE - 1) * right < WIDTH
    ]
    return np.array(lines)


def _line_feature(cells: Array) -> Any:
    """Declares that whoever moves can complete this line at once."""
    below = cells - WIDTH

    def check(trajectory: Trajectory) -> Array:
        board = trajectory.leaves["state/board"].reshape(trajectory.timesteps, -1)
        line = board[:, cells]
        own = np.sum(line == trajectory.leaves["state/mover"][:, None], axis=1) == LINE - 1
        playable = (line == 0) & ((below < 0) | (board[:, below] != 0))
        return own & np.any(playable, axis=1)

    check.__name__ = f"the_line_{'_'.join(map(str, cells))}_can_be_completed"
    return feature(check)


@feature
def the_board_is_full(trajectory: Trajectory) -> Array:
    return np.all(trajectory.leaves["state/board"] != 0, axis=(1, 2))


globals().update((f"line_{number}", _line_feature(cells)) for number, cells in enumerate(_lines()))
