"""A sum of actions, added up by C code."""

import ctypes
import sys
from pathlib import Path

NUMBER = {"dtype": "int32", "shape": []}


class Tally:
    def __init__(self):
        self._added = ctypes.CDLL(str(Path(sys.prefix) / "lib" / "tally.so")).added
        self._sum = 0

    def spec(self):
        leaves = {"state/sum": NUMBER, "observation": NUMBER, "reward": {"dtype": "float32", "shape": []}}
        leaves.update({name: {"dtype": "bool", "shape": []} for name in ("terminated", "truncated")})
        leaves["action"] = dict(NUMBER, low=0, high=9)
        return {"leaves": leaves, "capabilities": []}

    def reset(self, seed):
        self._sum = 0
        return self._row(0.0)

    def step(self, action):
        self._sum = self._added(self._sum, int(action))
        return self._row(float(action))

    def _row(self, reward):
        state = {"state/sum": self._sum, "observation": self._sum}
        return {**state, "reward": reward, "terminated": self._sum > 100, "truncated": False}
