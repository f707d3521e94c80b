"""What an action does at once, and the effect that it begins or goes on with (22, 32 to 46, 92 to 95)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from cards import (
    ABILITY,
    ATTACK_1,
    BASIC,
    CHOOSE,
    COPY,
    COSTS,
    EVOLUTION,
    EVOLVE,
    FOSSIL,
    ON_WHOM,
    PAY,
    PROMOTION,
    PUSH,
    RETREAT,
    SPREAD,
    SUPPORTER,
    TRAINER,
    affordable,
    card_of,
    look,
    row_at,
    row_of,
)
from flow import Flow
from piles import card_at, given
from questions import ACTIONS, ATTACK, CHARGE, HAND, LEAVE, OWN, PAID, SCRAP, USE, chosen_card
from state import (
    ASKED,
    CARD,
    CONFUSED,
    ENERGY,
    FRESH,
    MAIN,
    MIND,
    PLACE_ACTIVE,
    PLACE_BENCH,
    PLACES,
    UNDER,
    USED,
    change,
    freed,
    here,
    of_mon,
    one_of,
    places,
    put,
    room,
    sides,
    wide,
)


class After(NamedTuple):
    """What an action leaves to be done behind the effect that it began, if it began one."""

    card: jax.Array
    """The trainer that was played, which goes to the discard pile, or 0."""
    scraps: jax.Array
    """The fossil that is discarded, `[2, 4]`."""
    ends_turn: jax.Array
    begins: jax.Array
    """Whether the first turn begins, and whose it is."""
    side: jax.Array


class Action:
    """What an action is, as flags; an action that is not legal is nothing at all (93).

    `asks` is what was asked, `side` who was, and `question` the row that asked.
    """

    def __init__(self, state, action):
        legal = jnp.any(state.legal & (jnp.arange(ACTIONS, dtype=jnp.int32) == action))
        main, self.answers = legal & (state.phase == MAIN), legal & (state.phase == ASKED)
        self.number, self.side, self.main = action, wide(state.asked), main
        self.places = legal & ((state.phase == PLACE_ACTIVE) | (state.phase == PLACE_BENCH))
        self.plays = (self.places | main) & (action >= HAND) & (action < OWN)
        self.attacks = main & (action >= ATTACK) & (action < USE)
        self.uses = main & (action >= USE) & (action < LEAVE)
        self.leaves = main & (action == LEAVE)
        self.charges = main & (action >= CHARGE) & (action < SCRAP)
        self.scraps = main & (action >= SCRAP)
        self.ends = main & (action == 0)
        number, part, word, _ = running(state)
        self.question = row_at(part, number, word)
        row = row_of(self.question)
        self.asks, self.type_asked = jnp.where(self.answers, row.question, 0), row.type
        self.pays, self.spreads, self.evolves = (self.asks == question for question in (PAY, SPREAD, ON_WHOM))
        self.pushes, self.promotes = self.asks == PUSH, self.asks == PROMOTION
        self.chooses = (self.asks == CHOOSE) | ((self.asks == COPY) & (state.chosen == 0))
        self.copies = (self.asks == COPY) & (state.chosen != 0)


def running(state):
    """The effect that runs: its card, part, word and place."""
    return tuple(wide(state.run[at]) for at in range(4))


def act(state, action, coins):
    """Do an action, as far as nothing of it is words; the effect that begins or goes on; and what is left for later."""
    it = Action(state, action)
    state, card = _from_hand(state, it)
    kind = card_of(card).kind
    puts = it.plays & (it.places | (kind == BASIC) | (kind == FOSSIL))
    state, target = _with_one_changed(state, it, puts, card)
    state = change(state, it.charges, zone=jnp.stack([state.zone[0] * jnp.array([0, 1], jnp.uint8), state.zone[1]]))
    state = change(state, it.spreads | it.pays, left=state.left - 1)
    state = change(state, it.leaves, retreated=1)
    state = change(state, it.answers, phase=MAIN)
    trainer = it.main & it.plays & (kind > FOSSIL)
    state = change(state, trainer & (kind == SUPPORTER), supporter=card)

    confused = it.attacks & (state.marks[0, MIND] == CONFUSED)
    fails = confused & ((coins & jnp.uint32(1)) == 0)  # 48
    state, starts = _begun(state, it, it.plays & ~puts, it.attacks & ~fails, card, target)
    number, part, _, place = running(state)
    again = ((it.spreads | it.pays) & (state.left > 0)) | ((it.asks == COPY) & ~it.copies)
    row = jnp.where(starts, row_at(part, number, 0), it.question + wide(~again))
    aim = jnp.where(it.pushes, 1, it.side) * PLACES + action - OWN + 1
    zero = jnp.int32(0)
    flow = Flow(
        state=state,
        goes=starts | it.answers,
        row=row,
        again=again,
        aim=jnp.where(it.pushes | it.promotes, aim, 0),
        heads=zero,
        tails=zero,
        more=zero,
        dealt=zero,
        coins=wide(confused),
        picks=zero,
        shuffles=zero,
    )
    state, begins = _placed(state, it.places, puts, it.side)
    after = After(
        card=jnp.where(trainer, card, 0).astype(jnp.uint8),
        scraps=here(0, action - SCRAP) & it.scraps,
        ends_turn=it.ends | fails,
        begins=begins,
        side=1 - it.side,
    )
    return flow._replace(state=state), part, place, after


def _from_hand(state, it):
    """The card that is played leaves the hand."""
    hand, known = (jnp.where(it.side == 1, leaf[1], leaf[0]) for leaf in (state.hand, state.known))
    card = card_at(hand, it.number - HAND)
    hand, known = given(hand, known, card, it.plays)
    whose = (sides() == it.side)[:, None]
    state = state._replace(hand=jnp.where(whose, hand, state.hand), known=jnp.where(whose, known, state.known))
    return state, wide(card)


def _with_one_changed(state, it, puts, card):
    """One Pokémon is put into play, evolves, gets or pays energy, or uses its ability. Also its place."""
    side, action = jnp.where(puts, it.side, 0), it.number
    mons = jnp.where(side == 1, state.mons[1], state.mons[0])
    free = jnp.where(state.phase == PLACE_ACTIVE, 0, room(mons[:, CARD]))
    first = jnp.where(it.uses, USE, jnp.where(it.charges, CHARGE, OWN))
    target = jnp.where(puts, free, jnp.where(it.pays, 0, action - first))
    mons = _changed(
        mons,
        target,
        card=jnp.where(puts, card, jnp.where(it.evolves, wide(state.run[0]), 0)),
        under=it.evolves,
        fresh=(puts & it.main) | it.evolves,
        used=jnp.where(it.uses, 1, jnp.where(it.evolves, 0, -1)),
        type_=jnp.where(it.charges, wide(state.zone[0, 0]) - 1, jnp.where(it.pays, action - PAID, it.type_asked)),
        energy=wide(it.charges | it.spreads) - wide(it.pays),
    )
    marks = freed(state.marks, (sides() == 0) & it.evolves & (target == 0))
    state = state._replace(mons=jnp.where((sides() == side)[:, None, None], mons, state.mons), marks=marks)
    return state, target


def _begun(state, it, by_hand, attacks, card, target):
    """The effect that begins, if one does: of a card of the hand, an ability, a retreat, or an attack, also a copied one."""
    theirs, at = chosen_card(state), (it.number - ATTACK) & 1
    cost = look(COSTS, theirs)[at]
    copied = it.copies & affordable(cost, state.mons[0, 0, ENERGY]) & (cost[-1] == 0)  # 89
    state = change(state, it.chooses, chosen=it.number - OWN + 1)
    state = change(state, copied, chosen=0)
    user = wide(one_of(places() == jnp.where(it.uses, target, 0), state.mons[0, :, CARD]))
    number = jnp.where(by_hand, card, jnp.where(copied, theirs, user))
    part = jnp.where(by_hand, jnp.where(card_of(card).kind == EVOLUTION, EVOLVE, TRAINER), ATTACK_1 + at)
    part = jnp.where(it.uses, ABILITY, jnp.where(it.leaves, RETREAT, part))
    starts = by_hand | attacks | it.uses | it.leaves | copied
    begun = jnp.stack([number, part, jnp.int32(0), jnp.where(it.uses, target, 0)])
    return change(state, starts, run=begun), starts


def _changed(mons, target, card, under, fresh, used, type_, energy):
    """A side `[4, 14]` of which one Pokémon has another card, unless that is 0, other energy, and other flags.

    Its old card comes `under` the new one; `used` is -1 where it stays.
    """
    at = (places() == target)[:, None]
    old = one_of(at, mons)
    column = of_mon()
    new = put((column == CARD) & (card > 0), card, old)
    below = jnp.where(old[UNDER.start] == 0, UNDER.start, UNDER.start + 1)
    new = put((column == below) & under, old[CARD], new)
    new = put((column == FRESH) & fresh, 1, new)
    new = put((column == USED) & (used >= 0), used, new)
    new = jnp.where(column == ENERGY.start + type_, (wide(new) + energy).astype(jnp.uint8), new)
    return jnp.where(at, new, mons)


def _placed(state, placing, puts, side):
    """22 and 24: who comes next, and whether the first turn begins."""
    state = change(state, placing & puts, phase=PLACE_BENCH)
    ends = placing & ~puts
    begins = ends & (state.mons[:, 0, CARD][1 - side] != 0)
    return change(state, ends & ~begins, asked=1 - side, phase=PLACE_ACTIVE), begins
