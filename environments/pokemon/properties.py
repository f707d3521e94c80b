"""Level 1 of the battles: what is true of each, and what battles should reach."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np

from lockstep import Array, Trajectory, feature, generator, invariant

PLAYERS = ("p1", "p2")
ASLEEP, FROZEN, BADLY_POISONED = 1, 4, 6
MOVE, REPLACE = 1, 2
STRUGGLE, CANNOT_MOVE = 165, 166
MOVES = 4


def _state(trajectory: Trajectory, name: str) -> Array:
    """A leaf of the state over all timesteps, as wide numbers."""
    return trajectory.leaves[f"state/{name}"].astype(np.int64)


def _of_active(trajectory: Trajectory, name: str) -> Array:
    """What the party's leaf says of the two who fight, [timesteps, 2, ...]."""
    values, active = _state(trajectory, name), _state(trajectory, "active")
    return values[np.arange(len(values))[:, None], np.arange(2), active]


def _any(flags: Array) -> Array:
    return flags.any(axis=tuple(range(1, flags.ndim)))


def _all(flags: Array) -> Array:
    return flags.all(axis=tuple(range(1, flags.ndim)))


def _follows(trajectory: Trajectory, name: str, rule: Any) -> Array:
    """Where `rule(before, after)` holds for some number of a leaf; never in the first timestep."""
    values = _state(trajectory, name)
    return np.concatenate([[False], _any(rule(values[:-1], values[1:]))])


def _stays(trajectory: Trajectory) -> Array:
    """The steps after which a side has the same Pokémon in the battle, [steps, 2]."""
    active = _state(trajectory, "active")
    return active[1:] == active[:-1]


def _while_staying(trajectory: Trajectory, name: str, rule: Any) -> Array:
    values = _state(trajectory, name)
    return np.concatenate([[False], _any(rule(values[:-1], values[1:]) & _stays(trajectory))])


# --- invariants -------------------------------------------------------------------------------------------------------


@invariant(module="turn")
def nobody_has_more_hit_points_than_the_most(trajectory: Trajectory) -> Array:
    return _all(_state(trajectory, "hp") <= _state(trajectory, "max_hp"))


@invariant(module="turn")
def who_has_fainted_stays_so(trajectory: Trajectory) -> Array:
    return ~_follows(trajectory, "hp", lambda before, after: (before == 0) & (after > 0))


@invariant(module="turn")
def one_player_wins_what_the_other_loses(trajectory: Trajectory) -> Array:
    rewards = np.stack([trajectory.leaves[f"reward/{name}"] for name in PLAYERS], axis=1)
    paid = rewards != 0
    return (rewards.sum(axis=1) == 0) & (~paid.any(axis=1) | trajectory.leaves["terminated"])


@invariant(module="turn")
def who_wins_has_somebody_left_and_the_other_nobody(trajectory: Trajectory) -> Array:
    left = (_state(trajectory, "hp") > 0).any(axis=2)
    won = np.stack([trajectory.leaves[f"reward/{name}"] for name in PLAYERS], axis=1) > 0
    return ~won.any(axis=1) | (left == won).all(axis=1)


@invariant(module="conditions")
def who_has_fainted_has_no_status(trajectory: Trajectory) -> Array:
    return _all((_state(trajectory, "hp") > 0) | (_state(trajectory, "status") == 0))


@invariant(module="conditions")
def who_sleeps_has_turns_left(trajectory: Trajectory) -> Array:
    return _all((_state(trajectory, "status") == ASLEEP) == (_state(trajectory, "sleep") > 0))


@invariant(module="stages")
def stats_are_from_1_to_999(trajectory: Trajectory) -> Array:
    modified = _state(trajectory, "modified")
    return _all((modified >= 1) & (modified <= 999) | (_state(trajectory, "boosts")[:, :, :MOVES] <= 0))


@invariant(module="choices")
def who_is_asked_has_a_choice(trajectory: Trajectory) -> Array:
    asked = _state(trajectory, "request") != 0
    masks = np.stack([trajectory.leaves[f"legal_actions/{name}"].any(axis=1) for name in PLAYERS], axis=1)
    moves = np.stack([trajectory.leaves[f"to_move/{name}"] for name in PLAYERS], axis=1)
    return _all((asked == masks) & (asked == moves))


@invariant(module="choices")
def only_who_has_fainted_is_replaced_without_a_move(trajectory: Trajectory) -> Array:
    replaced = _state(trajectory, "request") == REPLACE
    masks = np.stack([trajectory.leaves[f"legal_actions/{name}"] for name in PLAYERS], axis=1)
    fainted = _of_active(trajectory, "hp") == 0
    over = trajectory.leaves["terminated"][:, None]
    return _all((~replaced | fainted & ~masks[..., :MOVES].any(axis=2)) & ((replaced == fainted) | over))


@invariant(module="view")
def what_has_not_been_in_the_battle_is_not_seen(trajectory: Trajectory) -> Array:
    unseen = _state(trajectory, "seen") == 0
    views = np.stack([trajectory.leaves[f"observation/{name}"][:, 120:150] for name in reversed(PLAYERS)], axis=1)
    return _all(~unseen | ~views.reshape(*unseen.shape, 5).any(axis=3))


# --- what battles should reach ----------------------------------------------------------------------------------------


@feature
def woke_up(trajectory: Trajectory) -> Array:
    return _follows(trajectory, "status", lambda before, after: (before == ASLEEP) & (after == 0))


@feature
def thawed(trajectory: Trajectory) -> Array:
    rule = _follows(trajectory, "status", lambda before, after: (before == FROZEN) & (after == 0))
    return rule & ~_follows(trajectory, "hp", lambda before, after: (before > 0) & (after == 0))


@feature
def poison_grows(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "toxic") > 2)


@feature
def toxic_counter_without_bad_poison(trajectory: Trajectory) -> Array:
    bad = _of_active(trajectory, "status") == BADLY_POISONED
    return _any((_state(trajectory, "toxic") >= 0) & ~bad)


@feature
def confused(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "confusion") > 0)


@feature
def flinch_outlives_its_turn(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "flinch") > 0) & (_state(trajectory, "request") == MOVE).all(axis=1)


@feature
def a_substitute_broke(trajectory: Trajectory) -> Array:
    return _follows(trajectory, "sub_fainted", lambda before, after: after > before)


@feature
def thrashing_ends_in_confusion(trajectory: Trajectory) -> Array:
    ended = _while_staying(trajectory, "thrash_move", lambda before, after: (before > 0) & (after == 0))
    return ended & _any(_state(trajectory, "confusion") > 0)


@feature
def bide_is_paid_back(trajectory: Trajectory) -> Array:
    return _while_staying(trajectory, "bide_turns", lambda before, after: (before == 1) & (after == 0))


@feature
def somebody_is_held(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "trapped") > 0)


@feature
def held_and_not_told_so(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "trapped_maybe") > 0)


@feature
def let_go_and_not_told_so(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "fake_trapped") > 0)


@feature
def disabled(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "disable_turns") > 0)


@feature
def mimicked(trajectory: Trajectory) -> Array:
    other = _state(trajectory, "act_moves") != _of_active(trajectory, "moves")
    return _any(other & (_state(trajectory, "transformed") == 0)[..., None])


@feature
def transformed(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "transformed") > 0)


@feature
def transformed_into_who_was_transformed(trajectory: Trajectory) -> Array:
    return _all(_state(trajectory, "transformed") > 0)


@feature
def seeded_and_badly_poisoned(trajectory: Trajectory) -> Array:
    return _any((_state(trajectory, "leech_seed") > 0) & (_state(trajectory, "toxic") > 0))


@feature
def raging(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "rage") > 0)


@feature
def recharging(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "recharge") > 0)


@feature
def hidden(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "invulnerable") > 0)


@feature
def hidden_and_not_about_to_strike(trajectory: Trajectory) -> Array:
    return _any((_state(trajectory, "invulnerable") > 0) & (_state(trajectory, "two_turn") == 0))


@feature
def points_of_a_move_wrapped_around(trajectory: Trajectory) -> Array:
    return _follows(trajectory, "act_pp", lambda before, after: (before == 0) & (after == 63))


@feature
def a_stat_at_its_most(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "modified") == 999)


@feature
def a_stage_at_its_end(trajectory: Trajectory) -> Array:
    return _any(np.abs(_state(trajectory, "boosts")) == 6)


@feature
def struggled(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "side_last") == STRUGGLE)


@feature
def cannot_move_was_chosen(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "selected") == CANNOT_MOVE)


@feature
def both_are_replaced_at_once(trajectory: Trajectory) -> Array:
    return _all(_state(trajectory, "request") == REPLACE)


@feature
def a_tie(trajectory: Trajectory) -> Array:
    return trajectory.leaves["terminated"] & (trajectory.leaves["reward/p1"] == 0)


# --- where the probes are asked ---------------------------------------------------------------------------------------

_STAT = st.integers(1, 999) | st.sampled_from([1, 2, 254, 255, 256, 257, 511, 512, 998, 999])


@generator("boost")
def boost_inputs() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"base": _STAT, "now": _STAT, "stage": st.integers(-6, 6), "delta": st.integers(-2, 2)}
    )


@generator("damage")
def damage_inputs() -> st.SearchStrategy[dict[str, Any]]:
    flags = {name: st.integers(0, 1) for name in ("critical", "stab", "explode")}
    effects = {name: st.integers(-1, 1) for name in ("first", "second")}
    numbers = {"grade": st.integers(1, 100), "power": st.integers(1, 170), "attack": _STAT, "defense": _STAT}
    return st.fixed_dictionaries({**numbers, **flags, **effects, "roll": st.integers(217, 255)})
