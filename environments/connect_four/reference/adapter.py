"""Connect Four of PettingZoo as a Lockstep reference.

Everything that a move decides is decided by PettingZoo's own code, `connect_four_v3.env()` with its three wrappers. The
adapter only puts values in (boards, the player to move) and reads values out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo.classic.connect_four.connect_four import env as make
from pettingzoo.utils.env_logger import EnvLogger
from policies import POLICIES

PLAYERS = ("player_0", "player_1")
ROWS, COLUMNS = 6, 7
CELLS = ROWS * COLUMNS
BOARD = "state/board"
MOVER = "state/mover"


class ConnectFour:
    """One game behind the protocol. A step is one move, by the player whose turn it is."""

    def __init__(self) -> None:
        EnvLogger.suppress_output()  # a line for each illegal move
        self._env = make()
        _begin(self._env)
        self._game = self._env.unwrapped
        self._probed = make()
        self.policies = POLICIES

    def spec(self) -> dict[str, Any]:
        """What task.toml declares, as this adapter provides it."""
        flag, number = {"dtype": "bool", "shape": []}, {"dtype": "float32", "shape": []}
        board = {"dtype": "int8", "shape": [ROWS, COLUMNS]}
        mover = {"dtype": "int32", "shape": []}
        column = {"dtype": "int64", "shape": [], "low": 0, "high": COLUMNS - 1}
        leaves: dict[str, Any] = {BOARD: board, MOVER: mover, "to_move": mover}
        for player in PLAYERS:
            leaves["observation/" + player] = {"dtype": "int8", "shape": [ROWS, COLUMNS, 2]}
            leaves["reward/" + player] = number
        leaves["legal_actions"] = {"dtype": "bool", "shape": [COLUMNS]}
        leaves.update({"terminated": flag, "truncated": flag, "action": column})
        return {
            "leaves": leaves,
            "capabilities": ["restore", "probe"],
            "probes": {
                "drop": {"inputs": {"board": board, "mover": mover, "action": column}, "outputs": {"board": board}},
                "four": {"inputs": {"board": board, "mover": mover}, "outputs": {"four": flag}},
            },
            "policies": sorted(self.policies),
        }

    def reset(self, seed: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """An empty board, and the first player's turn, whatever the seed is."""
        _begin(self._env, seed)
        return self._row()

    def step(self, action: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """One move. After it, both players are alive or both are not."""
        self._env.step(int(action))
        return self._row()

    def restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Go on from a board that is in play, as if its game had led there."""
        if np.all(np.asarray(state[BOARD])[0] != 0):
            raise ValueError("the game is over: no column has an empty cell at its top")
        _put(self._env, state[BOARD], int(state[MOVER]))
        return self._row()

    def probe(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Ask one rule of the real code, in a game apart so that no episode is disturbed."""
        game = _put(self._probed, inputs["board"], int(inputs["mover"]))
        if name == "four":
            return {"four": bool(game.check_for_winner())}
        if name == "drop":
            # The wrappers take an illegal move out before it reaches the game: the board stays.
            self._probed.step(int(inputs["action"]))
            return {"board": _board(game)}
        raise ValueError("Connect Four has no probe {!r}".format(name))

    def close(self) -> None:
        """Release both games."""
        self._env.close()
        self._probed.close()

    def _row(self) -> dict[str, Any]:
        game = self._game
        mover = PLAYERS.index(game.agent_selection)
        row: dict[str, Any] = {BOARD: _board(game), MOVER: mover, "to_move": mover}
        for player in PLAYERS:
            seen = self._env.observe(player)
            row["observation/" + player] = seen["observation"]
            row["reward/" + player] = float(game.rewards[player])
            if player == game.agent_selection:
                row["legal_actions"] = seen["action_mask"].astype(bool)
        row["terminated"] = all(game.terminations.values())
        row["truncated"] = all(game.truncations.values())
        return row


def _board(game: Any) -> np.ndarray:
    """0 where a cell is empty, 1 and 2 where a stone of the first and of the second player is; the top row first."""
    return np.array(game.board, dtype=np.int8).reshape(ROWS, COLUMNS)


def _begin(env: Any, seed: int = 0) -> None:
    EnvLogger.flush()  # it keeps a line for each illegal move, for ever
    env.reset(seed=seed)


def _put(env: Any, board: Any, mover: int) -> Any:
    _begin(env)
    game = env.unwrapped
    game.board = [int(cell) for cell in np.asarray(board).reshape(CELLS)]
    for _ in range(mover):
        game.agent_selection = game._agent_selector.next()
    return game
