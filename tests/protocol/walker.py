"""A small environment of our own with everything that the protocol knows, as an adapter for `harness.protocol.worker`.

A walker on a line tries to leave it. It starts at a drawn place, and where it stands on an even field a gust, also drawn,
moves it. It runs under any Python that the worker runs under, so it keeps to Python 3.8 and numpy.
"""

import numpy as np

EDGE = 5
HORIZON = 12


class Walker:
    """The adapter as it should be; tests/protocol/faulty.py breaks it in one place at a time."""

    def __init__(self, edge=EDGE):
        self.edge = edge
        self.taken = []
        self.forced = None
        self.policies = {"outward": lambda timestep, rng: 2 if timestep["state/place"] >= 0 else 0}

    def spec(self):
        real = {"dtype": "float64"}
        place = {"dtype": "int64", "low": -EDGE, "high": EDGE}
        action = {"dtype": "int64", "shape": [], "low": 0, "high": 2}
        return {
            "leaves": {
                "observation/place": {"dtype": "float32", "shape": [2], "low": -8.0, "high": 8.0},
                "observation/even": {"dtype": "bool", "shape": []},
                "action": action,
                "reward": {"dtype": "float64", "shape": []},
                "terminated": {"dtype": "bool", "shape": []},
                "truncated": {"dtype": "bool", "shape": []},
                "state/place": dict(place, shape=[]),
                "state/steps": {"dtype": "int32", "shape": []},
                "state/slope": dict(real, shape=[]),
            },
            "capabilities": ["restore", "probe", "draws", "force_draws", "render"],
            "probes": {
                "move": {
                    "inputs": {"place": dict(place, shape=[]), "action": action},
                    "outputs": {"place": dict(place, shape=[])},
                }
            },
            "draws": {
                "start": {"dtype": "int64", "shape": [], "at": "reset"},
                "slope": {"dtype": "float64", "shape": [], "at": "reset"},
                "gust": {"dtype": "int64", "shape": [], "at": "step"},
            },
            "policies": ["outward"],
        }

    def reset(self, seed, draws=None):
        self.rng = np.random.RandomState(seed % 2**32)
        self.taken = []
        self.forced = None if draws is None else list(draws)
        self.place = int(self.draw("start", lambda: self.rng.randint(-2, 3)))
        self.slope = float(self.draw("slope", self.rng.random_sample))
        self.steps = 0
        return self.timestep(0.0, draws)

    def step(self, action, draws=None):
        self.forced = None if draws is None else list(draws)
        self.place = self.move(self.place, action)
        if self.place % 2 == 0:
            self.place += int(self.draw("gust", lambda: self.rng.randint(-1, 2)))
        self.steps += 1
        return self.timestep(self.place * self.slope, draws)

    def restore(self, state):
        self.place = int(state["state/place"])
        self.steps = int(state["state/steps"])
        self.slope = float(state["state/slope"])
        self.rng = np.random.RandomState(7)
        return self.timestep(0.0, None, ended=False)

    def probe(self, name, inputs):
        return {"place": self.move(int(inputs["place"]), int(inputs["action"]))}

    def render(self):
        picture = np.zeros((4, 4 * EDGE, 3), np.uint8)
        picture[:, max(0, min(2 * self.place + 2 * EDGE, 4 * EDGE - 1))] = (255, 200, 0)
        return picture

    def take_draws(self):
        taken, self.taken = self.taken, []
        return taken

    def move(self, place, action):
        return place + action - 1

    def draw(self, name, chance):
        if self.forced is None:
            value = chance()
        else:
            if not self.forced or self.forced[0][0] != name:
                raise ValueError(f"the tape has no {name} here")
            value = self.forced.pop(0)[1]
        self.taken.append((name, np.asarray(value)))
        return value

    def timestep(self, reward, draws, ended=True):
        if draws is not None and self.forced:
            raise ValueError(f"the tape has {len(self.forced)} draws left over")
        return {
            "observation/place": np.array([self.place, self.place * self.slope], np.float32),
            "observation/even": self.place % 2 == 0,
            "reward": reward,
            "terminated": ended and abs(self.place) >= self.edge,
            "truncated": ended and self.steps >= HORIZON,
            "state/place": self.place,
            "state/steps": self.steps,
            "state/slope": self.slope,
        }


class TakesAnyOrder(Walker):
    """Looks for a draw by its name wherever it is on the tape: as good."""

    def draw(self, name, chance):
        for index, (given, _) in enumerate(self.forced or []):
            if given == name:
                self.forced.insert(0, self.forced.pop(index))
                break
        return super().draw(name, chance)
