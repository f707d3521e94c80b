"""A reference that is slow on purpose: each step spends a millisecond of processor time."""

import time

STEP_SECONDS = 1e-3


class Slow:
    """Counts its steps, adds up its actions."""

    def __init__(self):
        self._count = 0

    def spec(self):
        number = {"dtype": "int32", "shape": []}
        flag = {"dtype": "bool", "shape": []}
        return {
            "leaves": {
                "state/count": number,
                "observation": number,
                "reward": {"dtype": "float32", "shape": []},
                "terminated": flag,
                "truncated": flag,
                "action": {"dtype": "int32", "shape": [], "low": 0, "high": 1},
            },
            "capabilities": ["restore"],
        }

    def reset(self, seed):
        self._count = 0
        return self._row(0.0)

    def step(self, action):
        end = time.process_time() + STEP_SECONDS
        while time.process_time() < end:
            pass
        self._count += 1
        return self._row(float(action))

    def restore(self, state):
        self._count = int(state["state/count"])
        return self._row(0.0)

    def _row(self, reward):
        return {
            "state/count": self._count,
            "observation": 2 * self._count,
            "reward": reward,
            "terminated": False,
            "truncated": self._count >= 100,
        }
