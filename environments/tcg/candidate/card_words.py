"""What words do about hands, decks and discard piles (82 to 86)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from cards import fits_of, has_bit
from flow import share
from piles import DECK, FULL_HAND, at_of, drawn_often, given, joined, nth, shuffled, size, taken, thrown, without
from some import once
from state import CARD, FRESH, UNDER, change, freed, here, number_of, of_mon, one_of, put, room, sides, wide

DRAW, FIND, CALL, TOSS, RETURN, SHOW, LOOK, LIFT, REDRAW = range(1, 10)
OF_OTHER = (TOSS, RETURN, SHOW, REDRAW)
"""Words that are about the other player's cards."""


class Piles(NamedTuple):
    """The cards of one player that are not in play, by the names of State."""

    deck: jax.Array
    looked: jax.Array
    hand: jax.Array
    known: jax.Array
    discard: jax.Array


def moved(effect, row, flow):
    """What a row does about cards that are not in play, or leave it."""
    return once(row.cards > 0, _moved, flow, effect, row)


def _moved(flow, effect, row):
    state, what = flow.state, row.cards
    other = jnp.any(jnp.stack([what == word for word in OF_OTHER]))
    whose = sides() == wide(other)
    piles = Piles(*(jnp.where(other, leaf[1], leaf[0]) for leaf in (getattr(state, name) for name in Piles._fields)))
    mons, piles, picks = _picked(effect, row, flow, piles)
    # Who leaves the active spot: first the lowest card.
    leaves = (what == LIFT) | (what == RETURN)
    stack = _stack(jnp.where(other, mons[1, 0], mons[0, 0]))
    gone = leaves & here(wide(other), 0)
    state = state._replace(mons=jnp.where(gone[:, :, None], jnp.uint8(0), mons), marks=freed(state.marks, gone[:, 0]))
    for card in stack:
        hand, known = taken(piles.hand, piles.known, card, jnp.uint8(1), (what == LIFT) & (card != 0))
        piles = piles._replace(hand=hand, known=known)
    piles, shuffles = _shuffled(effect, row, flow, piles, stack)
    piles = change(piles, what == SHOW, known=piles.hand != 0)
    piles = change(
        piles, what == LOOK, looked=jnp.maximum(wide(piles.looked), jnp.minimum(row.cards_number, size(piles.deck)))
    )
    count = jnp.where((what == DRAW) | (what == REDRAW), row.cards_number, 0)
    drawn = drawn_often(piles.deck, piles.looked, piles.hand, piles.known, count)
    piles = Piles(*drawn, piles.discard)
    changed = {
        name: put(whose if pile.ndim == 0 else whose[:, None], pile, getattr(state, name))
        for name, pile in piles._asdict().items()
    }
    return flow._replace(
        state=state._replace(**changed), picks=flow.picks + wide(picks), shuffles=flow.shuffles + wide(shuffles)
    )


def _picked(effect, row, flow, piles):
    """`find`, `call` and `toss`: the Pokémon in play and the piles after them, and whether a pick was needed."""
    what, mons = row.cards, flow.state.mons
    free = room(mons[0, :, CARD])
    seeks = ((what == FIND) & (size(piles.hand) < FULL_HAND)) | ((what == CALL) & (free > 0))
    fit = seeks & (piles.deck != 0) & has_bit(fits_of(piles.deck), row.cards_filter)
    tosses = what == TOSS
    right = jnp.where(tosses, piles.hand != 0, fit)
    things = number_of(right)
    picks = (seeks | tosses) & (things > 0)
    found = nth(right, share(effect, flow.picks, things))
    at, card = one_of(found, at_of()), one_of(found, jnp.where(tosses, piles.hand, piles.deck))
    seeks, tosses = picks & seeks, picks & tosses
    looked = piles.looked - (seeks & (at < wide(piles.looked))).astype(jnp.uint8)
    hand, known = given(piles.hand, piles.known, card, tosses)
    hand, known = taken(hand, known, card, jnp.uint8(1), seeks & (what == FIND))
    calls = (seeks & (what == CALL) & here(0, free))[:, :, None]
    mons = put(calls & (of_mon() == CARD), card, mons)
    mons = put(calls & (of_mon() == FRESH), 1, mons)
    discard = thrown(piles.discard, card, tosses)
    return mons, Piles(without(piles.deck, at, seeks), looked, hand, known, discard), picks


def _stack(mon):
    """The cards of a Pokémon in play, the lowest first and without a gap; 0 where there are no more."""
    card, (first, second) = mon[CARD], mon[UNDER]
    zero = jnp.uint8(0)
    return [
        jnp.where(first != 0, first, card),
        jnp.where(first == 0, zero, jnp.where(second != 0, second, card)),
        jnp.where(second != 0, card, zero),
    ]


def _shuffled(effect, row, flow, piles, stack):
    """`return` and `redraw`: cards are put below the deck, which is shuffled. Also whether it is."""
    redraws = row.cards == REDRAW
    shuffles = redraws | (row.cards == RETURN)
    numbers = effect.shuffles[jnp.minimum(flow.shuffles, effect.shuffles.shape[0] - 1)]
    below = jnp.where(redraws, piles.hand, jnp.pad(jnp.stack(stack), (0, DECK - len(stack))))
    deck = once(
        shuffles, lambda deck, below, numbers: shuffled(joined(deck, below), numbers), piles.deck, below, numbers
    )
    piles = change(piles._replace(deck=deck), shuffles, looked=0)
    return change(piles, redraws, hand=jnp.zeros_like(piles.hand), known=jnp.zeros_like(piles.known)), shuffles
