"""Numbers of moves, species and types, as small tables that are looked up by number."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tables import CHART, LEARNSETS, METRONOME, MOVE_FIELDS, MOVES, SPECIES, TEAMS

MOVE_SLOTS, PARTY = 4, 6
SLEEP, POISON, BURN, FREEZE, PARALYSIS, TOXIC = range(1, 7)
ATTACK, DEFENSE, SPEED, SPECIAL = range(4)
NORMAL, FIGHTING, GHOST, GRASS = 1, 2, 8, 11
PHYSICAL, SPECIAL_KIND, STATUS = range(3)
STRUGGLE, CANNOT_MOVE = 165, 166

DISABLE, MIST, LEECH_SEED, COUNTER, HYPER_BEAM, RAGE = 50, 54, 73, 68, 63, 99
SUPERSONIC, CONFUSE_RAY, MIMIC, RECOVER, SOFTBOILED, REST = 48, 109, 102, 105, 135, 156
LIGHT_SCREEN, HAZE, REFLECT, FOCUS_ENERGY, BIDE, METRONOME_MOVE, MIRROR_MOVE = 113, 114, 115, 116, 117, 118, 119
DREAM_EATER, TRANSFORM, PSYWAVE, CONVERSION, SUPER_FANG, SUBSTITUTE = 138, 144, 149, 160, 162, 164

# What a move is, beyond its numbers; each is one bit of `flags`.
SETS = {
    "two_turn": (13, 19, 76, 91, 130, 143),
    "hides": (19, 91),  # out of reach until its second turn
    "traps": (20, 35, 83, 128),
    "thrashes": (37, 80),
    "explodes": (120, 153),
    "one_hit": (12, 32, 90),  # takes all
    "crashes": (26, 136),  # hurts who misses with it
    "finds": (129, 144),  # reaches who is out of reach
    "level_damage": (69, 101),
    "confuses": (SUPERSONIC, CONFUSE_RAY),
    # These leave the damage that was done last as it was.
    "keeps_damage": (
        CONFUSE_RAY, CONVERSION, COUNTER, FOCUS_ENERGY, 137, HAZE, LEECH_SEED, LIGHT_SCREEN, MIMIC, MIST, 139, 77,
        RECOVER, REFLECT, REST, SOFTBOILED, 150, 78, SUBSTITUTE, SUPERSONIC, 100, 86, 92, TRANSFORM,
    ),
}  # fmt: skip
FIXED_DAMAGE = {49: 20, 82: 40}
FIELDS = (
    "type", "power", "accuracy", "category", "crit_ratio", "self_target", "ignore_immunity", "hits", "recoil", "drain",
    "status", "boost_stat", "boost_stages", "secondary_chance", "secondary_status", "secondary_flinch",
    "secondary_confusion", "secondary_boost_stat", "secondary_boost_stages",
)  # fmt: skip


class Move(NamedTuple):
    """A move's numbers (int32), of which `flags` are bits of SETS, and `fixed` is damage that nothing changes."""

    number: jax.Array
    type: jax.Array
    power: jax.Array
    accuracy: jax.Array
    category: jax.Array
    crit_ratio: jax.Array
    self_target: jax.Array
    ignore_immunity: jax.Array
    hits: jax.Array
    recoil: jax.Array
    drain: jax.Array
    status: jax.Array
    boost_stat: jax.Array
    boost_stages: jax.Array
    secondary_chance: jax.Array
    secondary_status: jax.Array
    secondary_flinch: jax.Array
    secondary_confusion: jax.Array
    secondary_boost_stat: jax.Array
    secondary_boost_stages: jax.Array
    fixed: jax.Array
    flags: jax.Array

    def of(self, name):
        """Whether this is a move of one of SETS."""
        return (self.flags >> list(SETS).index(name) & 1) == 1

    @property
    def on_self(self):
        return self.self_target == 1

    @property
    def harms(self):
        """Whether it is there to do damage. Bide is, and does none when it begins."""
        return self.category != STATUS


def _move_table():
    """One row for each of 0 (none), 1 to 165, and 166 (cannot move), int16."""
    rows = np.zeros((CANNOT_MOVE + 1, len(FIELDS) + 2), np.int16)
    columns = [MOVE_FIELDS.index(name) for name in FIELDS]
    rows[1:CANNOT_MOVE, : len(FIELDS)] = np.array(MOVES, np.int16)[:, columns]
    for number, damage in FIXED_DAMAGE.items():
        rows[number, -2] = damage
    for bit, numbers in enumerate(SETS.values()):
        rows[list(numbers), -1] |= np.int16(1 << bit)
    return rows


def _effect_table():
    """By attacking type, first and second type of the target (16 each, 0 is none): two bits for each target's type."""
    codes = np.zeros((16, 16), np.uint8)
    for attacker, row in enumerate(CHART):
        for target, tenths in enumerate(row):
            codes[attacker + 1, target + 1] = {10: 0, 5: 1, 20: 2, 0: 3}[tenths]
    return (codes[:, :, None] | codes[:, None, :] << 2).reshape(-1)


def _learned_table():
    """By species: how many moves it learns, and their numbers in rising order."""
    sets = [
        [move for move in range(1, 166) if int(digits[2 * ((move - 1) // 8) :][:2], 16) >> ((move - 1) % 8) & 1]
        for digits in LEARNSETS
    ]
    table = np.zeros((len(sets) + 1, max(map(len, sets))), np.uint8)
    for species, moves in enumerate(sets):
        table[species + 1, : len(moves)] = moves
    return np.array([0, *map(len, sets)], np.uint8), table


def _by_number(rows):
    return np.concatenate([np.zeros_like(rows[:1]), rows])


MOVE_TABLE = _move_table()
PRIORITY = np.zeros(CANNOT_MOVE + 1, np.int8)
PRIORITY[1:CANNOT_MOVE] = [row[MOVE_FIELDS.index("priority")] for row in MOVES]
PP = _by_number(np.array([(row[MOVE_FIELDS.index("pp")], row[MOVE_FIELDS.index("max_pp")]) for row in MOVES], np.uint8))
COUNTERABLE = np.zeros(CANNOT_MOVE + 1, bool)
COUNTERABLE[1:CANNOT_MOVE] = [row[1] > 0 and row[0] in (NORMAL, FIGHTING) for row in MOVES]
COUNTERABLE[COUNTER] = False
IS_TWO_TURN = np.isin(np.arange(CANNOT_MOVE + 1), SETS["two_turn"])
IS_ON_SELF = MOVE_TABLE[:, FIELDS.index("self_target")] == 1
EFFECT = _effect_table()
SPECIES_TABLE = _by_number(np.array(SPECIES, np.uint8))
LEARNED_COUNT, LEARNED = _learned_table()
LEARNSET_BYTES = _by_number(np.array([list(bytes.fromhex(digits)) for digits in LEARNSETS], np.uint8))
TEAM_TABLE = np.array([list(bytes.fromhex(digits)) for digits in TEAMS], np.uint8).reshape(len(TEAMS), PARTY, 15)
CALLED = np.array(METRONOME, np.uint8)
TIMES = np.array([2, 2, 2, 3, 3, 3, 4, 5], np.uint8)
"""How often a move of several hits does, and how many turns a trap lasts, by a roll of eight."""


def look(table, index):
    """A table's rows as int32, for indices that lie within it."""
    rows = jnp.asarray(table).at[index].get(mode="promise_in_bounds")
    return rows if rows.dtype == bool else rows.astype(jnp.int32)


def move_of(number):
    row = look(MOVE_TABLE, number)
    return Move(number, *(row[column] for column in range(row.shape[0])))


def effect_of(type_, types):
    """What a type does to a target's two: two codes, each 0 nothing special, 1 halves, 2 doubles, 3 nothing at all."""
    code = look(EFFECT, (type_ * 16 + types[0]) * 16 + types[1])
    return code & 3, code >> 2
