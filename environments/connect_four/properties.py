"""Level 1 of Connect Four: what is true of every game, what games should reach, and where its probes are asked."""

from typing import Any

import hypothesis.strategies as st
import numpy as np

from lockstep import Array, Trajectory, feature, generator, invariant

ROWS, COLUMNS = 6, 7
CELLS = ROWS * COLUMNS


def _board(trajectory: Trajectory) -> Array:
    return trajectory.leaves["state/board"]


def _rewards(trajectory: Trajectory) -> Array:
    """Of both players, one row for each timestep."""
    return np.stack([trajectory.leaves[f"reward/player_{player}"] for player in range(2)], axis=1)


def _stones(trajectory: Trajectory) -> Array:
    return np.count_nonzero(_board(trajectory), axis=(1, 2))


def _after_first(rows: Array) -> Array:
    """One truth for each row from one for each step; a first row has no step that could break it."""
    return np.concatenate([[True], rows])


def _movers(trajectory: Trajectory) -> Array:
    """Who made each step."""
    return trajectory.leaves["state/mover"][:-1]


# --- drop -------------------------------------------------------------------------------------------------------------


@invariant(module="drop")
def a_legal_move_adds_one_stone_of_the_mover_and_no_other_cell_changes(trajectory: Trajectory) -> Array:
    board = _board(trajectory)
    changed = board[1:] != board[:-1]
    placed = np.where(changed, board[1:], 0).sum(axis=(1, 2))
    legal = ~trajectory.leaves["truncated"][1:]
    return _after_first((changed.sum(axis=(1, 2)) == legal) & (placed == np.where(legal, _movers(trajectory) + 1, 0)))


@invariant(module="drop")
def a_stone_has_no_empty_cell_below_it_in_its_column(trajectory: Trajectory) -> Array:
    board = _board(trajectory)
    new = (board[1:] != board[:-1])[:, :-1]
    return _after_first(~np.any(new & (board[:-1, 1:] == 0), axis=(1, 2)))


# --- end --------------------------------------------------------------------------------------------------------------


@invariant(module="end")
def a_game_ends_by_a_win_a_full_board_or_an_illegal_move(trajectory: Trajectory) -> Array:
    leaves = trajectory.leaves
    full = np.all(_board(trajectory)[1:] != 0, axis=(1, 2))
    won = _rewards(trajectory)[1:].max(axis=1) == 1
    return _after_first(leaves["terminated"][1:] == (full | won | leaves["truncated"][1:]))


@invariant(module="end")
def what_a_winner_gets_the_other_loses_and_an_illegal_move_costs_only_who_made_it(trajectory: Trajectory) -> Array:
    rewards, rows = _rewards(trajectory)[1:], np.arange(trajectory.steps)
    mover = _movers(trajectory)
    earned, other = rewards[rows, mover], rewards[rows, 1 - mover]
    illegal = trajectory.leaves["truncated"][1:]
    return _after_first(np.where(illegal, (earned == -1) & (other == 0), (other == -earned) & (earned >= 0)))


@invariant(module="end")
def players_take_turns_and_after_an_illegal_move_the_first_is_named(trajectory: Trajectory) -> Array:
    following = trajectory.leaves["state/mover"][1:]
    expected = np.where(trajectory.leaves["truncated"][1:], 0, 1 - _movers(trajectory))
    return _after_first(following == expected)


# --- views ------------------------------------------------------------------------------------------------------------


@invariant(module="views")
def each_player_sees_the_own_stones_first(trajectory: Trajectory) -> Array:
    planes = np.stack([_board(trajectory) == stone for stone in (1, 2)], axis=-1)
    seen = [trajectory.leaves[f"observation/player_{player}"] for player in range(2)]
    return np.all((seen[0] == planes) & (seen[1] == planes[..., ::-1]), axis=(1, 2, 3))


@invariant(module="views")
def a_column_may_be_chosen_as_long_as_its_top_cell_is_empty(trajectory: Trajectory) -> Array:
    return np.all(trajectory.leaves["legal_actions"] == (_board(trajectory)[:, 0] == 0), axis=1)


# --- what games should reach ------------------------------------------------------------------------------------------


def _ended(trajectory: Trajectory) -> Array:
    return trajectory.leaves["terminated"] & ~trajectory.leaves["truncated"]


@feature
def a_draw(trajectory: Trajectory) -> Array:
    return _ended(trajectory) & np.all(_rewards(trajectory) == 0, axis=1)


@feature
def a_win_with_the_last_stone(trajectory: Trajectory) -> Array:
    return _ended(trajectory) & (_rewards(trajectory)[:, 1] == 1) & (_stones(trajectory) == CELLS)


@feature
def one_column_is_left(trajectory: Trajectory) -> Array:
    return np.count_nonzero(trajectory.leaves["legal_actions"], axis=1) == 1


# --- where the probes are asked ---------------------------------------------------------------------------------------

_CELLS = st.integers(0, 2)
_BOARDS = st.lists(st.lists(_CELLS, min_size=COLUMNS, max_size=COLUMNS), min_size=ROWS, max_size=ROWS)
_LINES = [
    [(row + n * down, column + n * across) for n in range(4)]
    for row in range(ROWS)
    for column in range(COLUMNS)
    for down, across in ((0, 1), (1, 0), (1, 1), (-1, 1))
    if 0 <= row + 3 * down < ROWS and column + 3 * across < COLUMNS
]


def _with_a_line(line: list[tuple[int, int]], stones: list[int]) -> list[list[int]]:
    """A board that is empty but for the four cells of one line."""
    board = [[0] * COLUMNS for _ in range(ROWS)]
    for (row, column), stone in zip(line, stones, strict=True):
        board[row][column] = stone
    return board


def _lines() -> st.SearchStrategy[list[list[int]]]:
    """A line of four, or three of it, and nothing else: a rule that leaves out one line is seen there alone."""
    whole = st.sampled_from([[1] * 4, [2] * 4])
    broken = st.builds(
        lambda stone, gap, instead: [instead if n == gap else stone for n in range(4)],
        st.integers(1, 2), st.integers(0, 3), _CELLS,
    )  # fmt: skip
    return st.builds(_with_a_line, st.sampled_from(_LINES), whole | broken)


def _games() -> st.SearchStrategy[list[list[int]]]:
    """A board as moves fill it."""
    return st.lists(st.integers(0, COLUMNS - 1), max_size=CELLS).map(_played)


def _played(columns: list[int]) -> list[list[int]]:
    board, stone = [[0] * COLUMNS for _ in range(ROWS)], 1
    for column in columns:
        empty = [row for row in range(ROWS) if board[row][column] == 0]
        if empty:
            board[empty[-1]][column] = stone
            stone = 3 - stone
    return board


@generator("drop")
def drop_inputs() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"board": _BOARDS | _games(), "mover": st.integers(0, 1), "action": st.integers(0, COLUMNS - 1)}
    )


@generator("four")
def four_inputs() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"board": _BOARDS | _games() | _lines() | _lines(), "mover": st.integers(0, 1)})
