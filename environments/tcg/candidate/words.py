"""What the words of effects do (section Words of the rules), one row of them at a time."""

import jax
import jax.numpy as jnp
from card_words import RETURN, moved
from cards import (
    ALL,
    CHOOSE,
    PAY,
    PUSH,
    SPREAD,
    card_of,
    fits_of,
    has_bit,
    row_of,
)
from damage import damaged
from flow import share
from questions import answers, number_of_energy
from some import once
from state import (
    ASKED,
    CARD,
    DAMAGE,
    ENERGY,
    GAGGED,
    POISONED,
    SHIELD,
    change,
    chosen_place,
    exchanged,
    here,
    is_energy,
    number_of,
    of_mon,
    one_of,
    places,
    put,
    sides,
    wide,
)

LONGEST_RUN = 16  # 66
OF_OWN_SIDE, OF_OTHER_SIDE = 0, 1
CHARGE_SELF, CHARGE_CHOSEN, CHARGE_ACTIVE, DISCARD, DISCARD_ALL, STRIP, GATHER = range(1, 8)
HEAL_SELF, HEAL_CHOSEN, HEAL_OWN = range(1, 4)


def run(effect, flow):
    """Carry rows out up to a question or to the end (65)."""
    return once(flow.goes, _run, flow, effect)


def _run(flow, effect):
    return jax.lax.while_loop(lambda flow: flow.goes, lambda flow: _row(effect, flow), flow)


def _row(effect, flow):
    row = row_of(flow.row)
    on = flow.goes & ~flow.again  # in a batch some effects have ended before others
    state = flow.state
    aim = jnp.where(flow.aim > 0, flow.aim, jnp.where(on & (row.exchange == 1), wide(state.chosen), 0))
    mons, marks = exchanged(state.mons, state.marks, aim)
    flow = flow._replace(state=state._replace(mons=mons, marks=marks), aim=jnp.int32(0))
    flow = _flip(effect, row, flow, on)
    fails = on & jnp.stack([jnp.bool(False), flow.heads == 0, flow.tails == 0, flow.tails > 0])[row.need]
    on &= ~fails
    kept_off = effect.attacks & (flow.state.marks[1, SHIELD] == ALL)
    flow = _on_mons(effect, row, flow, on, kept_off)
    state = flow.state
    is_mark = on & (row.mark > 0) & ~(kept_off & (row.mark_side == 1) & (row.mark != GAGGED + 1))
    mark = (sides() == row.mark_side)[:, None] & (jnp.arange(8, dtype=jnp.int32) == row.mark - 1)
    marks = put(is_mark & mark, row.marked, state.marks)
    eased = state.eased + jnp.where(on, row.ease, 0).astype(jnp.uint8)
    flow = flow._replace(state=state._replace(marks=marks, eased=eased))
    on_cards = on & (row.cards > 0) & ~(kept_off & (row.cards == RETURN))
    flow = moved(effect, row._replace(cards=jnp.where(on_cards, row.cards, 0)), flow)
    return _ask(effect, row, flow, on, fails, kept_off)


def _flip(effect, row, flow, on):
    """66: the coins that come next are the lowest bits."""
    runs, flips = row.flip == ALL, on & (row.flip > 0)
    coins = effect.coins >> flow.coins.astype(jnp.uint32)
    counted = coins & ((jnp.uint32(1) << row.flip.astype(jnp.uint32)) - jnp.uint32(1))
    # Of a run the bits up to the first that is not set.
    bits = jnp.where(runs, coins & ~(coins + jnp.uint32(1)), counted)
    heads = jax.lax.population_count(bits).astype(jnp.int32)
    heads = jnp.where(runs, jnp.minimum(heads, LONGEST_RUN), heads)
    tails = jnp.where(runs, (heads < LONGEST_RUN).astype(jnp.int32), row.flip - heads)
    return flow._replace(
        heads=jnp.where(flips, heads, flow.heads),
        tails=jnp.where(flips, tails, flow.tails),
        coins=flow.coins + jnp.where(flips, heads + tails, 0),
    )


def _on_mons(effect, row, flow, on, kept_off):
    """Damage, what is healed, and energy: of all Pokémon in play at once."""
    state = flow.state
    cards = state.mons[:, :, CARD]
    more = flow.more + jnp.where(on, row.more * _count(effect, row, flow), 0)
    hits = on & (row.strike == 1)
    picks = flow.picks
    scatters = on & (row.strike == 3)
    damage, dealt = damaged(effect, row, state, more, picks, on)
    picks += jnp.where(scatters, row.times, 0)
    dealt = jnp.where(hits, dealt, flow.dealt)
    own_place, chosen = here(0, effect.place), chosen_place(state)
    targets = jnp.stack([jnp.zeros((2, 4), bool), own_place, chosen, jnp.broadcast_to((sides() == 0)[:, None], (2, 4))])
    healed = jnp.where(row.healed == ALL, dealt, row.healed)
    damage = jnp.where(on & targets[row.heal], jnp.maximum(damage - healed, 0), damage)
    energy, picks = _energy(effect, row, flow, on, kept_off, picks)
    changed = jnp.where(is_energy(), energy, state.mons)
    changed = jnp.where(of_mon() == DAMAGE, damage[:, :, None].astype(jnp.uint8), changed)
    changed = jnp.where((cards != 0)[:, :, None], changed, state.mons)
    return flow._replace(state=state._replace(mons=changed), more=jnp.where(hits, 0, more), dealt=dealt, picks=picks)


def _count(effect, row, flow):
    """What `more` counts (67)."""
    state, mons = flow.state, flow.state.mons
    fit = (mons[0, 1:, CARD] != 0) & has_bit(fits_of(mons[0, 1:, CARD]), row.count_filter)
    energy = one_of(jnp.arange(8, dtype=jnp.int32) == row.count_type, mons[0, 0, ENERGY])
    counts = [
        jnp.int32(0),
        flow.heads,
        wide(flow.tails == 0),
        number_of(fit),
        number_of_energy(mons[1, 0, ENERGY]),
        wide(wide(energy) >= row.least),
        wide(one_of(places() == effect.place, mons[0, :, DAMAGE]) > 0),
        wide(mons[1, 0, DAMAGE] > 0),
        wide(state.marks[1, POISONED] > 0),
    ]
    return one_of(jnp.arange(len(counts), dtype=jnp.int32) == row.counts, jnp.stack(counts))


def _energy(effect, row, flow, on, kept_off, picks):
    """Energies `[2, 4, 14]` beside other numbers of a Pokémon, after they came and went; and the picks used."""
    mons = flow.state.mons
    what, type_ = row.charge, row.charge_type
    foe_energy = wide(mons[1, 0, ENERGY])
    there = number_of_energy(foe_energy)
    strips = on & (what == STRIP) & ~kept_off & (there > 0)
    picked = share(effect, picks, there)
    up_to = jnp.sum(jnp.where(jnp.tri(8, dtype=bool), foe_energy, 0), axis=1, dtype=jnp.int32)
    type_ = jnp.where(strips, number_of(up_to <= picked), type_)
    own, active = here(0, effect.place), here(0, 0)
    of_type = wide(one_of(of_mon() == ENERGY.start + type_, mons, axis=2))
    gathered = jnp.sum(of_type[0, 1:], dtype=jnp.int32)
    number = jnp.where(row.charged == ALL, flow.heads, row.charged)
    is_type = card_of(mons[0, 0, CARD]).type == type_ + 1
    bench = (sides() == 0)[:, None] & (places() > 0)
    amount = jnp.where((what == CHARGE_SELF) & own, number, 0)
    amount += jnp.where((what == CHARGE_CHOSEN) & chosen_place(flow.state), number, 0)
    amount += jnp.where((what == CHARGE_ACTIVE) & is_type & active, number, 0)
    amount += jnp.where((what == DISCARD) & own, -number, 0)
    amount += jnp.where((what == DISCARD_ALL) & own, -ALL, 0)
    amount += jnp.where(strips & here(1, 0), -1, 0)
    amount += jnp.where((what == GATHER) & active, gathered, jnp.where((what == GATHER) & bench, -ALL, 0))
    amount = jnp.where(on, amount, 0)
    changes = (of_mon() == ENERGY.start + type_) | ((what == DISCARD_ALL) & is_energy())
    energy = jnp.maximum(wide(mons) + jnp.where(changes, amount[:, :, None], 0), 0).astype(jnp.uint8)
    return energy, picks + wide(strips)


def _ask(effect, row, flow, on, fails, kept_off):
    """The question at the end of a row, if it has one; then the next row, if there is one."""
    state, asks = flow.state, row.question
    cost = jnp.maximum(card_of(state.mons[0, 0, CARD]).retreat - wide(state.eased), 0)
    counted = jnp.where(asks == SPREAD, flow.heads, cost)
    counts = on & ((asks == SPREAD) | (asks == PAY))
    state = change(state, counts, left=counted)
    begins = flow.again | (on & (~counts | (counted > 0)) & ~((asks == PUSH) & kept_off))
    there, attacks, energies = answers(state, row)
    answered = jnp.any(there) | jnp.any(attacks) | jnp.any(energies)
    waits = (asks > 0) & begins & answered
    state = change(state, waits, phase=ASKED, asked=asks == PUSH)
    run_now = jnp.where(jnp.arange(4) == 2, row.word.astype(jnp.uint8), state.run)
    state = change(state, waits, run=run_now)
    stops = fails | waits | ((asks == CHOOSE) & ~answered) | (row.last == 1)
    return flow._replace(state=state, goes=~stops, row=flow.row + wide(~stops), again=jnp.bool(False))
