"""Level 2 of Connect Four: short sequences that begin just before what random games hardly ever come to."""

from typing import Any

import hypothesis.strategies as st

from lockstep import Task, sequence

ROWS, COLUMNS = 6, 7
Board = list[list[int]]
ANY_COLUMNS = st.lists(st.integers(0, COLUMNS - 1), min_size=1, max_size=8)
NO_FOUR = [[(column // 2 + row) % 2 + 1 for column in range(COLUMNS)] for row in range(ROWS)]
"""A full board without four in a line, 21 stones of each player."""


def _case(board: Board, mover: int, columns: list[int]) -> dict[str, Any]:
    return {"start": {"state/board": board, "state/mover": mover}, "actions": columns}


def _without_tops(gone: list[int], swapped: bool) -> Board:
    """The full board with as many cells of each column taken off as `gone` says; stones of the other colour if `swapped`."""
    return [
        [0 if row < gone[column] else (3 - stone if swapped else stone) for column, stone in enumerate(stones)]
        for row, stones in enumerate(NO_FOUR)
    ]


def _with_room(gone: list[int], column: int) -> list[int]:
    """The same with a cell taken off this column at least: a game that goes on has one."""
    return [max(cells, 1) if at == column else cells for at, cells in enumerate(gone)]


@sequence("the last cells of a board without a line")
def last_cells(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def build(column: int, gone: list[int], swapped: bool, mover: int, order: Any) -> dict[str, Any]:
        gone = _with_room(gone, column)
        columns = [at for at, cells in enumerate(gone) for _ in range(cells)]
        order.shuffle(columns)
        return _case(_without_tops(gone, swapped), mover, columns)

    few = st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=COLUMNS, max_size=COLUMNS)
    return st.builds(
        build, st.integers(0, COLUMNS - 1), few, st.booleans(), st.integers(0, 1), st.randoms(use_true_random=False)
    )


@sequence("into full columns")
def into_full_columns(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def build(column: int, gone: list[int], mover: int, columns: list[int]) -> dict[str, Any]:
        return _case(_without_tops(_with_room(gone, column), False), mover, columns)

    some = st.lists(st.integers(0, 3), min_size=COLUMNS, max_size=COLUMNS)
    return st.builds(build, st.integers(0, COLUMNS - 1), some, st.integers(0, 1), ANY_COLUMNS)


@sequence("a line of four on an empty board")
def one_line(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """One player has all cells of a line but one, on the other's stones where it rises. The first move completes it."""

    def build(line: tuple[int, int, int, int], gap: int, mover: int, after: list[int]) -> dict[str, Any]:
        row, column, down, across = line
        cells = [(row + n * down, column + n * across) for n in range(4)]
        board = [[0] * COLUMNS for _ in range(ROWS)]
        for at, (top, beside) in enumerate(cells):
            for below in range(top + 1, ROWS):
                if (below, beside) not in cells:
                    board[below][beside] = 2 - mover
            if at != gap:
                board[top][beside] = mover + 1
        return _case(board, mover, [cells[gap][1], *after])

    lines = [
        (row, column, down, across)
        for row in range(ROWS)
        for column in range(COLUMNS)
        for down, across in ((0, 1), (1, 1), (-1, 1))
        if 0 <= row + 3 * down < ROWS and column + 3 * across < COLUMNS
    ]
    return st.builds(build, st.sampled_from(lines), st.integers(0, 3), st.integers(0, 1), ANY_COLUMNS)


@sequence("stones at the top of empty columns")
def at_the_top(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """No game comes to them, but the reference looks at the top cell alone to see whether a column has room."""

    def build(tops: list[int], mover: int, columns: list[int]) -> dict[str, Any]:
        return _case([tops, *([0] * COLUMNS for _ in range(ROWS - 1))], mover, columns)

    tops = st.lists(st.integers(0, 2), min_size=COLUMNS, max_size=COLUMNS)
    return st.builds(build, tops, st.integers(0, 1), ANY_COLUMNS)


@sequence("any moves from the beginning")
def any_moves(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Also into full columns, which policies never do."""
    narrow = st.integers(0, COLUMNS - 1).flatmap(
        lambda column: st.lists(st.sampled_from([column, column, 0, 6]), min_size=7, max_size=20)
    )
    wide = st.lists(st.integers(0, COLUMNS - 1), min_size=1, max_size=20)
    return (narrow | wide).map(lambda columns: {"seed": 0, "actions": columns})
