"""What may be answered to a question, and which actions are legal (92, 93)."""

import jax.numpy as jnp
from cards import (
    BASIC,
    COPY,
    COSTS,
    EVOLUTION,
    EVOLVES_FROM,
    FIRST,
    FOSSIL,
    IN_HAND,
    ITEM,
    ON_WHOM,
    PAY,
    PROMOTE,
    PUSH,
    SUPPORTER,
    affordable,
    card_of,
    fits_of,
    has_bit,
    look,
    row_at,
    row_of,
)
from state import (
    ASKED,
    ASLEEP,
    CARD,
    DAMAGE,
    ENERGY,
    FRESH,
    GAGGED,
    MAIN,
    MIND,
    NO_ATTACK,
    NO_RETREAT,
    OVER,
    PARALYSED,
    PLACE_ACTIVE,
    PLACE_BENCH,
    USED,
    chosen_place,
    number_of,
    one_of,
    places,
    room,
    sides,
    turned,
    wide,
)

HAND, OWN, OTHERS, ATTACK, USE, LEAVE, CHARGE, SCRAP, PAID = 1, 21, 25, 29, 31, 35, 36, 40, 44
ACTIONS = 52
FIRST_EVOLUTIONS = 3
"""The first turn in which a Pokémon can evolve (34)."""
OWN_SIDE, OTHER_SIDE = 1, 2


def can_evolve(state):
    """On which own places a Pokémon may evolve at all (34)."""
    mons = state.mons[0]
    return (state.turn >= FIRST_EVOLUTIONS) & (mons[:, CARD] != 0) & (mons[:, FRESH] == 0)


def answers(state, row):
    """Pokémon of both sides `[2, 4]`, attacks `[2]` and energies `[8]` that answer what a row asks.

    The first side of the state is that of the effect's player.
    """
    cards, asks = state.mons[:, :, CARD], row.question
    side, bench = sides() + OWN_SIDE, places() > 0
    there = (cards != 0) & (side == row.side)[:, None] & has_bit(fits_of(cards), row.filter)
    there &= (row.where == 0) | ((row.where == 1) == bench)
    there &= (row.wounded == 0) | (state.mons[:, :, DAMAGE] != 0)
    below = look(EVOLVES_FROM, wide(state.run[0])).astype(jnp.uint8)
    there &= (asks != ON_WHOM) | (can_evolve(state) & (cards[0] == below))
    first_half = (asks == COPY) & (state.chosen == 0)
    there &= (asks != COPY) | first_half
    attacks = (asks == COPY) & ~first_half & (look(COSTS, chosen_card(state))[:, 8] > 0)
    return there, attacks, (asks == PAY) & (state.mons[0, 0, ENERGY] > 0)


def chosen_card(state):
    """The id of the chosen Pokémon, or 0."""
    return wide(one_of(chosen_place(state), state.mons[:, :, CARD], axis=(0, 1)))


def legal(state):
    """Which actions are legal, bool `[52]`."""
    main, asked = state.phase == MAIN, state.phase == ASKED
    of_player = main | (asked & (state.run[1] != PROMOTE))
    state = turned(state, jnp.where(of_player, state.player, state.asked) == 1)
    row = row_of(row_at(wide(state.run[1]), wide(state.run[0]), wide(state.run[2])))
    there, attacks, energies = answers(state, row)
    # Whose Pokémon is pushed, chooses it: to that player it is an own one.
    there = jnp.where(row.question == PUSH, there[::-1], there).reshape(8)
    rest = jnp.zeros(PAID - USE, bool)
    answered = jnp.concatenate([jnp.zeros(OWN, bool), there, attacks, rest, energies])
    places_it = (state.phase == PLACE_ACTIVE) | (state.phase == PLACE_BENCH)
    actions = jnp.where(asked, answered, _in_turn(state, places_it))
    # While Pokémon are placed, only those of the hand count, and the end of it.
    placing = jnp.arange(ACTIONS) < jnp.where(state.phase == PLACE_ACTIVE, OWN, jnp.where(places_it, OWN, ACTIONS))
    placing &= (state.phase != PLACE_ACTIVE) | (jnp.arange(ACTIONS) > 0)
    return actions & placing & (state.phase != OVER)


def _in_turn(state, places_it):
    """What who is in turn may do; while Pokémon are placed, of the hand alone what is placed (22)."""
    mons, marks = state.mons, state.marks
    cards = mons[:, :, CARD]
    about, fits = card_of(cards), fits_of(cards)
    firsts = _firsts(state, fits)
    there, awake = cards[0] != 0, (marks[0, MIND] != ASLEEP) & (marks[0, MIND] != PARALYSED)
    energy = mons[0, 0, ENERGY]
    attacks = affordable(look(COSTS, wide(cards[0, 0])), energy) & awake & (marks[0, NO_ATTACK] == 0)
    cost = jnp.maximum(about.retreat[0, 0] - wide(state.eased), 0)
    leaves = awake & (state.retreated == 0) & (marks[0, NO_RETREAT] == 0) & (about.kind[0, 0] != FOSSIL)
    leaves &= (number_of_energy(energy) >= cost) & jnp.any(there[1:])
    uses = there & (about.uses[0] > 0) & (mons[0, :, USED] == 0) & ((about.uses[0] == 1) | (places() == 0))
    uses &= has_bit(firsts, about.uses_first[0])
    charges = there & (state.zone[0, 0] != 0)
    scraps = there & (about.kind[0] == FOSSIL) & (number_of(there) > 1)
    hand = _playable(state, about, firsts, places_it)
    no, yes = jnp.zeros(8, bool), jnp.ones(1, bool)
    return jnp.concatenate([yes, hand, no, attacks, uses, leaves[None], charges, scraps, no])


def number_of_energy(energy):
    return jnp.sum(energy, axis=-1, dtype=jnp.int32)


def _playable(state, about, firsts, places_it):
    """Which cards of the hand can be played, `[20]`."""
    rows = look(IN_HAND, wide(state.hand[0]))
    kind, first, below = rows[:, 0], rows[:, 1], rows[:, 2]
    cards = state.mons[:, :, CARD]
    silenced = jnp.where(cards[1, 0] != 0, about.silence[1, 0], 0) != 0
    supporters = (state.supporter == 0) & (state.marks[0, GAGGED] == 0) & ~silenced
    has_room = (room(cards[0]) > 0) | (state.phase == PLACE_ACTIVE)
    ready = jnp.where(can_evolve(state), wide(cards[0]), -1)
    evolves = (kind == EVOLUTION) & jnp.any(below == ready[:, None], axis=0)
    trainer = ((kind == ITEM) | ((kind == SUPPORTER) & supporters)) & has_bit(firsts, first)
    playable = ((kind == FOSSIL) & has_room) | evolves | trainer
    return ((kind == BASIC) & has_room) | (playable & ~places_it)


def _firsts(state, fits):
    """Which first words can do something (38), as bits by their numbers."""
    cards = state.mons[:, :, CARD]
    numbers = FIRST["filter"][:, None, None].astype("uint32")
    there = (cards != 0) & has_bit(fits, numbers) & (FIRST["side"][:, None] == sides() + OWN_SIDE)[..., None]
    bench = places() > 0
    there &= ((FIRST["where"] == 0)[:, None] | ((FIRST["where"] == 1)[:, None] == bench))[:, None]
    there &= (FIRST["hurt"] == 0)[:, None, None] | (state.mons[:, :, DAMAGE] != 0)
    somebody = jnp.any(there, axis=(1, 2)) | (FIRST["side"] == 0)
    on_bench = cards[0, 1:] != 0
    energy = jnp.any((state.mons[0, 1:, ENERGY] != 0) & on_bench[:, None], axis=0)
    besides = {0: jnp.bool(True), 1: jnp.any(on_bench), 3: state.deck[0, 0] != 0, 4: state.hand[1, 0] != 0}
    asked = zip(FIRST["besides"].tolist(), FIRST["type"].tolist(), strict=True)
    met = jnp.stack([energy[of_type] if what == 2 else besides[what] for what, of_type in asked])
    bits = jnp.uint32(1) << jnp.arange(met.shape[0], dtype=jnp.uint32)
    return jnp.sum(jnp.where(somebody & met, bits, jnp.uint32(0)), dtype=jnp.uint32)
