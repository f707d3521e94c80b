"""What a game is between two steps, and the small changes of which all others are made."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

PLACES, DECK, ENERGIES = 4, 20, 8
PLACE_ACTIVE, PLACE_BENCH, MAIN, ASKED, OVER = range(5)
AWAKE, ASLEEP, PARALYSED, CONFUSED = range(4)
IN_TURN, TURN_ENDED, CHECKED = range(3)
CARD, UNDER, DAMAGE, ENERGY, FRESH, USED = 0, slice(1, 3), 3, slice(4, 12), 12, 13
"""What each of the 14 numbers of a Pokémon in play is."""
MON = 14
MIND, POISONED, BURNED, SHIELD, NO_ATTACK, NO_RETREAT, WEAKENED, GAGGED = range(8)
"""What lies on an active Pokémon; gagged is its player."""
MARKS = ("mind", "poisoned", "burned", "shield", "no_attack", "no_retreat", "weakened", "gagged")
PER_CARD = {"card": CARD, "under": UNDER, "damage": DAMAGE, "energy": ENERGY, "fresh": FRESH, "used": USED}


class State(NamedTuple):
    """The leaves of task.toml, uint8; those of the Pokémon in play in one array, and so what lies on both players.

    `legal` follows from the rest: which actions are legal, bool.
    """

    turn: jax.Array
    phase: jax.Array
    player: jax.Array
    asked: jax.Array
    stage: jax.Array
    supporter: jax.Array
    retreated: jax.Array
    eased: jax.Array
    run: jax.Array
    chosen: jax.Array
    left: jax.Array
    points: jax.Array
    zone: jax.Array
    types: jax.Array
    deck: jax.Array
    looked: jax.Array
    hand: jax.Array
    known: jax.Array
    discard: jax.Array
    mons: jax.Array
    marks: jax.Array
    legal: jax.Array


OF_PLAYERS = ("points", "zone", "types", "deck", "looked", "hand", "known", "discard", "mons", "marks")
"""What has one row of each player."""


def encode(state):
    leaves = {name: leaf for name, leaf in state._asdict().items() if name not in ("mons", "marks", "legal")}
    leaves |= {name: state.mons[..., column] for name, column in PER_CARD.items()}
    return leaves | {name: state.marks[:, at] for at, name in enumerate(MARKS)}


def decode(leaves):
    """The state of leaves; which actions are legal is still to be found."""
    whole = {name: leaves[name] for name in State._fields if name in leaves}
    mons = jnp.concatenate([leaves[name].reshape(2, PLACES, -1) for name in PER_CARD], axis=2)
    marks = jnp.stack([leaves[name] for name in MARKS], axis=1)
    return State(**whole, mons=mons, marks=marks, legal=jnp.zeros(52, bool))


def turned(state, second):
    """The state with the rows of the second player first, if it is the second who is meant."""
    rows = {name: getattr(state, name) for name in OF_PLAYERS}
    return state._replace(**{name: jnp.where(second, leaf[::-1], leaf) for name, leaf in rows.items()})


def change(state, where, **values):
    """The same with other values where a condition holds."""
    return state._replace(**{name: put(where, value, getattr(state, name)) for name, value in values.items()})


def put(where, value, leaf):
    """A leaf, or another value where a condition holds."""
    return jnp.where(where, jnp.asarray(value).astype(leaf.dtype), leaf)


def wide(leaf):
    return leaf.astype(jnp.int32)


def number_of(flags, axis=-1):
    """How many hold."""
    return jnp.sum(flags, axis=axis, dtype=jnp.int32)


def one_of(where, leaf, axis=0):
    """Of a leaf what is where the only flag holds, or 0."""
    return jnp.sum(jnp.where(where, leaf, jnp.zeros_like(leaf)), axis=axis, dtype=leaf.dtype)


def sides():
    return jnp.arange(2, dtype=jnp.int32)


def places():
    return jnp.arange(PLACES, dtype=jnp.int32)


def of_mon():
    """The places of the numbers of a Pokémon."""
    return jnp.arange(MON, dtype=jnp.int32)


def is_energy():
    return (of_mon() >= ENERGY.start) & (of_mon() < ENERGY.stop)


def here(side, place):
    """One place of both sides, as flags `[2, 4]`."""
    return (sides() == side)[:, None] & (places() == place)


def chosen_place(state):
    """Where the chosen Pokémon is, `[2, 4]` (77)."""
    at = wide(state.chosen) - 1
    return here(at >> 2, at & 3)


def room(cards):
    """The free place of a bench with the lowest number, of four places; 0 where there is none (25)."""
    free = (cards == 0) & (places() > 0)
    first = jnp.min(jnp.where(free, places(), PLACES))
    return jnp.where(first < PLACES, first, 0)


def freed(marks, where):
    """All that lies on the active Pokémon of some sides ends (61, 70)."""
    return jnp.where(where[:, None] & (jnp.arange(len(MARKS)) != GAGGED), jnp.uint8(0), marks)


def exchanged(mons, marks, aim):
    """The active Pokémon and one of the bench change places (81); `aim` is 1 to 8 as in `chosen`, or 0 for nobody."""
    side, place = aim - 1 >> 2, aim - 1 & 3
    at = (places() == place)[:, None]
    comes = one_of(at, mons, axis=1)
    moved = jnp.where(at, mons[:, :1], mons)
    moved = jnp.where((places() == 0)[:, None], comes[:, None], moved)
    whose = (aim > 0) & (sides() == side)
    return jnp.where(whose[:, None, None], moved, mons), freed(marks, whose)
