"""The benchmark of battles: teams whose first moves were made least, and which secondary effects came to pass."""

from __future__ import annotations

import numpy as np

from benchmarks.battles import MOVES, RAREST, STRUGGLE, WIDE, Teams, secondaries_met, tables_of
from harness.model import Array, Case, Draw, Trajectory
from tests.environments.pokemon.battles import TASK


def first_moves(teams: Teams, made: Array, learned: Array) -> list[int]:
    """The first move of each of the twelve, as the reset chooses it: by the first of four numbers, among all it learns."""
    drawn = {draw.name: draw.value for draw in teams.reset(made)}
    assert set(drawn) == {draw.name for draw in TASK.draws.values() if draw.occurs_at("reset")}
    assert not drawn["source"].any(), "teams of the generator are what they are"
    moves = []
    for species, ranks in zip(drawn["species"].reshape(-1), drawn["rank"].reshape(-1, 4), strict=True):
        known = np.flatnonzero(learned[species - 1])
        moves.append(int(known[int(ranks[0]) * len(known) // WIDE]) + 1)
    return moves


def test_every_first_move_is_one_of_the_rarest() -> None:
    rng, teams = np.random.default_rng(3), Teams(TASK, tables_of(TASK), 1)
    for _ in range(20):
        made = rng.permutation(MOVES + 1)
        rarest = set(np.argsort(made)[: RAREST + 2].tolist()) - {0, STRUGGLE}
        assert set(first_moves(teams, made, teams.learned)) <= rarest


def test_a_table_of_other_species_shows() -> None:
    """Planted: what the next species learns is taken for what this one does."""
    rng, teams = np.random.default_rng(3), Teams(TASK, tables_of(TASK), 1)
    real = teams.learned.copy()
    teams.learned = np.roll(real, 1, axis=0)
    made = rng.permutation(MOVES + 1)
    rarest = set(np.argsort(made)[: RAREST + 2].tolist())
    assert not set(first_moves(teams, made, real)) <= rarest


def test_a_roll_is_counted_where_it_is_known_whose_it_is() -> None:
    fire_punch, ice_punch, tackle, chance = 7, 8, 33, 26
    last = [(0, 0), (fire_punch, tackle), (fire_punch, tackle), (fire_punch, ice_punch), (ice_punch, tackle)]
    active = [(0, 0), (0, 0), (0, 0), (0, 0), (1, 0)]  # in the last step the first side switches
    rolls = [(), (chance - 1,), (chance,), (0,), (0,)]
    leaves = {"state/side_last": np.array(last, np.uint8), "state/active": np.array(active, np.uint8)}
    tape = tuple(tuple(Draw("secondary", np.asarray(roll, np.int32)) for roll in each) for each in rolls)
    chances = np.zeros(MOVES + 1, int)
    chances[[fire_punch, ice_punch]] = chance
    met = secondaries_met(Trajectory(Case(0, {}), leaves, tape), chances)
    assert met.tolist() == [int(move == fire_punch) for move in range(MOVES + 1)]
