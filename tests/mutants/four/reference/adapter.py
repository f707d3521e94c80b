"""Four in a row: discs fall into seven columns; four of one side in a line win, a full board without them is a draw."""

import numpy as np

HEIGHT, WIDTH, LINE = 6, 7, 4
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))


class Four:
    def __init__(self):
        self._clear()

    def spec(self):
        board, mover = {"dtype": "int8", "shape": [HEIGHT, WIDTH]}, {"dtype": "int8", "shape": []}
        flag = {"dtype": "bool", "shape": []}
        return {
            "leaves": {
                "state/board": board,
                "state/mover": mover,
                "observation": board,
                "legal_actions": {"dtype": "bool", "shape": [WIDTH]},
                "reward": {"dtype": "float32", "shape": []},
                "terminated": flag,
                "truncated": flag,
                "action": {"dtype": "int32", "shape": [], "low": 0, "high": WIDTH - 1},
            },
            "capabilities": ["restore"],
        }

    def reset(self, seed, draws=None):
        self._clear()
        return self._row(0.0, False)

    def step(self, action, draws=None):
        column, mover = int(action), self._mover
        row = next((r for r in range(HEIGHT) if self._board[r][column] == 0), None)
        if row is None:
            raise ValueError(f"column {column} is full")
        self._board[row][column] = mover
        won = any(self._wins(row, column, way, mover) for way in WAYS)
        self._mover = 3 - mover
        full = all(self._board[HEIGHT - 1])
        return self._row((1.0 if mover == 1 else -1.0) if won else 0.0, won or full)

    def restore(self, state):
        self._board = np.asarray(state["state/board"]).tolist()
        self._mover = int(state["state/mover"])
        return self._row(0.0, False)

    def _clear(self):
        self._board = [[0] * WIDTH for _ in range(HEIGHT)]
        self._mover = 1

    def _wins(self, row, column, way, mover):
        length = 1
        for sign in (1, -1):
            r, c = row + sign * way[0], column + sign * way[1]
            while 0 <= r < HEIGHT and 0 <= c < WIDTH and self._board[r][c] == mover:
                length, r, c = length + 1, r + sign * way[0], c + sign * way[1]
        return length >= LINE

    def _row(self, reward, over):
        board = np.array(self._board, np.int8)
        return {
            "state/board": board,
            "state/mover": np.int8(self._mover),
            "observation": board,
            "legal_actions": np.array([cell == 0 for cell in self._board[HEIGHT - 1]]),
            "reward": np.float32(reward),
            "terminated": over,
            "truncated": False,
        }
