"""Battles of Pokémon on both sides, as many turns as are asked for: what differs, and how often each move was made.

    python -m benchmarks.battles [--turns 1000000] [--candidate rust] [--seed N] [--favour 0.5]

Each battle is played by the reference under one of the task's policies, and by the candidate with the same choices and
rolls; every leaf of every timestep is compared. Who goes on with a move of several turns is not counted again. Of moves
with a secondary effect it tells how often the roll for it was met.

Few species learn some moves, so that teams as they are drawn hardly ever have them. With `--favour` this share of the
battles is fought by teams that are chosen: six Pokémon each, whose first move is one of those that were made least so far.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections import Counter
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from benchmarks.both_sides import TOGETHER, both_sides
from benchmarks.common import ENVIRONMENTS, report
from harness.model import STATE, Case, Draw, Trajectory
from harness.protocol.environment import Pool
from harness.task.contract import Task, TaskDraw
from harness.task.load import load_task

MOVES, STRUGGLE = 165, 165
RAREST = 24
"""From so many moves that were made least those of chosen teams come."""
WIDE, FEW = 65536, 2


def moves_made(trajectory: Trajectory) -> np.ndarray:
    """How often each move was made, by its number: where its points were paid, and where another move called it."""
    leaves = trajectory.leaves
    last, moves = leaves["state/side_last"][1:], leaves["state/act_moves"][:-1]
    points = leaves["state/act_pp"].astype(np.int64)
    stayed = leaves["state/active"][1:] == leaves["state/active"][:-1]
    paid = (points[1:] < points[:-1]) & stayed[..., None]
    called = (last != leaves["state/side_last"][:-1]) & ~(paid & (moves == last[..., None])).any(axis=2)
    return np.bincount(np.concatenate([moves[paid], last[called]]), minlength=MOVES + 1)


def secondaries_met(trajectory: Trajectory, chances: np.ndarray) -> np.ndarray:
    """How often the roll for each move's secondary effect was met, by its number.

    Args:
        chances: what the roll must be below, by the number of the move; 0 without such an effect.

    Where both moves of a step have one, it is not known whose the roll is, and none is counted.
    """
    last = trajectory.leaves["state/side_last"][1:]
    stayed = trajectory.leaves["state/active"][1:] == trajectory.leaves["state/active"][:-1]
    asked = np.where(stayed, chances[last], 0)
    met = np.zeros(len(chances), np.int64)
    assert trajectory.draws is not None
    for step in np.flatnonzero((asked > 0).sum(axis=1) == 1):
        side = asked[step].argmax()
        rolls = [draw.value for draw in trajectory.draws[step + 1] if draw.name == "secondary"]
        met[last[step, side]] += sum(int(roll) < asked[step, side] for roll in rolls)
    return met


def tables_of(task: Task) -> ModuleType:
    """The tables of species and moves, which the candidate in JAX has in Python."""
    spec = importlib.util.spec_from_file_location("pokemon_tables", task.directory / "candidate" / "tables.py")
    assert spec is not None and spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    return tables


class Teams:
    """Teams whose first moves are those that were made least.

    Args:
        task: whose draws make teams; `tables`: its own, for what each species learns.
        seed: of the choices.
    """

    def __init__(self, task: Task, tables: ModuleType, seed: int) -> None:
        self.learned = np.array([list(bytes.fromhex(each)) for each in tables.LEARNSETS], np.uint8)
        self.learned = np.unpackbits(self.learned, axis=1, bitorder="little")[:, :MOVES].astype(bool)
        self.draws = [draw for draw in task.draws.values() if draw.occurs_at("reset")]
        self.rng = np.random.default_rng(seed)

    def reset(self, made: np.ndarray) -> tuple[Draw, ...]:
        """All draws of a reset that begins with such teams.

        Args:
            made: how often each move was made, by its number.
        """
        drawn = {draw.name: self._by_law(draw) for draw in self.draws}
        drawn["source"][:] = 0
        # No move has the number 0, and nobody learns Struggle.
        rare = np.argsort(np.where(np.arange(MOVES + 1) % STRUGGLE, made, made.max() + 1))[:RAREST]
        for side, place in np.ndindex(2, 6):
            move = self.rng.choice(rare)
            species = self.rng.choice(np.flatnonzero(self.learned[:, move - 1]))
            known = np.flatnonzero(self.learned[species])
            drawn["species"][side, place] = species + 1
            # The first number names the move by its place among all that the species learns.
            at = int(np.flatnonzero(known == move - 1)[0])
            drawn["rank"][side, place, 0] = -(-at * WIDE // len(known))
        return tuple(Draw(name, value) for name, value in drawn.items())

    def _by_law(self, draw: TaskDraw) -> np.ndarray:
        assert draw.law is not None
        return self.rng.integers(int(draw.law.low), int(draw.law.high) + 1, draw.shape, np.int32)


def _favoured(
    reference: Pool, policy: str, seeds: Sequence[int], task: Task, teams: Teams, made: np.ndarray
) -> list[Trajectory]:
    """Battles of chosen teams, each from the state in which it begins. In every eighth all moves have few points, so that it
    comes to Struggle.
    """
    none = {path: leaf.zeros(0) for path, leaf in task.actions.items()}
    begun = reference.rollout([Case(seed, none, draws=(teams.reset(made),)) for seed in seeds])
    starts = [{path: array[0] for path, array in one.leaves.items() if path.startswith(STATE)} for one in begun]
    for start in starts[::8]:
        for path in ("state/pp", "state/act_pp"):
            start[path] = np.minimum(start[path], FEW)
    cases = [Case(seed, none, start=start) for seed, start in zip(seeds, starts, strict=True)]
    return reference.drive_after(list(zip(seeds, cases, strict=True)), policy, task.budgets.horizon)


def main(given: Sequence[str] = ()) -> None:
    """Play, compare and report; a battle that differs is told, and the run goes on."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.battles", description=__doc__)
    parser.add_argument("--turns", type=int, default=50_000)
    parser.add_argument("--candidate", choices=("rust", "jax"), default="rust")
    parser.add_argument("--seed", type=int, default=1, help="of the first battle; the others follow")
    parser.add_argument("--favour", type=float, default=0.0, help="share of battles by teams that have rare moves")
    asked = parser.parse_args(given)
    task = load_task(ENVIRONMENTS / "pokemon").with_candidate(asked.candidate)
    battles = turns = differ = 0
    ends: Counter[str] = Counter()
    tables = tables_of(task)
    teams = Teams(task, tables, asked.seed)
    chance = tables.MOVE_FIELDS.index("secondary_chance")
    chances = np.array([0, *(row[chance] for row in tables.MOVES)])
    made, met = np.zeros(MOVES + 1, np.int64), np.zeros(len(chances), np.int64)
    began = time.monotonic()
    with both_sides(task) as both:
        while turns < asked.turns:
            policy = task.budgets.policies[battles // TOGETHER % len(task.budgets.policies)]
            seeds = [asked.seed + battles + number for number in range(TOGETHER)]
            chosen = round(asked.favour * TOGETHER)
            expected = _favoured(both.reference, policy, seeds[:chosen], task, teams, made) if chosen else []
            expected += both.reference.drive(policy, seeds[chosen:], task.budgets.horizon)
            ended, differing = both.judge(expected, policy)
            ends += ended
            differ += differing
            for one in expected:
                turns += one.steps
                made += moves_made(one)
                met += secondaries_met(one, chances)
            battles += TOGETHER
            print(f"{turns:,} of {asked.turns:,} turns, {differ} battles differ", flush=True)
    rarest = np.argsort(made[1:])[:5] + 1
    effects = np.flatnonzero(chances)
    unlikely = effects[np.argsort(met[effects])][:5]
    row = {
        "candidate": asked.candidate, "battles": battles, "turns": turns, "differ": differ, **ends,
        "moves made": int(made.sum()), "rarest": ", ".join(f"move {move}: {made[move]}" for move in rarest),
        "effects": ", ".join(f"move {move}: {met[move]}" for move in unlikely),
        "turns/s": turns / (time.monotonic() - began),
    }  # fmt: skip
    report("battles", "Battles of Pokémon on both sides", [row])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
