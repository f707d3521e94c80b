"""What lies on the table: Pokémon in play and the two sides, and the leaves that show them."""

import numpy as np


class Mon:
    """A Pokémon in play (26)."""

    def __init__(self, card):
        self.card, self.under, self.damage, self.energy, self.fresh, self.used = card, [], 0, [0] * 8, 0, 0

    @property
    def cards(self):
        return [*self.under, self.card]


LYING = ("mind", "poisoned", "burned", "shield", "no_attack", "no_retreat", "weakened")
"""What lies on an active Pokémon (59, 70)."""


class Side:
    """All that is one player's. A hand is a list of pairs: a card, and whether the other player knows it."""

    def __init__(self):
        self.deck, self.hand, self.discard, self.types = [], [], [], []
        self.zone, self.looked, self.points, self.gagged = [0, 0], 0, 0, 0
        self.mons = [None] * 4  # 25
        self.bare()

    def bare(self):
        """All conditions and lasting effects of the active Pokémon end (61, 70)."""
        for name in LYING:
            setattr(self, name, 0)

    def bench(self):
        return [place for place in (1, 2, 3) if self.mons[place]]

    def everyone(self):
        return [place for place in range(4) if self.mons[place]]

    def free_place(self):
        return next((place for place in (1, 2, 3) if not self.mons[place]), 0)  # 25

    def add(self, card, known=False):
        self.hand = sorted([*self.hand, (card, known)])  # 28

    def lose(self, card):
        """A card leaves the hand, a known one before an unknown one (84)."""
        self.hand.remove((card, True) if (card, True) in self.hand else (card, False))

    def to_discard(self, cards):
        self.discard = sorted(self.discard + cards)

    def remove(self, place):
        """The Pokémon leaves play; its cards, the lowest first (27)."""
        gone, self.mons[place] = self.mons[place], None
        if place == 0:
            self.bare()
        return gone.cards

    def change(self, place):
        """Who is active and who is at a place change places (81)."""
        self.mons[0], self.mons[place] = self.mons[place], self.mons[0]
        self.bare()

    def draw(self, count):
        for _ in range(count):
            if len(self.hand) < 10 and self.deck:  # 31
                self.add(self.deck.pop(0))
                self.looked = max(self.looked - 1, 0)

    def shuffle(self, numbers):
        ranked = sorted(zip(numbers, range(len(self.deck)), self.deck, strict=False))  # 16
        self.deck, self.looked = [card for _, _, card in ranked], 0


SINGLE = ("turn", "phase", "player", "asked", "stage", "supporter", "retreated", "eased", "chosen", "left")
LISTS = ("deck", "discard", "types")
EACH = ("card", "damage", "fresh", "used")


def padded(values, size):
    return [*values, *[0] * (size - len(values))]


def leaves_of(game):
    """The canonical state of a game."""
    found = {name: getattr(game, name) for name in SINGLE}
    found["run"] = game.run
    for name in (*LYING, "points", "zone", "looked", "gagged"):
        found[name] = [getattr(side, name) for side in game.sides]
    for name, size in zip(LISTS, (20, 20, 3), strict=True):
        found[name] = [padded(getattr(side, name), size) for side in game.sides]
    found["hand"] = [padded([card for card, _ in side.hand], 20) for side in game.sides]
    found["known"] = [padded([int(known) for _, known in side.hand], 20) for side in game.sides]
    blank = Mon(0)
    mons = [[mon or blank for mon in side.mons] for side in game.sides]
    for name in EACH:
        found[name] = [[getattr(mon, name) for mon in row] for row in mons]
    found["under"] = [[padded(mon.under, 2) for mon in row] for row in mons]
    found["energy"] = [[mon.energy for mon in row] for row in mons]
    return {"state/" + name: np.array(value, np.uint8) for name, value in found.items()}


def set_leaves(game, leaves):
    """Make a game what its leaves say."""
    given = {name.removeprefix("state/"): np.asarray(value).astype(int).tolist() for name, value in leaves.items()}
    for name in (*SINGLE, "run"):
        setattr(game, name, given[name])
    for at, side in enumerate(game.sides):
        for name in (*LYING, "points", "zone", "looked", "gagged"):
            setattr(side, name, given[name][at])
        for name in LISTS:
            setattr(side, name, [one for one in given[name][at] if one])
        side.hand = [
            (card, bool(known)) for card, known in zip(given["hand"][at], given["known"][at], strict=True) if card
        ]
        for place in range(4):
            side.mons[place] = None
            if given["card"][at][place]:
                mon = side.mons[place] = Mon(given["card"][at][place])
                mon.under = [card for card in given["under"][at][place] if card]
                mon.damage, mon.energy = given["damage"][at][place], given["energy"][at][place]
                mon.fresh, mon.used = given["fresh"][at][place], given["used"][at][place]


def observation(game, player):
    """What a player sees (96, 97), 237 numbers."""
    own, other = game.sides[player], game.sides[1 - player]
    seen = padded([card for card, _ in own.hand], 20) + padded([card for card, known in other.hand if known], 20)
    seen += padded(own.deck[: own.looked], 3) + padded(own.types, 3)
    seen += [len(own.deck), len(other.deck), len(own.hand), len(other.hand)]
    seen += padded(own.discard, 20) + padded(other.discard, 20) + own.zone + other.zone + [own.points, other.points]
    seen += [game.turn, game.phase, game.supporter, game.retreated, game.eased, game.chosen, game.left]
    seen += [game.player == player, game.asked == player, *game.run]
    seen += _side_seen(own) + (_side_seen(other) if game.turn else [0] * 64)  # 23
    return np.array(seen, np.uint8)


def _side_seen(side):
    seen = []
    for mon in (mon or Mon(0) for mon in side.mons):
        seen += [mon.card, *padded(mon.under, 2), mon.damage, *mon.energy, mon.fresh, mon.used]
    return seen + [getattr(side, name) for name in LYING] + [side.gagged]
