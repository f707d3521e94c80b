"""An environment with several action leaves, some masked and one an array, and no draws: for what the walker has not."""

import numpy as np


class Duel:
    """Two players each take a number that they have not taken yet; `aim` goes along and is summed up."""

    def spec(self):
        flag = {"dtype": "bool", "shape": []}
        mask = {"dtype": "bool", "shape": [4]}
        return {
            "leaves": {
                "observation": {"dtype": "float32", "shape": [2]},
                "action/left": {"dtype": "int64", "shape": [], "low": 0, "high": 3},
                "action/right": {"dtype": "int8", "shape": [], "low": 1, "high": 4},
                "action/aim": {"dtype": "float32", "shape": [2], "low": -1.0, "high": 1.0},
                "legal_actions/left": mask,
                "legal_actions/right": mask,
                "reward": {"dtype": "float64", "shape": [2]},
                "terminated": flag,
                "truncated": flag,
            }
        }

    def reset(self, seed):
        self.open = {"left": np.ones(4, bool), "right": np.ones(4, bool)}
        self.aim = np.zeros(2, np.float32)
        return self.timestep(np.zeros(2))

    def step(self, action):
        left, right = action["action/left"], action["action/right"] - 1
        if not self.open["left"][left] or not self.open["right"][right]:
            raise ValueError("this number is taken")
        self.open["left"][left] = self.open["right"][right] = False
        self.aim += action["action/aim"]
        return self.timestep(np.array([left, right], np.float64))

    def timestep(self, reward):
        return {
            "observation": self.aim.copy(),
            "legal_actions/left": self.open["left"].copy(),
            "legal_actions/right": self.open["right"].copy(),
            "reward": reward,
            "terminated": not self.open["left"].any(),
            "truncated": False,
        }


class Stuck(Duel):
    """Says that it goes on when nothing is legal any more."""

    def timestep(self, reward):
        return dict(super().timestep(reward), terminated=False)
