"""A walker in gusts, small enough to reason about: the reference of the tests of the levels.

Action 0 goes left, 1 goes right, 2 lets the wind decide: only then a gust is drawn. The walk fails outside of [-5, 5] and is
cut after 40 steps. Options switch capabilities off, and choose where chance comes from.
"""

import numpy as np

ALL = ("restore", "probe", "draws", "force_draws")


class Walk:
    def __init__(self, without=(), chance="tape"):
        self._capabilities = [name for name in ALL if name not in without]
        self._chance = chance
        self._taken = []
        self._rng = np.random.RandomState(0)
        self._word = 0
        self._place, self._steps = 0.0, 0
        self.policies = {"right": lambda row, rng: 1}

    def spec(self):
        number, count = {"dtype": "float64", "shape": []}, {"dtype": "int32", "shape": []}
        flag, action = {"dtype": "bool", "shape": []}, {"dtype": "int32", "shape": [], "low": 0, "high": 2}
        leaves = {"state/place": number, "state/steps": count}
        if self._chance == "shared":
            leaves["state/word"] = {"dtype": "uint32", "shape": []}
        leaves.update({"observation": {"dtype": "float32", "shape": [2]}, "reward": {"dtype": "float32", "shape": []}})
        leaves.update({"terminated": flag, "truncated": flag, "action": action})
        gust = {"gust": dict(number, at="step")} if self._chance in ("tape", "law") else {}
        return {
            "leaves": leaves,
            "capabilities": self._capabilities,
            "probes": {"ending": {"inputs": {"place": number, "steps": count}, "outputs": {"over": flag}}}
            if "probe" in self._capabilities
            else {},
            "draws": gust,
            "policies": ["right"],
        }

    def reset(self, seed, draws=None):
        if draws:
            raise ValueError("a reset draws nothing")
        self._rng = np.random.RandomState(seed % (1 << 32))
        self._word = seed % (1 << 32)
        self._taken = []
        self._place, self._steps = 0.0, 0
        return self._row(0.0)

    def step(self, action, draws=None):
        before = self._place
        if action == 2:
            self._place += self._gust(draws)
        else:
            if draws:
                raise ValueError("a draw is left over")
            self._place += 1.0 if action == 1 else -1.0
        self._steps += 1
        return self._row(abs(self._place) - abs(before))

    def restore(self, state):
        self._place, self._steps = float(state["state/place"]), int(state["state/steps"])
        self._word = int(state.get("state/word", 0))
        return self._row(0.0)

    def probe(self, name, inputs):
        return {"over": abs(float(inputs["place"])) > 5.0 or int(inputs["steps"]) >= 40}

    def take_draws(self):
        taken, self._taken = self._taken, []
        return taken

    def _gust(self, draws):
        if self._chance == "none":
            return 0.25
        if self._chance == "shared":
            self._word = (1664525 * self._word + 1013904223) % (1 << 32)
            return self._word / float(1 << 32) - 0.5
        if draws is None:
            value = self._rng.normal()
        else:
            if [name for name, _ in draws] != ["gust"]:
                raise ValueError("one gust is drawn here")
            value = float(draws[0][1])
        self._taken.append(("gust", np.float64(value)))
        return value

    def _row(self, reward):
        row = {
            "state/place": self._place,
            "state/steps": self._steps,
            "observation": np.array([self._place, self._steps], dtype=np.float32),
            "reward": reward,
            "terminated": abs(self._place) > 5.0,
            "truncated": self._steps >= 40,
        }
        if self._chance == "shared":
            row["state/word"] = np.uint32(self._word)
        return row
