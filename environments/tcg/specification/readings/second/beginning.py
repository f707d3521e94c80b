"""The beginning (statements 10, 16 to 24)."""

from board import add_to_hand, put_on_bench, shuffle, take_from_deck, take_from_hand
from cards import CARDS
from chance import Chance
from decks import build_deck
from state import ASK_ACTIVE, ASK_BENCH, Side, Spot, State
from turns import begin_turn, draw_energy

FIRST_HAND = 5  # 19


def begin(chance: Chance) -> State:
    """A new game, up to the first question."""
    state = State()
    source = chance.take("source")  # 10  # ? 10: draws in the order in which the text names them
    archetype = chance.take("archetype")  # 10, 11
    base = chance.take("base")  # 10, 12
    line = chance.take("line")  # 10, 13
    for player, side in enumerate(state.sides):
        deck, side.types = build_deck(source[player], archetype[player], base[player], line[player])
        side.deck = sorted(deck)  # 17
    for side in state.sides:  # 17
        shuffle(side, chance)  # 16
        lift_basic(side)  # 18
    for side in state.sides:
        for _ in range(FIRST_HAND):
            add_to_hand(side, take_from_deck(side, 0), 0)  # 19
    state.player = chance.take("first")  # 20
    for player, side in enumerate(state.sides):
        side.zone[1] = draw_energy(state, player, chance)  # 21
    state.phase, state.asked = ASK_ACTIVE, state.player  # 22
    return state


def lift_basic(side: Side) -> None:
    """18: there is a basic Pokémon among the five top cards."""
    place = next(place for place, card in enumerate(side.deck) if CARDS[card].is_basic)
    if place >= FIRST_HAND:  # 18
        side.deck[place], side.deck[4] = side.deck[4], side.deck[place]  # 18


def place_active(state: State, card: int) -> None:
    """22: a basic Pokémon of the hand is put on the active spot."""
    side = state.sides[state.asked]
    take_from_hand(side, card)
    side.spots[0] = Spot(card=card)  # 22
    state.phase = ASK_BENCH  # 22


def place_bench(state: State, card: int) -> None:
    """22: a basic Pokémon of the hand is put on the bench."""
    side = state.sides[state.asked]
    take_from_hand(side, card)
    put_on_bench(side, card, 0)  # 22, 25


def end_placing(state: State, chance: Chance) -> None:
    """22, 24: then the other player does the same; then turn 1 begins."""
    if state.asked == state.player:
        state.phase, state.asked = ASK_ACTIVE, 1 - state.player  # 22
    else:
        begin_turn(state, chance)  # 24
