"""Nim: from 21 stones two players take one to three in turns. Who takes the last one loses; illegal moves lose at once."""

import numpy as np

STONES = 21


class Nim:
    def spec(self):
        whole, number, flag = ({"dtype": dtype, "shape": []} for dtype in ("int32", "float32", "bool"))
        return {
            "leaves": {
                "state/stones": whole,
                "state/mover": whole,
                "observation": whole,
                "to_move": whole,
                "legal_actions": {"dtype": "bool", "shape": [3]},
                "reward/first": number,
                "reward/second": number,
                "terminated": flag,
                "truncated": flag,
                "action": {"dtype": "int32", "shape": [], "low": 1, "high": 3},
            },
            "capabilities": ["restore"],
        }

    def reset(self, seed, draws=None):
        self._stones, self._mover = STONES, 0
        return self._timestep(None)

    def step(self, action, draws=None):
        taken, mover = int(action), self._mover
        illegal = taken > self._stones
        self._stones = max(0, self._stones - taken)
        self._mover = 1 - mover
        return self._timestep(mover if illegal or not self._stones else None, illegal)

    def restore(self, state):
        self._stones, self._mover = int(state["state/stones"]), int(state["state/mover"])
        return self._timestep(None)

    def _timestep(self, loser, ended=False):
        rewards = [0.0, 0.0] if loser is None else [-1.0, 1.0] if loser == 0 else [1.0, -1.0]
        return {
            "state/stones": self._stones,
            "state/mover": self._mover,
            "observation": self._stones,
            "to_move": self._mover,
            "legal_actions": np.array([taken <= self._stones for taken in (1, 2, 3)]),
            "reward/first": rewards[0],
            "reward/second": rewards[1],
            "terminated": loser is not None,
            "truncated": False,
        }
