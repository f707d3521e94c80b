"""Three players stand in a circle. Each rests, or strikes the one to the left or to the right; who is last standing wins."""

import random

import numpy as np

NAMES = ("red", "green", "blue")
MOST, ROUNDS = 4, 30
REST, LEFT, RIGHT = 0, 1, 2


class Standing:
    def spec(self):
        whole, number, flag = ({"dtype": dtype, "shape": []} for dtype in ("int32", "float32", "bool"))
        leaves = {"state/strength": {"dtype": "int32", "shape": [3]}, "state/round": whole}
        leaves.update({"observation/" + name: {"dtype": "int32", "shape": [4]} for name in NAMES})
        leaves.update({"legal_actions/" + name: {"dtype": "bool", "shape": [3]} for name in NAMES})
        leaves.update({"alive/" + name: flag for name in NAMES})
        leaves.update({"reward/" + name: number for name in NAMES})
        leaves.update({"terminated": flag, "truncated": flag})
        leaves.update({"action/" + name: {"dtype": "int32", "shape": [], "low": 0, "high": 2} for name in NAMES})
        return {
            "leaves": leaves,
            "capabilities": ["restore", "draws", "force_draws"],
            "draws": {
                "first": {"dtype": "int32", "shape": [], "at": "reset"},
                "strong": {"dtype": "int32", "shape": [], "at": "step"},
            },
        }

    def reset(self, seed, draws=None):
        self._random, self._drawn = random.Random(seed), []
        self._strength, self._round = [3, 3, 3], 0
        self._strength[self._draw("first", 2, draws)] = 4
        return self._timestep([0.0] * 3, False)

    def step(self, action, draws=None):
        before = list(self._strength)
        strong = self._draw("strong", 5, draws)
        for player, name in enumerate(NAMES):
            chosen = int(action["action/" + name])
            if not before[player]:
                continue
            if chosen == REST:
                self._strength[player] += 1
            else:
                target = (player + (-1 if chosen == LEFT else 1)) % 3
                self._strength[target] -= 2 if strong == player else 1
        self._strength = [min(MOST, max(0, now)) if was else 0 for was, now in zip(before, self._strength, strict=True)]
        self._round += 1
        alive = [now > 0 for now in self._strength]
        over = sum(alive) <= 1
        rewards = [
            -1.0 if was and not now else 1.0 if now and over else 0.0
            for was, now in zip(before, self._strength, strict=True)
        ]
        return self._timestep(rewards, over)

    def restore(self, state):
        self._drawn = []
        self._random = random.Random(0)
        self._strength, self._round = [int(value) for value in state["state/strength"]], int(state["state/round"])
        if sum(now > 0 for now in self._strength) <= 1 or self._round >= ROUNDS:
            raise ValueError("the game is over")
        return self._timestep([0.0] * 3, False)

    def take_draws(self):
        drawn, self._drawn = self._drawn, []
        return drawn

    def _draw(self, name, most, given):
        if given:
            if given[0][0] != name or len(given) != 1:
                raise ValueError("expected the draw " + name)
            value = int(given[0][1])
        elif given is not None:
            raise ValueError(f"the draw {name} is missing")
        else:
            value = self._random.randint(0, most)
        self._drawn.append((name, np.int32(value)))
        return value

    def _timestep(self, rewards, over):
        values = {
            "state/strength": np.array(self._strength, np.int32),
            "state/round": self._round,
            "terminated": over,
            "truncated": self._round >= ROUNDS and not over,
        }
        for player, name in enumerate(NAMES):
            own, left, right = (self._strength[(player + side) % 3] for side in (0, -1, 1))
            values["observation/" + name] = np.array([own, left, right, self._round], np.int32)
            values["legal_actions/" + name] = np.array([0 < own < MOST, bool(own and left), bool(own and right)])
            values["alive/" + name] = own > 0
            values["reward/" + name] = rewards[player]
        return values
