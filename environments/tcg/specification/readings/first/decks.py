"""Decks: those of the archetypes, and free ones made of draws."""

from cards import TYPES, energy_types

SIZE, COPIES = 20, 2  # 9


def archetype(catalogue, place):
    """The deck at a place of the list, as sorted ids, and its types of energy as numbers (11)."""
    deck = catalogue.archetypes[place]
    ids = [number for number, copies in deck["cards"] for _ in range(copies)]
    return sorted(ids), _numbers(deck["types"])


def free(catalogue, base, line):
    """The deck that draws make: the place of a basic Pokémon, and places of cards (12 to 15)."""
    deck = [catalogue.basics[base]] * COPIES  # 12
    for place in line:
        card = catalogue.in_order[place]
        if card.kind in ("supporter", "item"):
            _bring_to(deck, card, _copies(deck, card) + 1)  # 13
            continue
        longer = list(deck)
        for member in catalogue.line(card):
            longer += [member] * (COPIES - _copies(deck, member))
        if len(longer) <= SIZE and len(energy_types(longer)) <= 2:
            deck = longer
    types = energy_types(deck)
    for number in catalogue.fill:  # 15
        _bring_to(deck, catalogue[number], COPIES)
    return sorted(card.id for card in deck), _numbers(types)


def _copies(deck, card):
    return sum(one.name == card.name for one in deck)


def _bring_to(deck, card, copies):
    while len(deck) < SIZE and _copies(deck, card) < min(copies, COPIES):
        deck.append(card)


def _numbers(letters):
    return [TYPES.index(letter) + 1 for letter in TYPES if letter in letters]
