"""An effect that runs: whose it is, whom it may choose, and what can be done (statements 38, 47, 65, 67, 77)."""

from dataclasses import dataclass

from cards import CARDS, TYPES, Attack, Card, Word, Words, ability_value, basic_in_play, has_silence, named
from chance import Chance
from state import ABILITY, BENCH, PLACES, SHIELD_ALL, TRAINER, Side, Spot, State


@dataclass
class Effect:
    """What the words of one effect share. All of it but the state is forgotten while a player is asked (91)."""

    state: State
    chance: Chance
    heads: int = 0  # 66
    tails: int = 0  # 66
    more: int = 0  # 67
    dealt: int = 0  # 71

    @property
    def me(self) -> Side:
        return self.state.me  # effects are of who is in turn

    @property
    def other(self) -> Side:
        return self.state.other

    @property
    def self_spot(self) -> Spot:
        """65: the Pokémon that attacks or uses the ability."""
        return self.me.spots[self.state.run[3]]  # 65

    @property
    def foe(self) -> Spot:
        return self.other.active  # 65

    @property
    def chosen_side(self) -> Side:
        return self.me if self.state.chosen <= 4 else self.other  # ? 77: own is meant from whose effect it is

    @property
    def chosen_place(self) -> int:
        return (self.state.chosen - 1) % 4

    @property
    def chosen_spot(self) -> Spot:
        return self.chosen_side.spots[self.chosen_place]  # 77

    @property
    def is_attack(self) -> bool:
        return self.state.run[1] in (1, 2)

    @property
    def attack(self) -> Attack:
        """The attack that runs; of a copied one its own cost counts (89)."""
        card, part, _, _ = self.state.run
        return CARDS[card].attacks[part - 1]

    @property
    def foe_is_safe(self) -> bool:
        """73: `shield all` keeps the words of an attack from the foe."""
        return self.is_attack and self.other.shield == SHIELD_ALL  # 73


def running_words(state: State) -> Words:
    """The words of the effect that runs."""
    card, part, _, _ = state.run
    if part in (ABILITY, TRAINER):
        return CARDS[card].words
    return CARDS[card].attacks[part - 1].words


def energy_of(spot: Spot, letter: str) -> int:
    return spot.energy[TYPES.index(letter)]


def has_energy_for(spot: Spot, cost: str) -> bool:
    """47: of each type as much as the cost names, and in all as much as it has letters."""
    enough = all(energy_of(spot, letter) >= cost.count(letter) for letter in TYPES)  # 47
    return enough and sum(spot.energy) >= len(cost)  # 47


def fits_filter(spot: Spot, words: Word) -> bool:
    """77: the letter of a type, `basic`, names, or `hurt`; each of them must hold."""
    for word in words:
        if word == "basic":
            fits = basic_in_play(spot.pokemon)  # 77, 8
        elif word == "hurt":
            fits = spot.damage > 0  # 77
        elif word.startswith('"'):
            fits = named(spot.pokemon, word)  # 77
        else:
            fits = spot.pokemon.type == word  # 77
        if not fits:
            return False
    return True


def fits_deck_filter(card: Card, word: str) -> bool:
    """82: a Pokémon of a type, or a basic Pokémon; before it is played a fossil is no Pokémon (8)."""
    if word == "basic":
        return card.is_basic  # 82, 8
    return card.is_pokemon and card.type == word  # 82


def candidates(state: State, arguments: Word) -> list[int]:
    """77: who can be chosen: 1 to 4 the own places, 5 to 8 the other player's."""
    whose, where, *words = arguments
    side, first = (state.me, 1) if whose == "own" else (state.other, 5)
    places = {"any": PLACES, "bench": BENCH, "active": range(1)}[where]  # 77
    return [
        first + place for place in places if side.spots[place].card and fits_filter(side.spots[place], tuple(words))
    ]


def spread_places(state: State, letter: str) -> list[int]:
    """79: own benched Pokémon of the type."""
    return [place for place in state.me.benched() if state.me.spots[place].pokemon.type == letter]  # 79


def copy_places(state: State) -> list[int]:
    """89: places of the other player's Pokémon that have an attack."""
    return [
        place for place in PLACES if state.other.spots[place].card and state.other.spots[place].pokemon.attacks
    ]  # 89


def can_do(state: State, words: Words) -> bool:
    """38: whether the first word can do something."""
    name, *arguments = words[0]
    me, other = state.me, state.other
    if name == "choose":
        return bool(candidates(state, tuple(arguments)))  # 38
    if name == "heal" and arguments[0] == "own":
        return any(spot.damage for spot in me.in_play())  # 38
    if name == "push":
        return bool(other.benched())  # 38
    if name in ("draw", "look", "find"):
        return bool(me.deck)  # 38
    if name in ("show", "redraw"):
        return bool(other.hand)  # 38
    if name == "lift":
        return named(me.active.pokemon, arguments[0]) and bool(me.benched())  # 38
    if name == "gather":
        letter, names = arguments
        there = any(energy_of(me.spots[place], letter) for place in me.benched())
        return named(me.active.pokemon, names) and there  # 38
    if name == "charge" and arguments[0] == "active":
        return me.active.pokemon.type == arguments[1]  # 38
    return True  # 38: other words always can


def is_silenced(state: State) -> bool:
    """90: the other player's active Pokémon has `silence`."""
    return bool(state.other.active.card) and has_silence(state.other.active.pokemon)  # 90


def armour_of(spot: Spot) -> int:
    return ability_value(spot.pokemon, "armour")  # 90


def counter_of(spot: Spot) -> int:
    return ability_value(spot.pokemon, "counter")  # 90
