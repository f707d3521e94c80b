"""Cards in hands, decks and discard piles: lists of ids `[20]`, zeros at their end."""

import jax
import jax.numpy as jnp
from state import DECK, number_of, one_of, wide

FULL_HAND = 10


def at_of():
    return jnp.arange(DECK, dtype=jnp.int32)


def size(cards):
    return number_of(cards != 0)


def without(cards, at, on):
    """A list without the card at a place."""
    ahead = jnp.concatenate([cards[1:], jnp.zeros_like(cards[:1])])
    return jnp.where(on & (at_of() >= at), ahead, cards)


def _with(cards, at, card, on):
    behind = jnp.concatenate([cards[:1], cards[:-1]])
    given = jnp.where(at_of() == at, card, jnp.where(at_of() > at, behind, cards))
    return jnp.where(on, given, cards)


def taken(hand, known, card, seen, on):
    """A sorted hand with one more card (28); of equal cards those that are not known come first."""
    before = (hand != 0) & ((hand < card) | ((hand == card) & (known <= seen)))
    at = number_of(before)
    return _with(hand, at, card, on), _with(known, at, seen, on)


def given(hand, known, card, on):
    """A hand without a card: of equal ones the last, which is known if one of them is (84)."""
    at = number_of((hand != 0) & (hand <= card)) - 1
    return without(hand, at, on), without(known, at, on)


def thrown(pile, card, on):
    """A sorted discard pile with one more card."""
    return _with(pile, number_of((pile != 0) & (pile <= card)), card, on)


def nth(flags, place):
    """The flag alone that is at a place among those that hold, counted from 0; flags `[n]` of at most 32."""
    bit = jnp.uint32(1) << jnp.arange(flags.shape[0], dtype=jnp.uint32)
    bits = jnp.sum(jnp.where(flags, bit, jnp.uint32(0)), dtype=jnp.uint32)
    return flags & (jax.lax.population_count(bits & (bit - jnp.uint32(1))).astype(jnp.int32) == place)


def ranks(keys, there):
    """The place of each of `[n]` numbers among those that are there, if they are sorted; equal ones keep their order."""
    at = jnp.arange(keys.shape[0], dtype=jnp.int32)
    before = (keys[:, None] < keys) | ((keys[:, None] == keys) & (at[:, None] < at))
    return jnp.sum(before & there[:, None], axis=0, dtype=jnp.int32)


def placed(cards, rank, there):
    """A list of what is there, each card at its rank."""
    is_at = (rank[:, None] == at_of()) & there[:, None]
    return jnp.sum(jnp.where(is_at, cards[:, None], jnp.zeros_like(cards[:1])), axis=0, dtype=cards.dtype)


def shuffled(deck, numbers):
    """A deck sorted by numbers (16)."""
    there = deck != 0
    return placed(deck, ranks(numbers, there), there)


def joined(cards, others):
    """A list with another below it, whose zeros are at its end."""
    at = at_of() - size(cards)
    below = others.at[jnp.clip(at, 0, DECK - 1)].get(mode="promise_in_bounds")
    return jnp.where(at >= 0, below, cards)


def card_at(cards, at):
    return one_of(at_of() == at, cards)


def drawn(deck, looked, hand, known, on):
    """The top card of a deck comes into a hand, unless that is full or there is none (31)."""
    on = on & (size(hand) < FULL_HAND) & (deck[0] != 0)
    hand, known = taken(hand, known, deck[0], jnp.uint8(0), on)
    looked = jnp.where(on, jnp.maximum(wide(looked) - 1, 0).astype(jnp.uint8), looked)
    return without(deck, 0, on), looked, hand, known


def drawn_often(deck, looked, hand, known, count):
    """So many cards are drawn, one after another."""

    def draw(held):
        left, deck, looked, hand, known = held
        return (left - 1, *drawn(deck, looked, hand, known, left > 0))

    return jax.lax.while_loop(lambda held: held[0] > 0, draw, (count, deck, looked, hand, known))[1:]
