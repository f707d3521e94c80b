"""What decides the future of a game, as plain Python."""

from dataclasses import dataclass, field

from cards import CARDS, Card

# What is asked (`state/phase`).
ASK_ACTIVE, ASK_BENCH, IN_TURN, ASK_ANSWER, OVER = range(5)

# The part of a card that runs (`state/run`); 1 and 2 are the attacks.
ABILITY, TRAINER, RETREAT, EVOLUTION, FILLING = range(3, 8)

# `state/mind`
CLEAR, ASLEEP, PARALYSED, CONFUSED = range(4)

SHIELD_ALL = 255  # `state/shield`
PLACES = range(4)  # 25
BENCH = range(1, 4)  # 25


@dataclass
class Spot:
    """25, 26: a place, and the Pokémon there; `card` is 0 where there is none."""

    card: int = 0
    under: list[int] = field(default_factory=list)
    damage: int = 0
    energy: list[int] = field(default_factory=lambda: [0] * 8)
    fresh: int = 0
    used: int = 0

    @property
    def pokemon(self) -> Card:
        return CARDS[self.card]


@dataclass
class Side:
    """All that belongs to one player."""

    points: int = 0
    zone: list[int] = field(default_factory=lambda: [0, 0])  # 43: this turn's, and the next
    types: list[int] = field(default_factory=list)
    deck: list[int] = field(default_factory=list)  # the top first
    looked: int = 0
    hand: list[tuple[int, int]] = field(default_factory=list)  # card, and whether it is known; sorted
    discard: list[int] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=lambda: [Spot() for _ in PLACES])
    # What lies on the active Pokémon (59, 70).
    mind: int = CLEAR  # 59, 60
    poisoned: int = 0
    burned: int = 0
    shield: int = 0
    no_attack: int = 0
    no_retreat: int = 0
    weakened: int = 0
    # What lies on the player (76).
    gagged: int = 0

    @property
    def active(self) -> Spot:
        return self.spots[0]

    def in_play(self) -> list[Spot]:
        return [spot for spot in self.spots if spot.card]

    def benched(self) -> list[int]:
        """The places of the benched Pokémon."""
        return [place for place in BENCH if self.spots[place].card]


@dataclass
class State:
    turn: int = 0
    phase: int = ASK_ACTIVE
    player: int = 0
    asked: int = 0
    stage: int = 0
    supporter: int = 0
    retreated: int = 0
    eased: int = 0
    run: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    chosen: int = 0
    left: int = 0
    sides: list[Side] = field(default_factory=lambda: [Side(), Side()])
    paid: list[int] = field(default_factory=lambda: [0, 0])  # 56: in this step; not a part of the state

    @property
    def me(self) -> Side:
        """The side of who is in turn."""
        return self.sides[self.player]

    @property
    def other(self) -> Side:
        return self.sides[1 - self.player]

    def ask(self, who: int) -> None:
        """93: an answer is asked of this player."""
        self.phase, self.asked = ASK_ANSWER, who

    def run_nothing(self) -> None:
        """No effect runs any more."""
        self.run, self.chosen, self.left = [0, 0, 0, 0], 0, 0
