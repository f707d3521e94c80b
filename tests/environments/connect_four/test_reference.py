"""Connect Four's reference: the quirks of PettingZoo that QUIRKS.md states, played by its own code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from harness.authoring.conformance import check_reference
from harness.model import Array, Case, Trajectory
from harness.protocol.environment import Environment
from harness.reference.install import setup
from harness.reference.start import start_reference
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.paths import ENVIRONMENTS

pytestmark = pytest.mark.slow
TASK = load_task(ENVIRONMENTS / "connect_four")
FULL_COLUMN = [3, 3, 3, 3, 3, 3]


@pytest.fixture(scope="module")
def reference() -> Iterator[Environment]:
    started = start_reference(TASK, setup(TASK))
    yield started
    started.close()


def played(reference: Environment, columns: list[int], start: dict[str, Array] | None = None) -> Trajectory:
    [trajectory] = reference.rollout([Case(0, {"action": np.array(columns, np.int64)}, start=start)])
    return trajectory


def last(trajectory: Trajectory) -> dict[str, object]:
    return {path: trajectory.leaves[path][-1].tolist() for path in trajectory.leaves if not path.startswith("obs")}


def on(rows: list[str], mover: int) -> dict[str, Array]:
    """A state from its board, the top row first."""
    board = np.array([[int(cell) for cell in row] for row in rows], np.int8)
    return {"state/board": board, "state/mover": np.int32(mover)}


def test_the_adapter_passes_the_kit() -> None:
    results = check_reference(lambda: start_reference(TASK, setup(TASK)), TASK)
    assert not [(each.name, each.detail) for each in results if each.outcome is Outcome.FAIL]


@pytest.mark.parametrize(("before", "mover"), [([], 0), ([0], 1)])
def test_an_illegal_move_ends_the_game_both_ways_and_costs_its_player_alone(
    reference: Environment, before: list[int], mover: int
) -> None:
    trajectory = played(reference, [*before, *FULL_COLUMN, 3])
    end = last(trajectory)
    assert (end["terminated"], end["truncated"]) == (True, True)
    assert end[f"reward/player_{mover}"] == -1 and end[f"reward/player_{1 - mover}"] == 0
    assert end["to_move"] == 0, "the first of the dead is to take its last step, whoever moved"
    assert (trajectory.leaves["state/board"][-1] == trajectory.leaves["state/board"][-2]).all()


def test_what_the_winner_gets_the_other_loses(reference: Environment) -> None:
    end = last(played(reference, [0, 1, 0, 1, 0, 1, 0]))
    assert (end["reward/player_0"], end["reward/player_1"]) == (1, -1)
    assert (end["terminated"], end["truncated"], end["to_move"]) == (True, False, 1)


def test_a_full_board_pays_nobody_and_a_win_with_its_last_stone_is_a_win(reference: Environment) -> None:
    # Pairs of columns, shifted in each row: no four in any line.
    rows = ["0122112", "2211221", "1122112", "2211221", "1122112", "2211221"]
    assert [last(played(reference, [0], on(rows, mover)))[f"reward/player_{mover}"] for mover in (0, 1)] == [0, 0]
    assert last(played(reference, [0], on(rows, 0)))["terminated"] is True
    winning = ["0222112", *rows[1:]]
    end = last(played(reference, [0], on(winning, 1)))
    assert (end["reward/player_1"], end["terminated"]) == (1, True)


def test_a_line_counts_wherever_it_is_for_the_player_who_moved(reference: Environment) -> None:
    old = ["0000000", "0000000", "0000000", "0000000", "0000000", "1111000"]
    assert last(played(reference, [6], on(old, 0)))["reward/player_0"] == 1
    assert last(played(reference, [6], on(old, 1)))["terminated"] is False, "the other's line is not looked for"


def test_a_stone_falls_under_one_that_floats(reference: Environment) -> None:
    floating = ["0000000", "0200000", "0000000", "0000000", "0000000", "0000000"]
    board = played(reference, [1], on(floating, 0)).leaves["state/board"][-1]
    assert (board[5, 1], board[1, 1]) == (1, 2)


def test_scripted_players_bring_full_boards_and_wins_with_the_last_stone(reference: Environment) -> None:
    games = reference.drive("peaceful", range(200), 50)
    ends = [last(game) for game in games]
    full = [end for end, game in zip(ends, games, strict=True) if game.steps == 42]
    assert sum(end["reward/player_0"] == 0 for end in full) >= 4
    assert sum(end["reward/player_1"] == 1 for end in full) >= 2
