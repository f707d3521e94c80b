"""A step: an action, the effect that runs then, knockouts, checkups and turns, up to the next question (29 to 64)."""

import jax
import jax.numpy as jnp
from actions import act
from cards import (
    ATTACK_1,
    ATTACK_2,
    PROMOTE,
    card_of,
)
from flow import Effect
from piles import drawn, thrown
from questions import legal
from some import once
from state import (
    ASKED,
    ASLEEP,
    BURNED,
    CARD,
    CHECKED,
    DAMAGE,
    FRESH,
    GAGGED,
    IN_TURN,
    MAIN,
    MIND,
    NO_ATTACK,
    NO_RETREAT,
    OVER,
    PARALYSED,
    POISONED,
    SHIELD,
    TURN_ENDED,
    UNDER,
    USED,
    WEAKENED,
    change,
    freed,
    number_of,
    of_mon,
    one_of,
    places,
    put,
    sides,
    turned,
    wide,
)
from words import run

LAST_TURN, POINTS = 30, 3
NOTHING = {"run": 0, "chosen": 0, "left": 0}
"""What is left of an effect that does not run."""


def play(state, action, draws):
    """The state after a step, who won in it `[2]`, and how many draws were used by name."""
    second = state.player == 1
    coins = jnp.sum(draws["coin"].astype(jnp.uint32) << jnp.arange(24, dtype=jnp.uint32), dtype=jnp.uint32)
    state = turned(state, second)
    state = state._replace(asked=state.asked ^ state.player)
    flow, part, place, after = act(state, action, coins)
    runs = flow.goes
    flow = run(Effect(part, place, coins, draws["pick"], draws["shuffle"]), flow)
    finished = runs & (flow.state.phase != ASKED)
    state = change(flow.state, finished, **NOTHING, phase=MAIN, asked=0)
    ends = after.ends_turn | (finished & ((part == ATTACK_1) | (part == ATTACK_2)))
    state, begins, won, used_coins = _settle(
        state, after, ends, ends | finished | jnp.any(after.scraps), coins, flow.coins
    )
    side = jnp.where(after.begins, after.side, 1)
    begins |= after.begins
    state, used_energy = _begin_turn(state, begins, side, draws["energy"])
    state = turned(state, second)
    state = state._replace(asked=state.asked ^ state.player)
    state = change(state, begins, player=state.player ^ side.astype(jnp.uint8))
    state = change(state, begins, asked=state.player)
    state = state._replace(legal=legal(state))
    used = {"coin": used_coins, "pick": flow.picks, "shuffle": flow.shuffles, "energy": used_energy}
    return state, jnp.where(second, won[::-1], won), used


def _settle(state, after, ends_turn, settles, coins, used):
    """Knockouts, the end, empty active spots (53 to 57), and the checkup between the two rounds of them.

    Returns also whether a turn begins, who won `[2]`, and how many coins were used.
    """
    state = change(state, ends_turn, **_ended(state))
    cards = state.mons[:, :, CARD]
    about = card_of(cards)
    alive = (cards != 0) & ~after.scraps
    first = (state, alive, settles, jnp.zeros(2, bool), used)
    left = jax.lax.fori_loop(0, 2, lambda _, held: _round(held, about, coins), first)
    state, alive, settles, won, used = left
    gone = (cards != 0) & ~alive
    leaving = jnp.where(gone[:, :, None], state.mons[:, :, : UNDER.stop], jnp.uint8(0)).reshape(2, -1)
    trainer = jnp.where(sides() == 0, after.card, jnp.uint8(0))[:, None]
    state = state._replace(
        mons=jnp.where(gone[:, :, None], jnp.uint8(0), state.mons),
        marks=freed(state.marks, gone[:, 0]),
        discard=_all_thrown(state.discard, jnp.concatenate([leaving, trainer], axis=1)),
    )
    return state, settles & (state.stage == CHECKED), won, used


def _ended(state):
    """What ends with a turn (46, 73 to 76)."""
    column = jnp.arange(8, dtype=jnp.int32)
    own = (sides() == 0)[:, None]
    lasting = (column == NO_ATTACK) | (column == NO_RETREAT) | (column == WEAKENED) | (column == GAGGED)
    ended = jnp.where(own, lasting, column == SHIELD)
    zone = own & (jnp.arange(2, dtype=jnp.int32) == 0)
    turns = own[:, :, None] & ((of_mon() == FRESH) | (of_mon() == USED))
    zero = jnp.uint8(0)
    return {
        "stage": TURN_ENDED, "supporter": 0, "retreated": 0, "eased": 0,
        "marks": jnp.where(ended, zero, state.marks),
        "zone": jnp.where(zone, zero, state.zone),
        "mons": jnp.where(turns, zero, state.mons),
    }  # fmt: skip


def _round(held, about, coins):
    """Who is knocked out, and what follows: the end, a question, or the checkup, if that was not yet."""
    state, alive, settles, won, used = held
    damage = wide(state.mons[:, :, DAMAGE])
    out = alive & settles & (damage >= about.hp)
    alive &= ~out
    gained = jnp.sum(jnp.where(out, about.points, 0), axis=1, dtype=jnp.int32)[::-1]
    points = (wide(state.points) + gained).astype(jnp.uint8)
    reasons = wide(points >= POINTS) + wide(~jnp.any(alive, axis=1))[::-1]
    over = settles & jnp.any(reasons > 0)
    won = jnp.where(over, reasons > reasons[::-1], won)
    settles &= ~over
    late = settles & (state.stage == CHECKED) & (state.turn == LAST_TURN)
    settles &= ~late
    # Who is not in turn chooses first (55).
    empty = ~alive[:, 0]
    asks = settles & jnp.any(empty)
    settles &= ~asks
    state = change(state._replace(points=points), over | late, phase=OVER)
    state = change(state, asks, run=jnp.array([0, PROMOTE, 0, 0]), asked=empty[1], phase=ASKED)
    checks = settles & (state.stage == TURN_ENDED)
    state, used = _check_up(change(state, checks, stage=CHECKED), checks, about.hp[:, 0], coins, used)
    return state, alive, settles, won, used


def _check_up(state, on, hp, coins, used):
    """62 and 63."""
    marks, damage = state.marks, wide(state.mons[:, 0, DAMAGE])
    poisoned, burned = (marks[:, at] != 0 for at in (POISONED, BURNED))
    damage = jnp.where(poisoned, jnp.minimum(hp, damage + 10), damage)
    damage = jnp.where(burned, jnp.minimum(hp, damage + 20), damage)
    asleep = marks[:, MIND] == ASLEEP
    # Coins are flipped for a burn, then for sleep, first of who is in turn.
    flips = jnp.stack([burned, asleep], axis=1).reshape(4) & on
    before = jnp.sum(jnp.tri(4, k=-1, dtype=bool) & flips, axis=1, dtype=jnp.int32)
    heads = ((coins >> (used + before).astype(jnp.uint32)) & jnp.uint32(1) == 1).reshape(2, 2)
    recovers = (asleep & heads[:, 1]) | ((marks[:, MIND] == PARALYSED) & (sides() == 0))
    column = jnp.arange(8, dtype=jnp.int32)
    marks = jnp.where((column == MIND) & recovers[:, None], jnp.uint8(0), marks)
    marks = put((column == BURNED) & burned[:, None], (~heads[:, :1]).astype(jnp.uint8), marks)
    hurt = (places() == 0)[:, None] & (of_mon() == DAMAGE)
    mons = jnp.where(hurt, damage.astype(jnp.uint8)[:, None, None], state.mons)
    return change(state, on, marks=marks, mons=mons), used + number_of(flips)


def _all_thrown(piles, cards):
    """Discard piles of both players with all cards of `[2, n]`; 0 is no card."""
    return once(jnp.any(cards != 0), _thrown_one_by_one, piles, cards)


def _thrown_one_by_one(piles, cards):
    """The largest first."""

    def throw(held):
        piles, cards = held
        card = jnp.max(cards, axis=1)
        at = jnp.argmax(cards, axis=1).astype(jnp.int32)
        piles = jax.vmap(thrown)(piles, card, card != 0)
        there = jnp.arange(cards.shape[1], dtype=jnp.int32) == at[:, None]
        return piles, jnp.where(there, jnp.uint8(0), cards)

    return jax.lax.while_loop(lambda held: jnp.any(held[1] != 0), throw, (piles, cards))[0]


def _begin_turn(state, on, side, energies):
    """30 and 44: the turn of one side begins. Returns also how many energies were drawn."""
    turn = state.turn + jnp.uint8(1)
    whose = on & (sides() == side)
    types, zone, deck, looked, hand, known = (
        jnp.where(side == 1, leaf[1], leaf[0])
        for leaf in (state.types, state.zone, state.deck, state.looked, state.hand, state.known)
    )
    draws = on & (turn > 1)
    number = jnp.maximum(number_of(types != 0), 1)
    comes = one_of(jnp.arange(3, dtype=jnp.int32) == energies[0] % number, types)
    zone = jnp.where(draws, jnp.stack([zone[1], comes]), zone)
    deck, looked, hand, known = drawn(deck, looked, hand, known, on)
    rows = {"zone": zone, "deck": deck, "looked": looked, "hand": hand, "known": known}
    rows = {
        name: jnp.where(whose if row.ndim == 0 else whose[:, None], row, getattr(state, name))
        for name, row in rows.items()
    }
    state = state._replace(**rows)
    return change(state, on, turn=turn, phase=MAIN, stage=IN_TURN), wide(draws)
