"""What a battle is between two steps, and how the two Pokémon that are in it are taken out, changed and put back."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from rules import ATTACK, BURN, PARALYSIS, PARTY, SPECIES_TABLE, SPEED, look

NOBODY, MOVE, SWITCH = 0, 1, 2
"""What a player is asked for."""


class State(NamedTuple):
    """The leaves of task.toml, in their own small types: of a side `[2]`, of its members `[2, 6]`."""

    turn: jax.Array
    last_damage: jax.Array
    request: jax.Array
    active: jax.Array
    selected: jax.Array
    slot: jax.Array
    side_last: jax.Array
    species: jax.Array
    level: jax.Array
    max_hp: jax.Array
    stats: jax.Array
    moves: jax.Array
    pp: jax.Array
    hp: jax.Array
    status: jax.Array
    sleep: jax.Array
    slept_by_foe: jax.Array
    sub_fainted: jax.Array
    seen: jax.Array
    types: jax.Array
    transformed: jax.Array
    stored: jax.Array
    modified: jax.Array
    boosts: jax.Array
    act_moves: jax.Array
    act_pp: jax.Array
    last_move: jax.Array
    confusion: jax.Array
    flinch: jax.Array
    trapped: jax.Array
    trapped_maybe: jax.Array
    fake_trapped: jax.Array
    trap_turns: jax.Array
    trap_total: jax.Array
    trap_damage: jax.Array
    trap_move: jax.Array
    trap_target: jax.Array
    recharge: jax.Array
    thrash_move: jax.Array
    thrash_turns: jax.Array
    thrash_accuracy: jax.Array
    two_turn: jax.Array
    invulnerable: jax.Array
    bide_turns: jax.Array
    bide_damage: jax.Array
    disable_turns: jax.Array
    disable_slot: jax.Array
    disable_move: jax.Array
    substitute: jax.Array
    leech_seed: jax.Array
    focus_energy: jax.Array
    mist: jax.Array
    reflect: jax.Array
    light_screen: jax.Array
    rage: jax.Array
    toxic: jax.Array


class Mon(NamedTuple):
    """A Pokémon that is in the battle, and what its side remembers: int32 and bool. The names are those of State.

    `place` is that in its team, `queued` the move that it is about to make. Of its bench stands here whether somebody
    sleeps there by the foe's doing, or is frozen, as more than one of a team may not.
    """

    place: jax.Array
    queued: jax.Array
    bench_slept: jax.Array
    bench_frozen: jax.Array
    selected: jax.Array
    slot: jax.Array
    side_last: jax.Array
    species: jax.Array
    level: jax.Array
    max_hp: jax.Array
    stats: jax.Array
    moves: jax.Array
    pp: jax.Array
    hp: jax.Array
    status: jax.Array
    sleep: jax.Array
    slept_by_foe: jax.Array
    sub_fainted: jax.Array
    types: jax.Array
    transformed: jax.Array
    stored: jax.Array
    modified: jax.Array
    boosts: jax.Array
    act_moves: jax.Array
    act_pp: jax.Array
    last_move: jax.Array
    confusion: jax.Array
    flinch: jax.Array
    trapped: jax.Array
    trapped_maybe: jax.Array
    fake_trapped: jax.Array
    trap_turns: jax.Array
    trap_total: jax.Array
    trap_damage: jax.Array
    trap_move: jax.Array
    trap_target: jax.Array
    recharge: jax.Array
    thrash_move: jax.Array
    thrash_turns: jax.Array
    thrash_accuracy: jax.Array
    two_turn: jax.Array
    invulnerable: jax.Array
    bide_turns: jax.Array
    bide_damage: jax.Array
    disable_turns: jax.Array
    disable_slot: jax.Array
    disable_move: jax.Array
    substitute: jax.Array
    leech_seed: jax.Array
    focus_energy: jax.Array
    mist: jax.Array
    reflect: jax.Array
    light_screen: jax.Array
    rage: jax.Array
    toxic: jax.Array


OF_SIDE = ("selected", "slot", "side_last")
OF_MEMBER = (
    "species",
    "level",
    "max_hp",
    "stats",
    "moves",
    "pp",
    "hp",
    "status",
    "sleep",
    "slept_by_foe",
    "sub_fainted",
)
CHANGING = ("pp", "hp", "status", "sleep", "slept_by_foe", "sub_fainted")
OF_ACTIVE = State._fields[State._fields.index("types") :]
"""What is of the Pokémon that is in the battle; from `confusion` on it leaves it with the battle."""
LEAVING = OF_ACTIVE[OF_ACTIVE.index("last_move") :]


def put(pokemon, where, **values):
    """The same with other values where a condition holds."""
    return pokemon._replace(**{name: jnp.where(where, value, getattr(pokemon, name)) for name, value in values.items()})


def wide(leaf):
    return leaf if leaf.dtype == bool else leaf.astype(jnp.int32)


def beside(flags, leaf):
    """Flags with axes at their end, to go with a leaf that has more."""
    return flags.reshape(flags.shape + (1,) * (leaf.ndim - flags.ndim))


def member(leaf, here):
    """Of a leaf `[2, 6, ...]` what is of one place on either side, `here` being true there."""
    mask = beside(here, leaf)
    if leaf.dtype == bool:
        return jnp.any(leaf & mask, axis=1)
    return jnp.sum(jnp.where(mask, wide(leaf), 0), axis=1, dtype=jnp.int32)


def places():
    return jnp.arange(PARTY, dtype=jnp.int32)


def members(state, place):
    """What both sides' members at these places `[2]` are, by name."""
    here = places() == place[:, None]
    return {name: member(getattr(state, name), here) for name in OF_MEMBER}


def load(state):
    """Both Pokémon that are in the battle, as a Mon of leaves `[2, ...]`. Nobody is about to move."""
    active = wide(state.active)
    given = {name: wide(getattr(state, name)) for name in (*OF_SIDE, *OF_ACTIVE)}
    none = jnp.zeros(2, bool)
    return Mon(
        place=active,
        queued=jnp.zeros(2, jnp.int32),
        bench_slept=none,
        bench_frozen=none,
        **members(state, active),
        **given,
    )


def arrived(pokemon):
    """Both as they are when they come into the battle: what is of the battle alone starts anew.

    Paralysis and burns lower the stats that they come with.
    """
    drop = jnp.stack(
        [pokemon.status == BURN, jnp.zeros_like(pokemon.status, bool), pokemon.status == PARALYSIS], axis=-1
    )
    lowered = jnp.maximum(pokemon.stats[:, ATTACK : SPEED + 1] >> jnp.array([1, 0, 2]), 1)
    modified = pokemon.stats.at[:, ATTACK : SPEED + 1].set(
        jnp.where(drop, lowered, pokemon.stats[:, ATTACK : SPEED + 1])
    )
    nothing = {name: jnp.zeros_like(getattr(pokemon, name)) for name in ("transformed", "boosts", *LEAVING)}
    return pokemon._replace(
        types=look(SPECIES_TABLE, pokemon.species)[:, :2],
        stored=pokemon.stats,
        modified=modified,
        act_moves=pokemon.moves,
        act_pp=pokemon.pp,
        **nothing | {"toxic": jnp.full_like(pokemon.toxic, -1)},
    )


def select(where, if_true, if_false):
    """One of two Mons for each side."""
    return jax.tree.map(lambda a, b: jnp.where(beside(where, a), a, b), if_true, if_false)


def save(state, pokemon):
    """The state with both Pokémon put back."""
    here = places() == pokemon.place[:, None]

    def put_back(name):
        leaf, value = getattr(state, name), getattr(pokemon, name)
        return jnp.where(beside(here, leaf), jnp.expand_dims(value, 1).astype(leaf.dtype), leaf)

    changed = {name: put_back(name) for name in CHANGING}
    changed |= {name: getattr(pokemon, name).astype(getattr(state, name).dtype) for name in (*OF_SIDE, *OF_ACTIVE)}
    return state._replace(active=pokemon.place.astype(jnp.uint8), **changed)
