"""One Pokémon's move while it happens: who moves, who stands across, the damage done last, and chance."""

import jax.numpy as jnp
from damage import at_least_one
from state import put

NO_TRAP = {"trap_turns": 0, "trap_total": 0, "trap_damage": 0, "trap_move": 0, "trap_target": 0}
NO_THRASH = {"thrash_move": 0, "thrash_turns": 0, "thrash_accuracy": 0}
NO_BIDE = {"bide_turns": 0, "bide_damage": 0}
NO_DISABLE = {"disable_turns": 0, "disable_slot": 0, "disable_move": 0}


class Rolls:
    """Chance by name: each roll takes the next of its numbers, of which a move takes one at most."""

    def __init__(self, draws, used):
        self.draws, self.used = draws, dict(used)

    def take(self, name, where):
        """The next number, which is used up where a condition holds. Both Pokémon's moves take two in all."""
        first, second = self.draws[name][:2]
        value = jnp.where(self.used[name] > 0, second, first)
        self.count(name, where)
        return value

    def count(self, name, times):
        self.used[name] = self.used[name] + times.astype(jnp.int32)

    def share(self, name, where, limit):
        """The next number as one below a limit: it is 16 bits wide."""
        return self.take(name, where) * limit >> 16


class Scene:
    """Two Mons of scalars; each rule changes them where its condition holds."""

    def __init__(self, own, foe, last_damage, rolls):
        self.own, self.foe, self.last_damage, self.rolls = own, foe, last_damage, rolls

    def change(self, where, **values):
        self.own = put(self.own, where, **values)

    def change_foe(self, where, **values):
        self.foe = put(self.foe, where, **values)

    def did_damage(self, where, damage):
        self.last_damage = jnp.where(where, damage, self.last_damage)

    def hurt(self, where, damage):
        self.change(where, hp=jnp.maximum(self.own.hp - damage, 0))

    def heal(self, where, amount):
        own = self.own
        self.change(where & (own.hp > 0), hp=jnp.minimum(own.hp + amount, own.max_hp))

    def hurt_itself(self, where, damage):
        """By confusion or by a kick that went wrong. Behind a substitute it is the foe's substitute that takes it."""
        self.did_damage(where, damage)
        behind = self.own.substitute > 0
        self.hurt(where & ~behind, damage)
        self.hit_substitute(where & behind & (self.foe.substitute > 0), damage)

    def hit_substitute(self, where, damage):
        left = jnp.maximum(self.foe.substitute - damage, 0)
        self.change_foe(where, substitute=left, sub_fainted=self.foe.sub_fainted | (left == 0))


def sixteenth(pokemon):
    return at_least_one(pokemon.max_hp >> 4)


def slots():
    return jnp.arange(4, dtype=jnp.int32)


def at_slot(values, slot):
    return jnp.sum(jnp.where(slots() == slot, values, 0), dtype=jnp.int32)


def known(pokemon):
    """How many moves it has now."""
    return jnp.sum(pokemon.act_moves > 0, dtype=jnp.int32)


def hard_locked(pokemon):
    """Whether it goes on with a move, and cannot even be called back."""
    return pokemon.recharge | (pokemon.thrash_move > 0) | (pokemon.two_turn > 0) | (pokemon.rage > 0)


def locked(pokemon):
    return hard_locked(pokemon) | (pokemon.trap_turns > 0) | (pokemon.bide_turns > 0)
