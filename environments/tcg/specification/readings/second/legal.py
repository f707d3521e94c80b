"""Which actions are legal (statements 22, 32 to 42, 46, 47, 77, 79, 81, 89, 92 to 95)."""

from board import free_place
from cards import CARDS, Card
from effect import (
    can_do,
    candidates,
    copy_places,
    has_energy_for,
    is_silenced,
    running_words,
    spread_places,
)
from sheet import ACTIONS
from state import (
    ASK_ACTIVE,
    ASK_ANSWER,
    ASK_BENCH,
    ASLEEP,
    EVOLUTION,
    FILLING,
    IN_TURN,
    PARALYSED,
    PLACES,
    RETREAT,
    Side,
    State,
)

# 92: the first number of each kind of action.
STOP = 0
HAND = 1
OWN = 21
OTHER = 25
ATTACK = 29
USE_ABILITY = 31
GO_BACK = 35
ATTACH = 36
DISCARD_FOSSIL = 40
ENERGY = 44
CHOSEN = 20  # 21 to 28 are 20 and the number of who is chosen


def legal_actions(state: State) -> list[bool]:
    numbers = legal_numbers(state)
    return [number in numbers for number in range(ACTIONS)]


def legal_numbers(state: State) -> list[int]:
    """92, 93: the legal actions of who is asked."""
    if state.phase in (ASK_ACTIVE, ASK_BENCH):
        return placing(state)
    if state.phase == IN_TURN:
        return in_turn(state)
    if state.phase == ASK_ANSWER:
        return answers(state)
    return []  # 58


def placing(state: State) -> list[int]:
    """22: basic Pokémon of the hand; 0 ends the placing on the bench."""
    side = state.sides[state.asked]
    basics = [HAND + place for place, (card, _) in enumerate(side.hand) if CARDS[card].is_basic]  # 22
    if state.phase == ASK_ACTIVE:
        return basics  # 22
    return [STOP] + (basics if free_place(side) else [])  # 22, 25, 94


def in_turn(state: State) -> list[int]:
    """32: what a player can do in the turn."""
    me = state.me
    numbers = [STOP]  # 32
    numbers += [HAND + place for place, (card, _) in enumerate(me.hand) if can_play(state, CARDS[card])]
    numbers += [ATTACK + number for number in range(2) if can_attack(state, number)]
    numbers += [USE_ABILITY + place for place in PLACES if can_use_ability(state, place)]
    numbers += [GO_BACK] if can_retreat(state) else []
    if me.zone[0]:
        numbers += [ATTACH + place for place in PLACES if me.spots[place].card]  # 46
    numbers += [DISCARD_FOSSIL + place for place in PLACES if can_discard_fossil(me, place)]
    return numbers


def can_play(state: State, card: Card) -> bool:
    """33 to 38: whether a card of the hand can be played."""
    if card.is_basic or card.kind == "fossil":
        return free_place(state.me) > 0  # 33
    if card.is_pokemon:
        return bool(evolution_places(state, card))  # 34
    if card.kind == "supporter" and (state.supporter or state.me.gagged or is_silenced(state)):
        return False  # 36, 76, 90
    return can_do(state, card.words)  # 38


def evolution_places(state: State, card: Card) -> list[int]:
    """34: the own places of Pokémon on which the evolution can be played."""
    if state.turn <= 2:
        return []  # 34
    spots = state.me.spots
    return [
        place
        for place in PLACES
        if spots[place].card and spots[place].pokemon.name == card.below and not spots[place].fresh  # 34
    ]


def can_attack(state: State, number: int) -> bool:
    """47: whether the active Pokémon may use its first or second attack."""
    active = state.me.active
    if not active.card or number >= len(active.pokemon.attacks):
        return False
    if state.me.mind in (ASLEEP, PARALYSED) or state.me.no_attack:
        return False  # 47
    return has_energy_for(active, active.pokemon.attacks[number].cost)  # 47


def can_use_ability(state: State, place: int) -> bool:
    """39: once in each turn, on the active spot if it says so, if the first word can do something."""
    spot = state.me.spots[place]
    if not spot.card or not spot.pokemon.when or spot.used:
        return False  # 39
    if spot.pokemon.when == "turn active" and place != 0:
        return False  # 39
    return can_do(state, spot.pokemon.words)  # 39


def retreat_cost(state: State) -> int:
    return max(0, state.me.active.pokemon.retreat - state.eased)  # 41


def can_retreat(state: State) -> bool:
    """42: when a Pokémon can retreat."""
    me = state.me
    if state.retreated or me.mind in (ASLEEP, PARALYSED) or me.no_retreat:
        return False  # 42
    if not me.active.card or me.active.pokemon.kind == "fossil" or not me.benched():
        return False  # 42
    return sum(me.active.energy) >= retreat_cost(state)  # 42


def can_discard_fossil(side: Side, place: int) -> bool:
    spot = side.spots[place]
    return bool(spot.card) and spot.pokemon.kind == "fossil" and len(side.in_play()) > 1  # 40


def answers(state: State) -> list[int]:
    """94: the answers to what is asked; also where there is only one."""
    card, part, word, _ = state.run
    asked = state.sides[state.asked]
    if part == FILLING:
        return [OWN + place for place in asked.benched()]  # 55
    if part == EVOLUTION:
        return [OWN + place for place in evolution_places(state, CARDS[card])]  # 95
    if part == RETREAT:
        if word == 0:
            return [ENERGY + place for place, amount in enumerate(asked.active.energy) if amount]  # 41
        return [OWN + place for place in asked.benched()]  # 41
    name, *arguments = running_words(state)[word]
    if name == "choose":
        return [CHOSEN + chosen for chosen in candidates(state, tuple(arguments))]  # 77
    if name == "spread":
        return [OWN + place for place in spread_places(state, arguments[0])]  # 79
    if name == "push":
        return [OWN + place for place in asked.benched()]  # 81
    if name == "copy" and state.chosen == 0:
        return [OTHER + place for place in copy_places(state)]  # 89  # ? 89: also benched ones
    if name == "copy":
        attacks = state.other.spots[state.chosen - 5].pokemon.attacks
        return [ATTACK + number for number in range(len(attacks))]  # 89
    raise ValueError(f"the word {name} asks nothing")
