"""`check-reference` says where several players do not act in the order that the task states."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from harness.authoring.conformance import CHECKS, check_reference
from harness.reference.install import Installed
from harness.reference.start import start_reference
from harness.task.load import load_task
from harness.verdict import CheckResult, Outcome
from tests.paths import NIM, STANDING

HERE = Installed(Path(sys.prefix), Path(sys.executable))


def checked(
    task: Path, directory: Path, *edits: tuple[str, str], only: Collection[str] = tuple(CHECKS)
) -> dict[str, CheckResult]:
    copied = directory / task.name
    shutil.copytree(task, copied, ignore=shutil.ignore_patterns("__pycache__"))
    adapter = copied / "reference" / "adapter.py"
    source = adapter.read_text()
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    adapter.write_text(source)
    read = load_task(copied)
    return {one.name: one for one in check_reference(lambda: start_reference(read, HERE), read, only)}


@pytest.mark.parametrize("task", [NIM, STANDING])
def test_a_game_of_several_players_passes(task: Path, tmp_path: Path) -> None:
    results = checked(task, tmp_path)
    assert not [result for result in results.values() if result.outcome is Outcome.FAIL]
    assert results["players"].outcome is Outcome.PASS and results["players"].detail.startswith("moves: ")


@pytest.mark.parametrize(
    ("task", "edits", "said"),
    [
        (NIM, [('"to_move": self._mover', '"to_move": 0')], "second never had a move"),
        (
            NIM,
            [('"legal_actions": np.array([taken <= self._stones for', '"legal_actions": np.array([taken < 0 for')],
            "no action is legal, but the episode has not ended",
        ),
        (STANDING, [("= own > 0", "= False")], "nobody is to move, and the episode goes on"),
        (STANDING, [("[0 < own < MOST, bool(own and left), bool(own and right)]", "[player == 0] * 3")],
         "is to move, and legal_actions/"),
        (
            STANDING,
            [("            if not before[player]:\n                continue\n", "")],
            "what a player does who is not to move changes something",
        ),
    ],
)  # fmt: skip
def test_a_planted_fault_of_the_order_is_found(
    task: Path, edits: list[tuple[str, str]], said: str, tmp_path: Path
) -> None:
    results = checked(task, tmp_path, *edits, only=("masks", "players"))
    found = [result.detail for result in results.values() if result.outcome is Outcome.FAIL]
    assert any(said in detail for detail in found), found
