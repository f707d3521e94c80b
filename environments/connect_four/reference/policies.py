"""Scripted players that bring games where random play hardly ever gets: to a full board, and to its last stone."""

from __future__ import annotations

from typing import Any

import numpy as np

ROWS, COLUMNS = 6, 7
LINES = [
    [(row + n * down, column + n * across) for n in range(4)]
    for row in range(ROWS)
    for column in range(COLUMNS)
    for down, across in ((0, 1), (1, 0), (1, 1), (-1, 1))
    if 0 <= row + 3 * down < ROWS and column + 3 * across < COLUMNS
]
BY_CELL = {
    (row, column): [line for line in LINES if (row, column) in line] for row in range(ROWS) for column in range(COLUMNS)
}


def rival(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Complete a line of four if one move does it, stop the other's if one move does it, else move at random."""
    board, mover = row["state/board"], int(row["to_move"])
    moves = _moves(board)
    for stone in (mover + 1, 2 - mover):
        winning = [column for column, cell in moves.items() if _completes(board, cell, stone)]
        if winning:
            return winning[rng.randint(len(winning))]
    return _any(list(moves), rng)


def peaceful(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Complete no line as long as there is another move: most boards fill up, and the last stones are forced."""
    board, mover = row["state/board"], int(row["to_move"])
    moves = _moves(board)
    quiet = [column for column, cell in moves.items() if not _completes(board, cell, mover + 1)]
    # A move above which the other could complete a line leaves fewer quiet moves later.
    open_above = [column for column in quiet if not _gives(board, moves[column], mover)]
    return _any(open_above or quiet or list(moves), rng)


POLICIES = {"rival": rival, "peaceful": peaceful}


def _moves(board: np.ndarray) -> dict[int, tuple[int, int]]:
    """Where a stone comes to rest, by column; the lowest empty cell counts, also under a stone."""
    return {
        column: (int(np.flatnonzero(board[:, column] == 0)[-1]), column)
        for column in range(COLUMNS)
        if board[0, column] == 0
    }


def _completes(board: np.ndarray, cell: tuple[int, int], stone: int) -> bool:
    return any(all(board[at] == stone for at in line if at != cell) for line in BY_CELL[cell])


def _gives(board: np.ndarray, cell: tuple[int, int], mover: int) -> bool:
    above = (cell[0] - 1, cell[1])
    return above[0] >= 0 and board[above] == 0 and _completes(board, above, 2 - mover)


def _any(columns: list[int], rng: np.random.RandomState) -> int:
    return columns[rng.randint(len(columns))] if columns else 0
