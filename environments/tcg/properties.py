"""Level 1 of the card game: what is true of every game, and what games should reach."""

import numpy as np

from lockstep import Array, Trajectory, feature, invariant

DECK = 20
OVER, ASKED = 4, 3
EVOLVE, PROMOTE = 6, 7
KNOWN, OTHER_SIDE = slice(20, 40), slice(173, 237)
"""Where an observation shows the known cards of the other hand, and the other side."""


def _state(trajectory: Trajectory, name: str) -> Array:
    return trajectory.leaves["state/" + name].astype(np.int64)


def _per_player(values: Array) -> Array:
    """How many numbers are not zero, for each timestep and player."""
    return np.count_nonzero(values.reshape(len(values), 2, -1), axis=2)


def _any(values: Array) -> Array:
    return values.any(axis=tuple(range(1, values.ndim)))


def _changed(trajectory: Trajectory, name: str, rule: str = "rises") -> Array:
    """Where some number of a leaf rose, or fell, in a step."""
    step = np.diff(_state(trajectory, name), axis=0)
    return np.concatenate([[False], _any(step > 0 if rule == "rises" else step < 0)])


# --- invariants -------------------------------------------------------------------------------------------------------


@invariant(module="decks")
def every_card_of_a_deck_is_in_one_place(trajectory: Trajectory) -> Array:
    count = sum(_per_player(_state(trajectory, name)) for name in ("deck", "hand", "discard", "card", "under"))
    held = (_state(trajectory, "run")[:, 1] == EVOLVE)[:, None] & (_state(trajectory, "asked")[:, None] == np.arange(2))
    return np.all(count + held == DECK, axis=1)


@invariant(module="decks")
def hands_and_discard_piles_are_sorted(trajectory: Trajectory) -> Array:
    held = []
    for name in ("hand", "discard"):
        cards = _state(trajectory, name)
        cards = np.where(cards == 0, 255, cards)  # zeros fill the end
        held.append(np.all(np.diff(cards, axis=2) >= 0, axis=(1, 2)))
    return np.logical_and(*held)


@invariant(module="effects")
def a_free_place_has_nothing(trajectory: Trajectory) -> Array:
    free = _state(trajectory, "card") == 0
    there = [_state(trajectory, name) for name in ("damage", "fresh", "used")]
    there += [_state(trajectory, name).sum(axis=3) for name in ("energy", "under")]
    return np.all(~free | (sum(there) == 0), axis=(1, 2))


@invariant(module="effects")
def nothing_is_left_of_an_effect_that_does_not_run(trajectory: Trajectory) -> Array:
    runs = _state(trajectory, "phase") == ASKED
    rest = sum(_state(trajectory, name) for name in ("chosen", "left")) + _state(trajectory, "run").sum(axis=1)
    return runs | (rest == 0)


@invariant(module="choices")
def something_is_legal_until_the_game_is_over(trajectory: Trajectory) -> Array:
    return trajectory.leaves["legal_actions"].any(axis=1) == (_state(trajectory, "phase") != OVER)


@invariant(module="turn")
def one_player_wins_what_the_other_loses_and_only_at_the_end(trajectory: Trajectory) -> Array:
    first, second = (trajectory.leaves[f"reward/{name}"] for name in ("p1", "p2"))
    return (first + second == 0) & (trajectory.leaves["terminated"] | (first == 0))


@invariant(module="turn")
def points_are_never_lost(trajectory: Trajectory) -> Array:
    return ~_changed(trajectory, "points", "falls")


@invariant(module="turn")
def who_is_asked_is_to_move(trajectory: Trajectory) -> Array:
    return trajectory.leaves["to_move"] == trajectory.leaves["state/asked"]


@invariant(module="view")
def of_the_other_hand_only_known_cards_are_seen(trajectory: Trajectory) -> Array:
    hand, known = _state(trajectory, "hand"), _state(trajectory, "known") > 0
    right = np.ones(len(hand), bool)
    for player, name in enumerate(("p1", "p2")):
        seen = np.sort(trajectory.leaves[f"observation/{name}"][:, KNOWN], axis=1)
        right &= np.all(seen == np.sort(np.where(known, hand, 0)[:, 1 - player], axis=1), axis=1)
    return right


@invariant(module="view")
def before_the_first_turn_nobody_sees_what_the_other_placed(trajectory: Trajectory) -> Array:
    views = np.stack([trajectory.leaves[f"observation/{name}"][:, OTHER_SIDE] for name in ("p1", "p2")], axis=1)
    return (_state(trajectory, "turn") > 0) | ~_any(views)


# --- what games should reach ------------------------------------------------------------------------------------------


@feature
def evolved_twice(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "under")[..., 1])


@feature
def an_ex_was_knocked_out(trajectory: Trajectory) -> Array:
    return np.concatenate([[False], _any(np.diff(_state(trajectory, "points"), axis=0) == 2)])


@feature
def retreated(trajectory: Trajectory) -> Array:
    return _state(trajectory, "retreated") > 0


@feature
def asleep_or_paralysed(trajectory: Trajectory) -> Array:
    return np.isin(_state(trajectory, "mind"), (1, 2)).any(axis=1)


@feature
def poisoned(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "poisoned"))


@feature
def shielded(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "shield"))


@feature
def barred(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "no_attack") + _state(trajectory, "no_retreat"))


@feature
def gagged(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "gagged"))


@feature
def an_ability_was_used(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "used"))


@feature
def a_hand_is_known(trajectory: Trajectory) -> Array:
    return _any(_state(trajectory, "known"))


@feature
def the_other_player_is_asked(trajectory: Trajectory) -> Array:
    return (_state(trajectory, "asked") != _state(trajectory, "player")) & (_state(trajectory, "turn") > 0)


@feature
def an_active_spot_is_empty_after_a_checkup(trajectory: Trajectory) -> Array:
    return (_state(trajectory, "run")[:, 1] == PROMOTE) & (_state(trajectory, "stage") == 2)


@feature
def a_tie(trajectory: Trajectory) -> Array:
    return trajectory.leaves["terminated"] & (trajectory.leaves["reward/p1"] == 0)
