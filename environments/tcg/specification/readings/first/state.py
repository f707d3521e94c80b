"""The state of a game: plain numbers in lists, and the same as leaves of fixed shapes."""

import numpy as np

PLACES, DECK, TYPES_IN_DECK, ENERGIES, STACK = 4, 20, 3, 8, 2
ACTIVE, BENCH = 0, (1, 2, 3)  # 25
PLACE_ACTIVE, PLACE_BENCH, MAIN, ASKED, OVER = range(5)
AWAKE, ASLEEP, PARALYSED, CONFUSED = range(4)
IN_TURN, TURN_ENDED, CHECKED = range(3)
ATTACK_1, ATTACK_2, ABILITY, TRAINER, RETREAT, EVOLVE, PROMOTE = range(1, 8)
ALL = 255
"""A shield that prevents everything (73)."""

SHAPES = {
    "turn": (),
    "phase": (),
    "player": (),
    "asked": (),
    "stage": (),
    "supporter": (),
    "retreated": (),
    "eased": (),
    "run": (4,),
    "chosen": (),
    "left": (),
    "points": (2,),
    "zone": (2, 2),
    "types": (2, TYPES_IN_DECK),
    "deck": (2, DECK),
    "looked": (2,),
    "hand": (2, DECK),
    "known": (2, DECK),
    "discard": (2, DECK),
    "card": (2, PLACES),
    "under": (2, PLACES, STACK),
    "damage": (2, PLACES),
    "energy": (2, PLACES, ENERGIES),
    "fresh": (2, PLACES),
    "used": (2, PLACES),
    "mind": (2,),
    "poisoned": (2,),
    "burned": (2,),
    "shield": (2,),
    "no_attack": (2,),
    "no_retreat": (2,),
    "weakened": (2,),
    "gagged": (2,),
}
"""Each leaf `state/NAME`, all of them uint8."""
PER_CARD = ("card", "under", "damage", "energy", "fresh", "used")
ON_ACTIVE = ("mind", "poisoned", "burned", "shield", "no_attack", "no_retreat", "weakened")
LISTS = ("types", "deck", "hand", "known", "discard")
"""Lists that have no fixed length while a game is played; zeros fill them up as leaves."""


class State:
    """What decides the future of a game. A number is a number, a leaf with axes is nested lists."""

    def __init__(self):
        for name, shape in SHAPES.items():
            setattr(self, name, [[], []] if name in LISTS else np.zeros(shape, int).tolist())

    @classmethod
    def of_leaves(cls, leaves):
        """Raises ValueError for a number of cards that no game has."""
        state = cls()
        for name in SHAPES:
            setattr(state, name, np.asarray(leaves["state/" + name]).astype(int).tolist())
        lengths = {
            name: [sum(map(bool, row)) for row in getattr(state, name)] for name in ("types", "deck", "hand", "discard")
        }
        lengths["known"] = lengths["hand"]
        for name, counts in lengths.items():
            rows = getattr(state, name)
            if any(any(row[count:]) for row, count in zip(rows, counts, strict=True)):
                raise ValueError(f"state/{name}: a number stands behind a zero")
            setattr(state, name, [row[:count] for row, count in zip(rows, counts, strict=True)])
        state.known = [list(map(bool, row)) for row in state.known]
        return state

    def leaves(self):
        """Every leaf of the state, uint8."""
        found = {}
        for name, shape in SHAPES.items():
            values = getattr(self, name)
            if name in LISTS:
                values = [list(row) + [0] * (shape[1] - len(row)) for row in values]
            found["state/" + name] = np.array(values, np.uint8).reshape(shape)
        return found

    # --- cards in the hand, sorted (28) ---

    def take(self, player, card, known):
        """A card comes into a hand."""
        pairs = sorted([*zip(self.hand[player], self.known[player], strict=True), (card, known)])
        self.hand[player], self.known[player] = [one for one, _ in pairs], [seen for _, seen in pairs]

    def give(self, player, card):
        """A card leaves a hand: of equal ones one that is known (84)."""
        at = max(i for i, one in enumerate(self.hand[player]) if one == card)
        del self.hand[player][at], self.known[player][at]

    def throw(self, player, *cards):
        """Cards come to the discard pile."""
        self.discard[player] = sorted([*self.discard[player], *cards])

    # --- places ---

    def put(self, player, place, card):
        """A card comes into play on a free place."""
        self.card[player][place], self.fresh[player][place] = card, 1

    def clear(self, player, place):
        """A Pokémon leaves play; returns its cards, the lowest first. Energy and all that lies on it are gone (27)."""
        cards = [one for one in [*self.under[player][place], self.card[player][place]] if one]
        for name in PER_CARD:
            getattr(self, name)[player][place] = np.zeros(SHAPES[name][2:], int).tolist()
        if place == ACTIVE:
            self.free_active(player)
        return cards

    def exchange(self, player, place):
        """The active Pokémon and the one at a place of the bench change places (81)."""
        for name in PER_CARD:
            row = getattr(self, name)[player]
            row[ACTIVE], row[place] = row[place], row[ACTIVE]
        self.free_active(player)

    def free_active(self, player):
        """All that lies on the active Pokémon ends (61, 70)."""
        for name in ON_ACTIVE:
            getattr(self, name)[player] = 0

    def benched(self, player):
        """The places of the bench on which a Pokémon is."""
        return [place for place in BENCH if self.card[player][place]]

    def in_play(self, player):
        """All places on which a Pokémon is."""
        return [place for place in range(PLACES) if self.card[player][place]]

    def room(self, player):
        """The free place of the bench with the lowest number, or None (25)."""
        return next((place for place in BENCH if not self.card[player][place]), None)
