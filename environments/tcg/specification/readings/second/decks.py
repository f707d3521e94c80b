"""The decks (statements 9 to 15)."""

import tomllib

from cards import BASICS, BY_NAME, CARDS, DATA, ORDER, TYPES, Card

with open(DATA / "decks.toml", "rb") as _file:
    _TABLE = tomllib.load(_file)
ARCHETYPES: list[dict] = _TABLE["archetypes"]
FILL: list[int] = _TABLE["fill"]

SIZE = 20  # 9
COPIES = 2  # 9

Deck = list[int]  # the ids of its cards
Types = list[int]  # the numbers of its types of energy, rising


def build_deck(source: int, archetype: int, base: int, line: list[int]) -> tuple[Deck, Types]:
    """10: the deck and the types of energy of a player."""
    if source == 0:  # 10
        return archetype_deck(archetype)
    return free_deck(base, line)


def archetype_deck(place: int) -> tuple[Deck, Types]:
    """11: a deck of `decks.toml`."""
    entry = ARCHETYPES[place]  # 11
    deck = [card for card, copies in entry["cards"] for _ in range(copies)]
    return deck, sorted(TYPES.index(letter) + 1 for letter in entry["types"])


def free_deck(base: int, line: list[int]) -> tuple[Deck, Types]:
    """12 to 15: a deck of cards that were drawn."""
    deck = [BASICS[base].id] * COPIES  # 12
    for place in line:  # 13
        add_card(deck, ORDER[place])
    types = energy_types(deck)  # 14
    for card in FILL:  # 15
        while deck.count(card) < COPIES and len(deck) < SIZE:  # 15
            deck.append(card)
    return deck, types


def add_card(deck: Deck, card: Card) -> None:
    """13: what a value of the draw `line` adds."""
    if card.kind in ("supporter", "item"):
        if len(deck) < SIZE and deck.count(card.id) < COPIES:  # 13
            deck.append(card.id)
        return
    longer = list(deck)
    for member in line_of(card):  # 13
        longer += [member.id] * (COPIES - deck.count(member.id))
    if len(longer) <= SIZE and len(energy_types(longer)) <= 2:  # 13
        deck[:] = longer


def line_of(card: Card) -> list[Card]:
    """13: the card and all cards from which it evolves."""
    line = [card]
    while line[-1].below:
        line.append(BY_NAME[line[-1].below])
    return line


def energy_types(deck: Deck) -> Types:
    """14: the types in the costs of the attacks of the deck's Pokémon."""
    letters = {
        letter for card in deck for attack in CARDS[card].attacks for letter in attack.cost if letter != "C"
    }  # 14
    return sorted(TYPES.index(letter) + 1 for letter in letters) or [1]  # 14: grass, if there are none
