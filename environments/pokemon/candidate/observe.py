"""What both players see, and what they may choose."""

import jax.numpy as jnp
from damage import div
from state import load, places
from turn import legal

PLAYERS = ("p1", "p2")


def observe(state):
    both = load(state)
    own, other = _team(state), _others(state)
    own_active, other_active = _active(both), _other_active(both)
    mask = legal(state, both)

    def seen_by(side):
        parts = [
            own[side],
            own_active[side],
            other[1 - side],
            other_active[1 - side],
            state.turn.astype(jnp.int16)[None],
        ]
        return jnp.concatenate(parts)

    return {
        "observation": {name: seen_by(side) for side, name in enumerate(PLAYERS)},
        "legal_actions": {name: mask[side] for side, name in enumerate(PLAYERS)},
        "to_move": {name: jnp.any(mask[side]) for side, name in enumerate(PLAYERS)},
    }


def _rows(*columns):
    """Numbers of each side, or of each member, put side by side as int16 `[2, ...]`."""
    depth = max(column.ndim for column in columns)
    columns = [column if column.ndim == depth else column[..., None] for column in columns]
    return jnp.concatenate([column.astype(jnp.int16) for column in columns], axis=-1).reshape(2, -1)


def _is_active(state):
    return places().astype(jnp.uint8) == state.active[:, None]


def _team(state):
    numbers = [state.species, state.level, state.hp, state.max_hp, state.status]
    return _rows(*numbers, _is_active(state), state.moves, state.pp)


def _active(both):
    disabled = jnp.where(both.disable_turns > 0, both.disable_slot + 1, 0)
    numbers = [both.boosts, both.types, both.modified, both.act_moves, both.act_pp]
    return _rows(*numbers, *_volatile(both, both.substitute, disabled, both.trapped > 0))


def _others(state):
    """Of the members that were in the battle; of their HP the percentage, rounded up, and 100 for all of it only."""
    hp, most = state.hp.astype(jnp.int32), state.max_hp.astype(jnp.int32)
    percent = div(100 * hp + most - 1, most)
    percent = jnp.where((percent == 100) & (hp < most), 99, percent)
    columns = [state.species, state.level, percent, state.status, _is_active(state)]
    rows = jnp.stack([column.astype(jnp.int16) for column in columns], axis=-1)
    return jnp.where(state.seen[:, :, None], rows, jnp.int16(0)).reshape(2, -1)


def _other_active(both):
    volatile = _volatile(both, both.substitute > 0, both.disable_turns > 0, both.trap_turns > 0)
    return _rows(both.boosts, both.types, both.last_move, *volatile)


def _volatile(both, substitute, disabled, trap):
    """16 numbers of each side: what is on a Pokémon until it leaves."""
    flags = [both.leech_seed, both.focus_energy, both.mist, both.reflect, both.light_screen, both.recharge]
    flags += [both.thrash_move > 0, both.two_turn > 0, both.invulnerable, both.bide_turns > 0, both.rage > 0]
    return [both.confusion > 0, substitute, *flags, disabled, both.toxic >= 0, trap]
