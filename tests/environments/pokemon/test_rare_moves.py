"""Teams for the benchmark of battles whose first moves are those that were made least."""

from __future__ import annotations

import numpy as np

from benchmarks.battles import MOVES, RAREST, STRUGGLE, WIDE, Teams
from harness.model import Array
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
    rng, teams = np.random.default_rng(3), Teams(TASK, 1)
    for _ in range(20):
        made = rng.permutation(MOVES + 1)
        rarest = set(np.argsort(made)[: RAREST + 2].tolist()) - {0, STRUGGLE}
        assert set(first_moves(teams, made, teams.learned)) <= rarest


def test_a_table_of_other_species_shows() -> None:
    """Planted: what the next species learns is taken for what this one does."""
    rng, teams = np.random.default_rng(3), Teams(TASK, 1)
    real = teams.learned.copy()
    teams.learned = np.roll(real, 1, axis=0)
    made = rng.permutation(MOVES + 1)
    rarest = set(np.argsort(made)[: RAREST + 2].tolist())
    assert not set(first_moves(teams, made, real)) <= rarest
