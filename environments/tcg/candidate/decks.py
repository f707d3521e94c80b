"""The beginning of a game: decks of draws, shuffles, and the first hands (9 to 22)."""

import jax
import jax.numpy as jnp
import numpy as np
from cards import BASIC, CARD_TABLE, COSTS, DECK_TYPES, DECKS, EVOLVES_FROM, FOSSIL, look
from piles import at_of, nth, placed, ranks, shuffled
from questions import legal
from state import DECK, MON, PLACE_ACTIVE, State, number_of, one_of, put, wide
from tables import BASICS, FILL, IN_ORDER

FIRST_HAND, COPIES, MOST_TYPES = 5, 2, 2
LONGEST_LINE = 3


def _lines():
    """By id: the cards of its line, the lowest first, and the types of energy in their costs, as bits (13, 14)."""
    lines, types = np.zeros((len(EVOLVES_FROM), LONGEST_LINE), np.uint8), np.zeros(len(EVOLVES_FROM), np.uint8)
    for number in IN_ORDER:
        line = [number]
        while EVOLVES_FROM[line[0]]:
            line.insert(0, int(EVOLVES_FROM[line[0]]))
        lines[number, : len(line)] = line
        costs = COSTS[line][:, :, :8].any(axis=(0, 1))
        types[number] = np.packbits(costs, bitorder="little")[0]
    return lines, types


LINE, LINE_TYPES = _lines()
KIND = CARD_TABLE[:, 0]
ORDER, BASIC_ORDER, FILLING = (np.array(each, np.uint8) for each in (IN_ORDER, BASICS, FILL))


def begin(draws):
    """The state before the first question (16 to 22)."""
    free = draws["source"] == 1
    made, made_types = jax.vmap(_free)(draws["base"], draws["line"])
    ready, ready_types = look(DECKS, draws["archetype"]), look(DECK_TYPES, draws["archetype"])
    deck = jnp.where(free[:, None], made, ready).astype(jnp.uint8)
    types = jnp.where(free[:, None], made_types, ready_types).astype(jnp.uint8)
    deck, hand = jax.vmap(_dealt)(jax.vmap(_shuffled)(deck, draws["shuffle"]))
    at = draws["energy"] % number_of(types != 0)
    energy = one_of(jnp.arange(types.shape[1], dtype=jnp.int32) == at[:, None], types, axis=1)
    first = draws["first"].astype(jnp.uint8)
    zero = jnp.uint8(0)
    empty = jnp.zeros((2, DECK), jnp.uint8)
    state = State(
        turn=zero,
        phase=jnp.uint8(PLACE_ACTIVE),
        player=first,
        asked=first,
        stage=zero,
        supporter=zero,
        retreated=zero,
        eased=zero,
        run=jnp.zeros(4, jnp.uint8),
        chosen=zero,
        left=zero,
        points=jnp.zeros(2, jnp.uint8),
        zone=jnp.stack([jnp.zeros_like(energy), energy], axis=1),
        types=types,
        deck=deck,
        looked=jnp.zeros(2, jnp.uint8),
        hand=hand,
        known=empty,
        discard=empty,
        mons=jnp.zeros((2, 4, MON), jnp.uint8),
        marks=jnp.zeros((2, 8), jnp.uint8),
        legal=jnp.zeros(52, bool),
    )
    return state._replace(legal=legal(state))


def _free(base, line):
    """A deck that draws make, in no order, and its types of energy (12 to 15).

    A line is added where it fits, so where its cards come to lie follows from how long the deck was then.
    """
    ids = jnp.concatenate([look(BASIC_ORDER, base)[None], look(ORDER, line)])
    lines, kinds, types = look(LINE, ids).astype(jnp.uint8), look(KIND, ids), look(LINE_TYPES, ids)
    trainers = kinds > FOSSIL
    # Of each card of a line: with which of the other draws it comes too, as bits.
    bits = jnp.uint32(1) << jnp.arange(len(ids), dtype=jnp.uint32)
    same = lines[:, None] == lines[None]
    same = jnp.sum(jnp.where(same, bits[None, :, None], jnp.uint32(0)), axis=1, dtype=jnp.uint32)

    def add(carry, one):
        length, taken, held = carry
        line, same, trainer, types, bit = one
        copies = jax.lax.population_count(same & taken).astype(jnp.int32)
        lacks = (line != 0) & (copies == 0)
        longer = length + COPIES * number_of(lacks)
        both = held | types
        fits = (longer <= DECK) & (jax.lax.population_count(both).astype(jnp.int32) <= MOST_TYPES)
        fits = jnp.where(trainer, (length < DECK) & (copies[0] < COPIES), fits)
        added = jnp.where(trainer, 1, longer - length)
        after = (
            jnp.where(fits, length + added, length),
            jnp.where(fits, taken | bit, taken),
            jnp.where(fits, both, held),
        )
        return after, (length, jnp.where(trainer, jnp.array([1, 0, 0], bool), lacks))

    start = (jnp.int32(COPIES), bits[0], types[0])
    rest = (lines[1:], same[1:], trainers[1:], types[1:], bits[1:])
    (length, taken, held), (starts, lacks) = jax.lax.scan(add, start, rest)
    # What fills the deck.
    filling = jnp.asarray(FILLING, jnp.int32)
    copies = number_of((ids == filling[:, None]) & ((taken & bits) != 0))
    missing = COPIES - copies
    before = jnp.sum(jnp.where(jnp.tri(len(FILL), k=-1, dtype=bool), missing, 0), axis=1, dtype=jnp.int32)
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), starts, length + before])
    # The last that begins at or before a place of the deck lies there.
    which = number_of(starts <= at_of()[:, None]) - 1
    only = jnp.array([[True, False, False]])
    lines = jnp.concatenate(
        [jnp.where(only, ids[:1, None], 0), lines[1:].astype(jnp.int32), jnp.where(only, filling[:, None], 0)]
    )
    lacks = jnp.concatenate([only, lacks, jnp.broadcast_to(only, (len(FILL), LONGEST_LINE))])
    line, lack = lines[which], lacks[which]
    nth_card = (at_of() - starts[which]) // COPIES
    earlier = jnp.stack([jnp.zeros_like(nth_card), wide(lack[:, 0]), wide(lack[:, 0]) + wide(lack[:, 1])], axis=1)
    deck = one_of(lack & (earlier == nth_card[:, None]), line, axis=1)
    return deck, _types(held)


def _types(bits):
    """Up to three types as their numbers; grass where there are none (14)."""
    flags = (bits >> jnp.arange(8, dtype=jnp.int32) & 1) == 1
    numbers = jnp.arange(1, 9, dtype=jnp.int32)
    found = jnp.stack([one_of(nth(flags, place), numbers) for place in range(3)])
    return jnp.where((jnp.arange(3) == 0) & (bits == 0), 1, found)


def _shuffled(deck, numbers):
    """A deck in any order is sorted by id, and then by numbers (16, 17)."""
    there = jnp.ones(DECK, bool)
    return shuffled(placed(deck, ranks(deck, there), there), numbers)


def _dealt(deck):
    """What is left of a deck, and the first hand: the fifth card changes places for a basic Pokémon, if it must (18, 19)."""
    basic = look(KIND, wide(deck)) == BASIC
    nearest = jnp.min(jnp.where(basic, at_of(), DECK))
    changes = nearest >= FIRST_HAND
    fifth, found = deck[FIRST_HAND - 1], one_of(at_of() == nearest, deck)
    deck = put(changes & (at_of() == FIRST_HAND - 1), found, deck)
    deck = put(changes & (at_of() == nearest), fifth, deck)
    top, there = deck[:FIRST_HAND], jnp.ones(FIRST_HAND, bool)
    return jnp.concatenate([deck[FIRST_HAND:], jnp.zeros(FIRST_HAND, jnp.uint8)]), placed(top, ranks(top, there), there)
