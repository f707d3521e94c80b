"""The damage of attacks, and damage that nothing changes (50 to 52, 68)."""

import jax.numpy as jnp
from cards import ALL, BOOST, MOST_TIMES, card_of, fits_of, has_bit, look
from flow import share
from state import CARD, DAMAGE, SHIELD, WEAKENED, chosen_place, here, number_of, places, sides, wide

WEAKNESS = 20
HIT, CHOSEN, SCATTER = 1, 2, 3


def damaged(effect, row, state, more, picks, on):
    """The damage on all Pokémon `[2, 4]` after the strikes of a row, and how much was added to the foe."""
    mons = state.mons
    cards, before = mons[:, :, CARD], wide(mons[:, :, DAMAGE])
    about = card_of(cards)
    strikes, bench = row.strike, places() > 0
    chosen = chosen_place(state) & (strikes == CHOSEN)
    to_bench = jnp.where(bench, row.bench, 0)
    # Of an attack what the other player's Pokémon take; all else changes by nothing.
    attack = jnp.where((strikes == HIT) & ~bench, row.damage + more, 0)
    attack += jnp.where(strikes == SCATTER, _scattered(effect, row, cards[1], picks) * row.damage, 0)
    aimed = jnp.where(chosen, row.damage, 0)
    attack += jnp.where(effect.attacks, aimed[1] + to_bench, 0)
    plain = jnp.stack([aimed[0], jnp.where(effect.attacks, 0, aimed[1] + to_bench)])
    plain += jnp.where(here(0, effect.place), row.hurt, 0)
    attack = jnp.where(on & (cards[1] != 0), _worked_out(state, attack, about), 0)
    plain = jnp.where(on, plain, 0)
    taken = jnp.minimum(about.hp[1], before[1] + attack)
    dealt = (taken - before[1])[0]
    countered = jnp.where(dealt > 0, about.counter[1, 0], 0)
    added = plain + jnp.where((sides() == 1)[:, None], attack, jnp.where(~bench, countered, 0))
    return jnp.where(added > 0, jnp.minimum(about.hp, before + added), before), dealt


def _scattered(effect, row, cards, picks):
    """How often each Pokémon of the other player was picked, `[4]` (69)."""
    there = cards != 0
    nth = jnp.sum(jnp.tri(4, k=-1, dtype=bool) & there, axis=1, dtype=jnp.int32)
    times = jnp.zeros(4, jnp.int32)
    for time in range(MOST_TIMES):
        picked = share(effect, picks + time, number_of(there))
        times += wide(there & (nth == picked) & (time < row.times))
    return times


def _worked_out(state, amount, about):
    """50."""
    active = places() == 0
    attacker = state.mons[0, 0, CARD]
    boost = look(BOOST, wide(state.supporter))
    boosts = active & (amount > 0) & has_bit(fits_of(attacker), boost[1])
    amount = jnp.maximum(amount + jnp.where(boosts, boost[0], 0) - wide(state.marks[0, WEAKENED]), 0)
    there = amount > 0
    weak = active & (about.weak[1] > 0) & (about.weak[1] == about.type[0, 0])
    amount += jnp.where(weak, WEAKNESS, 0) - about.armour[1]
    shield = wide(state.marks[1, SHIELD])
    amount = jnp.where(active, jnp.where(shield == ALL, 0, amount - shield), amount)
    return jnp.where(there, jnp.maximum(amount, 0), 0)
