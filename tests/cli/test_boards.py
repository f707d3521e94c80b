"""A board that differs is shown as a board, wherever the difference is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result
from tests.edits import edit
from tests.paths import FOUR

Run = Callable[..., Result]

SET = "state.board.at[row, action].set(mover)"
PILED = "state.board.at[row, jnp.where(jnp.sum(state.board != 0) > 5, (action + 1) % 7, action)].set(mover)"
"""From the seventh disc on it falls beside the column that was chosen."""


@pytest.fixture
def four(tmp_path: Path) -> Path:
    """A copy of four in a row with that fault."""
    task = tmp_path / "four"
    shutil.copytree(FOUR, task)
    edit(task / "candidate" / "env.py", SET, PILED)
    return task


@pytest.mark.slow
def test_compare_shows_both_boards_and_says_little_else(four: Path, lockstep: Run) -> None:
    result = lockstep("compare", str(four), "--policy", "random", "--seed", "3", "--json")
    assert result.code == 1 and len(result.out) < 6000
    difference = result.document["difference"]
    board = difference["grids"]["state/board"]
    [part] = board["parts"]
    assert board["differing"] == 2 and [len(part[side]) for side in ("before", "expected", "actual")] == [6, 6, 6]
    assert sum(row.count("[") for row in part["actual"]) == 2
    assert next(row for row in difference["table"] if row["address"] == "state/board")["differs"]
    shown = lockstep("compare", str(four), "--policy", "random", "--seed", "3").out
    assert "6 x 7 int8: 2 of 42 elements differ" in shown and "0 |" in shown


@pytest.mark.slow
def test_a_divergence_in_a_board_is_explained_with_it(four: Path, lockstep: Run) -> None:
    found = lockstep("verify", str(four), "--level", "1", "--module", "moving", "--seed", "3", "--json").document
    assert "6 x 7 int8: 2 of 42 elements differ" in found["divergence"]
    assert "board = [[" in found["divergence"] and len(found["divergence"]) < 2500
    divergences = [
        each for level in found["verdict"]["levels"] for check in level["checks"] for each in check["divergences"]
    ]
    assert len(json.dumps(divergences[0]["grid"])) < 1000
