"""The trading card game, second reading."""

from pathlib import Path

import numpy as np
import tables
from board import leaves_of, observation, set_leaves
from game import OVER, Play

SHAPES = {
    "turn phase player asked stage supporter retreated eased chosen left": [],
    "run": [4],
    "points looked mind poisoned burned shield no_attack no_retreat weakened gagged": [2],
    "zone": [2, 2],
    "types": [2, 3],
    "deck hand known discard": [2, 20],
    "card damage fresh used": [2, 4],
    "under": [2, 4, 2],
    "energy": [2, 4, 8],
}
DRAWS = {
    "first": (2, [], "reset"),
    "source": (2, [2], "reset"),
    "archetype": (16, [2], "reset"),
    "base": (106, [2], "reset"),
    "line": (232, [2, 24], "reset"),
    "shuffle": (2**31, [20], "both"),
    "energy": (6, [], "both"),
    "coin": (2, [], "step"),
    "pick": (2**16, [], "step"),
}


class Game:
    def __init__(self):
        self.listed, self.decks = tables.load(Path(__file__).parent)
        self.taken, self.tape, self.random = [], None, np.random.RandomState(0)

    def spec(self):
        leaves = {
            "state/" + name: {"dtype": "uint8", "shape": shape}
            for names, shape in SHAPES.items()
            for name in names.split()
        }
        leaves |= {f"reward/{name}": {"dtype": "float32"} for name in ("p1", "p2")}
        leaves |= {f"observation/{name}": {"dtype": "uint8", "shape": [237]} for name in ("p1", "p2")}
        leaves |= {"terminated": {"dtype": "bool"}, "truncated": {"dtype": "bool"}}
        leaves |= {
            "to_move": {"dtype": "int32", "low": 0, "high": 1},
            "legal_actions": {"dtype": "bool", "shape": [52]},
        }
        leaves |= {"action": {"dtype": "int32", "low": 0, "high": 51}}
        draws = {name: {"dtype": "int32", "shape": shape, "at": at} for name, (_, shape, at) in DRAWS.items()}
        return {"leaves": leaves, "draws": draws, "capabilities": ["restore", "draws", "force_draws"]}

    def reset(self, seed, draws=None):
        self.random = np.random.RandomState([seed & 0xFFFFFFFF, seed >> 32])
        self.play = Play(self.listed, self.decks, self.roll)
        return self.timestep(self.play.begin, draws)

    def step(self, action, draws=None):
        return self.timestep(lambda: self.play.act(int(action)), draws)

    def restore(self, state):
        self.play = Play(self.listed, self.decks, self.roll)
        set_leaves(self.play, state)
        return {**self.shown(), "terminated": False}

    def take_draws(self):
        taken, self.taken = self.taken, []
        return taken

    def timestep(self, do, draws):
        self.taken, self.tape = [], None if draws is None else list(draws)
        do()
        if self.tape:
            raise ValueError("draws are left over")
        return self.shown()

    def roll(self, name):
        if self.tape is None:
            high, shape, _ = DRAWS[name]
            value = self.random.randint(high, size=shape)
        else:
            at = next((at for at, draw in enumerate(self.tape) if draw[0] == name), None)
            if at is None:
                raise ValueError(f"no draw {name} is left")
            value = self.tape.pop(at)[1]
        self.taken.append((name, np.asarray(value, np.int32)))
        return np.asarray(value).tolist()

    def shown(self):
        play = self.play
        legal = np.zeros(52, bool)
        legal[list(play.legal())] = True
        paid = {None: (0, 0), 0: (1, -1), 1: (-1, 1)}[play.winner]  # 56
        return {
            **leaves_of(play),
            "observation/p1": observation(play, 0),
            "observation/p2": observation(play, 1),
            "reward/p1": float(paid[0]),
            "reward/p2": float(paid[1]),
            "to_move": play.asked,  # 93
            "legal_actions": legal,
            "terminated": play.phase == OVER,
            "truncated": False,
        }
