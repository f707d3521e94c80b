"""An effect while it runs."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from cards import ATTACK_1, ATTACK_2
from state import State, one_of


class Effect(NamedTuple):
    """What stays the same while an effect runs: the part of a card that it is, where self is, and all draws.

    `coins` are bits, the first coin lowest.
    """

    part: jax.Array
    place: jax.Array
    coins: jax.Array
    picks: jax.Array
    shuffles: jax.Array

    @property
    def attacks(self):
        return (self.part == ATTACK_1) | (self.part == ATTACK_2)


class Flow(NamedTuple):
    """An effect that runs: the row that comes next, what is counted until somebody is asked (91), and draws used.

    The first side of the state is that of the effect's player. `again`: nothing of the row is done but to ask. `aim`: who
    changes places with the active Pokémon by an answer, as in `chosen`.
    """

    state: State
    goes: jax.Array
    row: jax.Array
    again: jax.Array
    aim: jax.Array
    heads: jax.Array
    tails: jax.Array
    more: jax.Array
    dealt: jax.Array
    coins: jax.Array
    picks: jax.Array
    shuffles: jax.Array


def share(effect, used, things):
    """The next pick among so many things (88)."""
    at = jnp.arange(effect.picks.shape[0], dtype=jnp.int32) == used
    return one_of(at, effect.picks) * things >> 16
