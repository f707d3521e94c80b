"""Two runners. Chance says who may act next, bit 0 north and bit 1 south. A sprint leads on where the other one rests."""

import random

import numpy as np

NAMES = ("north", "south")
GOAL, ROUNDS = 10, 25
REST, WALK, SPRINT = 0, 1, 2


class Relay:
    def spec(self):
        whole, number, flag = ({"dtype": dtype, "shape": []} for dtype in ("int32", "float32", "bool"))
        leaves = {"state/place": {"dtype": "int32", "shape": [2]}, "state/ready": whole, "state/round": whole}
        leaves.update({"observation/" + name: {"dtype": "int32", "shape": [3]} for name in NAMES})
        leaves.update({"to_move/" + name: flag for name in NAMES})
        leaves.update({"reward/" + name: number for name in NAMES})
        leaves.update({"terminated": flag, "truncated": flag})
        leaves.update({"action/" + name: {"dtype": "int32", "shape": [], "low": 0, "high": 2} for name in NAMES})
        return {
            "leaves": leaves,
            "capabilities": ["restore", "draws", "force_draws"],
            "draws": {
                "first": {"dtype": "int32", "shape": [], "at": "reset"},
                "next": {"dtype": "int32", "shape": [], "at": "step"},
            },
        }

    def reset(self, seed, draws=None):
        self._random, self._drawn = random.Random(seed), []
        self._place, self._round = [0, 0], 0
        self._ready = self._draw("first", draws)
        return self._timestep([0.0, 0.0], False)

    def step(self, action, draws=None):
        chosen = [int(action["action/" + name]) if self._may(player) else REST for player, name in enumerate(NAMES)]
        for player in range(2):
            if chosen[player] == WALK:
                self._place[player] += 1
            elif chosen[player] == SPRINT:
                self._place[player] += 3 if chosen[1 - player] == REST else 0
        self._ready = self._draw("next", draws)
        self._round += 1
        there = [place >= GOAL for place in self._place]
        rewards = [0.0, 0.0] if there[0] == there[1] else [1.0 if there[0] else -1.0, 1.0 if there[1] else -1.0]
        return self._timestep(rewards, any(there))

    def restore(self, state):
        self._random, self._drawn = random.Random(0), []
        self._place = [int(place) for place in state["state/place"]]
        self._ready, self._round = int(state["state/ready"]), int(state["state/round"])
        if max(self._place) >= GOAL or self._round >= ROUNDS:
            raise ValueError("the race is over")
        return self._timestep([0.0, 0.0], False)

    def take_draws(self):
        drawn, self._drawn = self._drawn, []
        return drawn

    def _may(self, player):
        return bool(self._ready >> player & 1)

    def _draw(self, name, given):
        if given:
            if given[0][0] != name or len(given) != 1:
                raise ValueError("expected the draw " + name)
            value = int(given[0][1])
        elif given is not None:
            raise ValueError(f"the draw {name} is missing")
        else:
            value = self._random.randint(0, 3)
        self._drawn.append((name, np.int32(value)))
        return value

    def _timestep(self, rewards, over):
        values = {
            "state/place": np.array(self._place, np.int32),
            "state/ready": self._ready,
            "state/round": self._round,
            "terminated": over,
            "truncated": self._round >= ROUNDS and not over,
        }
        for player, name in enumerate(NAMES):
            values["observation/" + name] = np.array(
                [self._place[player], self._place[1 - player], self._round], np.int32
            )
            values["to_move/" + name] = self._may(player)
            values["reward/" + name] = rewards[player]
        return values
