"""The arithmetic of the first generation: stats, stages, accuracy, critical hits and damage. All in whole numbers."""

import jax
import jax.numpy as jnp
import numpy as np
from rules import SPECIES_TABLE, look

HIGHEST = 999
RATIO = np.array([25, 28, 33, 40, 50, 66, 100, 150, 200, 250, 300, 350, 400], np.int16)
"""Hundredths of a stat at stages -6 to 6."""


def at_least_one(number):
    return jnp.maximum(number, 1)


def div(number, by):
    """A quotient of whole numbers that are not negative: plain division, without the care for signs that `//` takes."""
    return jax.lax.div(*jnp.broadcast_arrays(number, jnp.asarray(by, jnp.int32)))


def stats_of(species, level, dv, effort):
    """Greatest HP, and attack, defense, speed and special `[4]`, of DVs `[4]` and efforts `[5]` (that of HP first)."""
    odd = dv & 1
    hp_dv = odd[0] << 3 | odd[1] << 2 | odd[2] << 1 | odd[3]
    base = look(SPECIES_TABLE, species)[2:]
    grown = 2 * base + 2 * jnp.concatenate([hp_dv[None], dv]) + (effort >> 2)
    return div((grown[0] + 100) * level, 100) + 10, div(grown[1:] * level, 100) + 5


def boosted(stored, modified, stage, delta):
    """A stage moved by `delta`: stage, modified stat, and 1 where it changed, 0 at 1 or 999, -1 where it cannot move."""
    rises = delta > 0
    capped = jnp.where(rises, stage >= 6, stage <= -6) | (delta == 0)
    edge = ~capped & (modified == jnp.where(rises, HIGHEST, 1))
    moved = jnp.clip(stage + delta, -6, 6)
    # At 1 and at 999 one stage is taken back, and the stat stays.
    stage = jnp.where(capped, stage, moved - jnp.where(edge, jnp.sign(delta), 0))
    fresh = at_least_one(div(stored * look(RATIO, stage + 6), 100))
    fresh = jnp.where(rises, jnp.minimum(fresh, HIGHEST), fresh)
    return stage, jnp.where(capped | edge, modified, fresh), jnp.where(capped, -1, jnp.where(edge, 0, 1))


def accuracy_of(share, stage, evasion):
    """What a roll of 256 has to be below, of 255ths and both stages."""
    share = div(share * look(RATIO, stage + 6), 100)
    return jnp.clip(div(share * look(RATIO, 6 - evasion), 100), 1, 255)


def critical_chance(species, ratio, focused):
    """Of 256. A focused user has a quarter of the chance: the first games' mistake."""
    half = look(SPECIES_TABLE, species)[2 + 3] >> 1
    chance = jnp.where(focused, half >> 1, jnp.clip(half * 2, 1, 255))
    return jnp.where(ratio == 1, chance >> 1, jnp.clip(chance * 4, 1, 255))


def damage_before_roll(level, power, attack, defense, critical, stab, explodes, first, second):
    """`explodes` halves defense; `first` and `second` are codes of `effect_of`."""
    level = jnp.where(critical, 2 * level, level)
    large = (attack >= 256) | (defense >= 256)
    attack = jnp.where(large, at_least_one(attack >> 2 & 255), attack)
    defense = jnp.where(large, at_least_one(defense >> 2 & 255), defense)
    defense = jnp.where(explodes, at_least_one(defense >> 1), defense)
    damage = div((div(2 * level, 5) + 2) * power * attack, defense)
    damage = jnp.minimum(div(damage, 50), 997) + 2
    damage = jnp.where(stab, damage + (damage >> 1), damage)
    for code in (first, second):
        damage = jnp.where(code == 2, 2 * damage, jnp.where(code == 1, damage >> 1, damage))
    return damage


def rolled(damage, roll):
    """Damage with its random factor, which only damage of 2 and more has."""
    return jnp.where(damage > 1, div(damage * roll, 255), damage)
