"""Harbour, first reading: one object that changes, statement by statement."""

import numpy as np

LOAD, SAIL, REFUEL, WAIT = range(4)
ROOM, TANK, WORST = 12, 6, 3  # 2, 3, 4


class Game:
    def __init__(self):
        self.rng = np.random.RandomState(0)
        self.drawn, self.forced = [], None

    def spec(self):
        def whole(high, dtype="int8"):
            return {"dtype": dtype, "low": 0, "high": high}

        leaves = {
            "state/hold": whole(ROOM),
            "state/fuel": whole(TANK),
            "state/storm": whole(WORST),
            "state/score": whole(29, "int16"),
            "state/waits": whole(2),
            "state/turn": whole(39, "int16"),
            "observation": {"dtype": "int16", "shape": [4]},
            "legal_actions": {"dtype": "bool", "shape": [4]},
            "reward": {"dtype": "float32"},
            "terminated": {"dtype": "bool"},
            "truncated": {"dtype": "bool"},
            "action": whole(3, "int64"),
        }
        draws = {"crane": {"dtype": "int8", "at": "step"}, "wind": {"dtype": "int8", "at": "step"}}
        return {"leaves": leaves, "draws": draws, "capabilities": ["restore", "draws", "force_draws"]}

    def reset(self, seed, draws=None):
        self.rng = np.random.RandomState(seed % (1 << 32))
        self.hold, self.fuel, self.storm, self.score = 0, 3, 0, 0  # 6
        self.waits, self.turn = 0, 0
        self._begin(draws)
        self._end()
        return self._shown(0)

    def restore(self, state):
        for name in ("hold", "fuel", "storm", "score", "waits", "turn"):
            setattr(self, name, int(state["state/" + name]))
        self.drawn, self.forced = [], None
        return self._shown(0)

    def step(self, action, draws=None):
        self._begin(draws)
        before = self.score
        if not self._legal()[action]:
            self._pay(1)  # 27
        elif action == LOAD:
            self._load()
        elif action == SAIL:
            self._sail()
        elif action == REFUEL:
            self.fuel = min(TANK, self.fuel + 2)  # 18
            self._pay(1)  # 19
        if action == WAIT:
            self._wait()
        else:
            self.waits = 0  # 24
            self._weather()  # 26
        self.turn += 1  # 8
        self._end()
        return self._shown(self.score - before)  # 9

    def take_draws(self):
        drawn, self.drawn = self.drawn, []
        return drawn

    def _legal(self):
        return [
            self.hold < ROOM,  # 12
            self.hold >= 1 and self.fuel >= self._burnt(),  # 14
            self.fuel < TANK,  # 20
            True,  # 21
        ]

    def _burnt(self):
        return 2 if self.storm >= 2 else 1  # 13

    def _pay(self, points):
        self.score = max(0, self.score - points)  # 5

    def _load(self):
        crates = self._draw("crane", 1, 6)  # 10
        lost = max(0, self.hold + crates - ROOM)
        self.hold = min(ROOM, self.hold + crates)
        self._pay(lost)  # 11

    def _sail(self):
        self.fuel -= self._burnt()  # 13
        if self.storm == WORST:
            self.hold -= (self.hold + 1) // 2  # 15
        self.score += self.hold  # 16
        if self.hold == ROOM:
            self.score += 3  # 17
        self.hold = 0  # 16

    def _wait(self):
        self.storm = max(0, self.storm - 1)  # 22
        self.waits += 1
        if self.waits == 3:
            self.hold = max(0, self.hold - 1)  # 23
            self.waits = 0

    def _weather(self):
        wind = self._draw("wind", 0, 5)  # 25
        if wind == 5:
            self.storm = min(WORST, self.storm + 1)
        if wind == 0:
            self.storm = max(0, self.storm - 1)

    def _shown(self, reward):
        won = self.score >= 30  # 28
        return {
            "state/hold": self.hold,
            "state/fuel": self.fuel,
            "state/storm": self.storm,
            "state/score": self.score,
            "state/waits": self.waits,
            "state/turn": self.turn,
            "observation": np.array([self.hold, self.fuel, self.storm, self.score], np.int16),  # 30
            "legal_actions": np.array(self._legal(), bool),  # 30
            "reward": float(reward),
            "terminated": won,
            "truncated": self.turn >= 40 and not won,  # 29
        }

    def _begin(self, draws):
        self.drawn, self.forced = [], None if draws is None else list(draws)

    def _draw(self, name, low, high):
        if self.forced is None:
            value = np.int8(self.rng.randint(low, high + 1))
        else:
            found = next((draw for draw in self.forced if draw[0] == name), None)
            if found is None:
                raise ValueError("the tape has no " + name)
            self.forced.remove(found)
            value = np.int8(found[1])
        self.drawn.append((name, value))
        return int(value)

    def _end(self):
        if self.forced:
            raise ValueError("the tape has draws that are not needed")
