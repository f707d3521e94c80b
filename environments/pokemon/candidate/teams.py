"""The two teams of a battle, and its beginning."""

import jax
import jax.numpy as jnp
from damage import stats_of
from rules import LEARNED, LEARNED_COUNT, MOVE_SLOTS, PARTY, PP, TEAM_TABLE, look
from state import MOVE, State, arrived, load, save
from turn import stuck

WIDE = 16
"""Bits of a rank."""
FOUR, MEMBERS = (2, MOVE_SLOTS), (2, PARTY)
LEAVES = {
    "turn": ((), "uint16"),
    "last_damage": ((), "int32"),
    **dict.fromkeys(("request", "active", "selected", "slot", "side_last"), ((2,), "uint8")),
    **dict.fromkeys(("species", "level", "status", "sleep"), (MEMBERS, "uint8")),
    **dict.fromkeys(("max_hp", "hp"), (MEMBERS, "uint16")),
    **dict.fromkeys(("slept_by_foe", "sub_fainted", "seen"), (MEMBERS, "bool")),
    "stats": ((*MEMBERS, 4), "uint16"),
    **dict.fromkeys(("moves", "pp"), ((*MEMBERS, MOVE_SLOTS), "uint8")),
    "types": ((2, 2), "uint8"),
    **dict.fromkeys(("stored", "modified"), ((2, 4), "uint16")),
    "boosts": ((2, 6), "int8"),
    **dict.fromkeys(("act_moves", "act_pp"), (FOUR, "uint8")),
    **dict.fromkeys(("last_move", "confusion", "trapped", "fake_trapped", "trap_turns", "trap_total"), ((2,), "uint8")),
    **dict.fromkeys(("trap_move", "trap_target", "thrash_move", "thrash_accuracy", "two_turn"), ((2,), "uint8")),
    **dict.fromkeys(("bide_turns", "disable_turns", "disable_slot", "disable_move", "rage"), ((2,), "uint8")),
    **dict.fromkeys(("transformed", "flinch", "trapped_maybe", "recharge", "invulnerable"), ((2,), "bool")),
    **dict.fromkeys(("leech_seed", "focus_energy", "mist", "reflect", "light_screen"), ((2,), "bool")),
    **dict.fromkeys(("trap_damage", "bide_damage"), ((2,), "int32")),
    "thrash_turns": ((2,), "int8"),
    "substitute": ((2,), "uint16"),
    "toxic": ((2,), "int16"),
}


def pick(count, ranks):
    """Four places below `count`, of which none is taken twice: each rank counts among those that are left."""
    taken = []
    for nth in range(MOVE_SLOTS):
        place = ranks[nth] * (count - nth) >> WIDE
        for other in _rising(taken):
            place = place + (place >= other).astype(jnp.int32)
        taken.append(jnp.where(count > nth, place, -1))
    return taken


def _rising(numbers):
    """Up to three numbers in rising order."""
    if len(numbers) < 2:
        return numbers
    low, high = jnp.minimum(numbers[0], numbers[1]), jnp.maximum(numbers[0], numbers[1])
    if len(numbers) == 2:
        return [low, high]
    low, middle = jnp.minimum(low, numbers[2]), jnp.maximum(low, numbers[2])
    return [low, jnp.minimum(middle, high), jnp.maximum(middle, high)]


def learned(species, ranks):
    """Four moves that a species learns, by ranks `[4]`; 0 where it learns no more."""
    places = jnp.stack(pick(look(LEARNED_COUNT, species), ranks))
    row = species * LEARNED.shape[1] + jnp.maximum(places, 0)
    return jnp.where(places >= 0, look(LEARNED.reshape(-1), row), 0)


def _drawn(species, level, dv, effort, rank):
    return jnp.concatenate([jnp.stack([species, level]), learned(species, rank), dv, effort])


def drawn_teams(draws):
    """Both teams as rows of TEAM_TABLE: species, level, four moves, four DVs, five efforts. int32 `[2, 6, 15]`."""
    each = jax.vmap(jax.vmap(_drawn))
    free = each(*(draws[name] for name in ("species", "level", "dv", "effort", "rank")))
    return jnp.where((draws["source"] == 1)[:, None, None], look(TEAM_TABLE, draws["pool"]), free)


def begin(draws):
    """The state before the first turn, and whether the battle cannot even begin."""
    rows = drawn_teams(draws)
    species, level, moves, dv, effort = rows[..., 0], rows[..., 1], rows[..., 2:6], rows[..., 6:10], rows[..., 10:]
    max_hp, stats = jax.vmap(jax.vmap(stats_of))(species, level, dv, effort)
    given = {"species": species, "level": level, "moves": moves, "max_hp": max_hp, "hp": max_hp, "stats": stats}
    given |= {"pp": look(PP, moves)[..., 1], "turn": jnp.int32(1)}
    state = State(
        **{name: given.get(name, jnp.zeros(shape, dtype)).astype(dtype) for name, (shape, dtype) in LEAVES.items()}
    )
    state = state._replace(seen=jnp.zeros(MEMBERS, bool).at[:, 0].set(True))
    both = arrived(load(state))
    over = stuck(state, both)
    request = jnp.where(over, 0, MOVE).astype(jnp.uint8)
    return save(state, both)._replace(request=jnp.broadcast_to(request, 2)), over
