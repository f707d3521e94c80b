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


LINES = _lines()
_completable: dict[int, tuple[Trajectory, Array]] = {}
"""Of the last trajectories, by their identity: which lines can be completed, `[timesteps, 69]`, asked by 69 features."""
MOST = 512


def _lines_to_complete(trajectory: Trajectory) -> Array:
    found = _completable.get(id(trajectory))
    if found is not None and found[0] is trajectory:
        return found[1]
    board = trajectory.leaves["state/board"].reshape(trajectory.timesteps, -1)
    below = np.concatenate([np.ones((len(board), WIDTH), bool), board[:, :-WIDTH] != 0], axis=1)
    playable = (board == 0) & below
    own = board == trajectory.leaves["state/mover"][:, None]
    can = (own[:, LINES].sum(axis=2) == LINE - 1) & playable[:, LINES].any(axis=2)
    if len(_completable) >= MOST:
        _completable.clear()
    _completable[id(trajectory)] = trajectory, can
    return can


def _line_feature(number: int) -> Any:
    """Declares that whoever moves can complete this line at once."""

    def check(trajectory: Trajectory) -> Array:
        return _lines_to_complete(trajectory)[:, number]

    check.__name__ = f"the_line_{'_'.join(map(str, LINES[number]))}_can_be_completed"
    return feature(check)


@feature
def the_board_is_full(trajectory: Trajectory) -> Array:
    return np.all(trajectory.leaves["state/board"] != 0, axis=(1, 2))


globals().update((f"line_{number}", _line_feature(number)) for number in range(len(LINES)))
