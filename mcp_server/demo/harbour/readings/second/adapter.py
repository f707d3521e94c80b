"""Harbour, second reading: a turn is a function from one tuple of numbers to the next."""

from typing import NamedTuple

import numpy as np


class Ship(NamedTuple):
    hold: int
    fuel: int
    storm: int
    score: int
    waits: int
    turn: int


START = Ship(hold=0, fuel=3, storm=0, score=0, waits=0, turn=0)
FORM = {"hold": ("int8", 12), "fuel": ("int8", 6), "storm": ("int8", 3), "score": ("int16", 29), "waits": ("int8", 2)}
FORM["turn"] = ("int16", 39)


def burn(ship):
    return 1 + (ship.storm > 1)


def legal(ship):
    return (ship.hold < 12, ship.hold > 0 and ship.fuel >= burn(ship), ship.fuel < 6, True)


def cost(score, points):
    return score - min(score, points)


def load(ship, roll):
    hold = ship.hold + roll("crane")
    over = hold - 12 if hold > 12 else 0
    return ship._replace(hold=hold - over, score=cost(ship.score, over))


def sail(ship, roll):
    sold = ship.hold // 2 if ship.storm == 3 else ship.hold
    bonus = 3 if sold == 12 else 0
    return ship._replace(hold=0, fuel=ship.fuel - burn(ship), score=ship.score + sold + bonus)


def refuel(ship, roll):
    return ship._replace(fuel=min(ship.fuel + 2, 6), score=cost(ship.score, 1))


def wait(ship, roll):
    spoils = ship.waits == 2
    hold = ship.hold - (1 if spoils and ship.hold else 0)
    return ship._replace(storm=max(ship.storm - 1, 0), hold=hold, waits=0 if spoils else ship.waits + 1)


def turn(ship, action, roll):
    if not legal(ship)[action]:
        after = ship._replace(score=cost(ship.score, 1))
    else:
        after = (load, sail, refuel, wait)[action](ship, roll)
    if action != 3:
        change = {0: -1, 5: 1}.get(roll("wind"), 0)
        after = after._replace(waits=0, storm=min(max(after.storm + change, 0), 3))
    return after._replace(turn=after.turn + 1)


class Game:
    def __init__(self):
        self.ship, self.rng, self.rolled = START, None, []

    def spec(self):
        leaves = {"state/" + name: {"dtype": form, "low": 0, "high": high} for name, (form, high) in FORM.items()}
        leaves["observation"] = {"dtype": "int16", "shape": [4]}
        leaves["legal_actions"] = {"dtype": "bool", "shape": [4]}
        leaves["reward"] = {"dtype": "float32"}
        leaves["terminated"] = leaves["truncated"] = {"dtype": "bool"}
        leaves["action"] = {"dtype": "int64", "low": 0, "high": 3}
        die = {"dtype": "int8", "at": "step"}
        return {
            "leaves": leaves,
            "draws": {"crane": die, "wind": die},
            "capabilities": ["restore", "draws", "force_draws"],
        }

    def reset(self, seed, draws=None):
        if draws:
            raise ValueError("a reset rolls nothing")
        self.ship, self.rng, self.rolled = START, np.random.default_rng(seed), []
        return self.told(0)

    def restore(self, state):
        self.ship = Ship(*(int(state["state/" + name]) for name in Ship._fields))
        self.rng, self.rolled = np.random.default_rng(0), []
        return self.told(0)

    def step(self, action, draws=None):
        left = None if draws is None else [(name, int(value)) for name, value in draws]
        self.rolled = []

        def roll(name):
            if left is None:
                low, high = (1, 6) if name == "crane" else (0, 5)
                value = int(self.rng.integers(low, high, endpoint=True))
            else:
                place = [each for each, _ in left].index(name)
                value = left.pop(place)[1]
            self.rolled.append((name, np.int8(value)))
            return value

        before, self.ship = self.ship, turn(self.ship, int(action), roll)
        if left:
            raise ValueError("rolls are left over")
        return self.told(self.ship.score - before.score)

    def take_draws(self):
        rolled, self.rolled = self.rolled, []
        return rolled

    def told(self, reward):
        ship = self.ship
        out = {"state/" + name: getattr(ship, name) for name in Ship._fields}
        out["observation"] = np.array(ship[:4], np.int16)
        out["legal_actions"] = np.array(legal(ship))
        out["reward"] = float(reward)
        out["terminated"] = ship.score >= 30
        out["truncated"] = ship.turn >= 40 and ship.score < 30
        return out
