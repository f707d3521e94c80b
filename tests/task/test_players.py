"""`[players]`: which leaves several players make, and what is refused with the line that is right."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.model import Leaf
from harness.task.load import load_task
from harness.task.players import Order, Players
from harness.task.require import Requirement
from tests.paths import NIM, STANDING, WALK

REQUIRED = '\n[[require]]\nreward = 1\nleaf = "reward/second"\ntimes = 3\n'

TRANSFER = '[transfer]\nmargin = 1\nbecause = "x"\nsteps = 9\nminimum_return = 0\n'


def edited(directory: Path, task: Path, *edits: tuple[str, str]) -> Path:
    """A copy of a task with texts replaced, each of which stands in its file."""
    copied = directory / task.name
    shutil.copytree(task, copied, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copied / "task.toml").read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (copied / "task.toml").write_text(text)
    return copied


def refused(directory: Path) -> list[str]:
    with pytest.raises(TaskError) as caught:
        load_task(directory)
    return [mistake.split(": ", 1)[1] for mistake in caught.value.mistakes]


def test_a_game_of_turns_is_read(tmp_path: Path) -> None:
    task = load_task(edited(tmp_path, NIM, ("[budgets]", REQUIRED + "\n[budgets]")))
    assert task.players == Players(("first", "second"), Order.TURNS)
    assert list(task.rewards) == ["reward/first", "reward/second"]
    assert task.required == (Requirement(reward=1.0, leaf="reward/second", times=3),)
    assert task.leaves["to_move"] == Leaf("to_move", "int32", (), 0, 1)


def test_leaves_belong_to_players() -> None:
    players = load_task(STANDING).players
    assert players is not None and players.order is Order.SIMULTANEOUS
    paths = ("observation/red", "action/blue", "alive/green", "terminated", "state/strength")
    assert [players.of(path) for path in paths] == ["red", "blue", "green", None, None]


@pytest.mark.parametrize(
    ("task", "edits", "said"),
    [
        (NIM, [('names = ["first", "second"]\n', 'names = ["first"]\n')], "has 1 elements; expected at least 2"),
        (NIM, [('order = "turns"', 'order = "turn"')], "did you mean `turns`?"),
        (NIM, [("to_move = {", "observation2 = {")], "there is no leaf `to_move`"),
        (NIM, [('to_move = { dtype = "int32", low = 0, high = 1', 'to_move = { dtype = "int32", low = 0, high = 2')],
         "expected one integer with low = 0 and high = 1"),
        (NIM, [('"reward/second" =', '"reward/third" =')], "there is no leaf `reward/second`"),
        (NIM, [('"reward/second" =', '"reward/third" =')], "there is no such player; expected one of reward/first"),
        (NIM, [('"reward/second" =', "reward =")], "it is the reward of nobody"),
        (NIM, [('order = "turns"', 'order = "simultaneous"')], "expected an action leaf `action/<player>` for each"),
        (NIM, [('order = "turns"', 'order = "simultaneous"')], 'expected no such leaf, or `order = "turns"`'),
        (NIM, [('order = "turns"', 'order = "any"')], "there is no leaf `to_move/first`"),
        (NIM, [('[players]\nnames = ["first", "second"]\norder = "turns"\n', "")], "the task has one player"),
        (NIM, [("[budgets]", TRANSFER + 'opponents = ["random", "greedy", "reference/none.npz"]\n\n[budgets]')],
         "there is no file 'reference/none.npz'"),
        (NIM, [("[budgets]", TRANSFER + 'opponents = ["random", "a b"]\n\n[budgets]')], "expected `random`, a scripted"),
        (NIM, [("[budgets]", TRANSFER + 'episodes = 33\n\n[budgets]')], "expected a multiple of 2, and at least 4"),
        (NIM, [("[budgets]", TRANSFER + 'episodes = 2\n\n[budgets]')], "2 episodes for 2 seats and 1 opponents"),
        (NIM, [("[budgets]", TRANSFER + '[transfer.ppo]\nkeep_best = true\n\n[budgets]')], "expected keep_best = false"),
        (NIM, [("[budgets]", TRANSFER + '[transfer.ppo]\nhold = 2\n\n[budgets]')], "expected hold = 1, the default"),
        (WALK, [("[budgets]", TRANSFER + 'opponents = ["random"]\n\n[budgets]')], "the task has one player"),
        (WALK, [("[budgets]", TRANSFER + '[transfer.ppo]\npast = 2\n\n[budgets]')], "transfer.ppo.past: the task has one"),
        (NIM, [("[budgets]", "[[require]]\nreward = 1\n\n[budgets]")], "there is no leaf `reward` of rewards"),
        (NIM, [("[budgets]", '[[require]]\nreward = 2\nleaf = "reward/first"\n\n[budgets]')], "`reward/first` is never"),
        (NIM, [('"reward/second" = {', '"reward/second" = { shape = [2],')], "of shape [2]; expected one number"),
        (STANDING, [('"alive/green" = { dtype = "bool" }\n', "")], "there is no leaf `alive/green`"),
        (STANDING, [('"alive/green" = { dtype = "bool" }', '"alive/green" = { dtype = "int8" }')], "expected one bool"),
        (STANDING, [('"observation/green" =', '"observation/yellow" =')], "`yellow` is no player"),
        (STANDING, [('"action/red" =', '"action/move" ='),
                    ('"action/green" = { dtype = "int32", low = 0, high = 2 }\n', ""),
                    ('"action/blue" = { dtype = "int32", low = 0, high = 2 }\n', "")],
         "expected an action leaf `action/<player>` for each"),
        (STANDING, [('"action/green" =', '"action/yellow" =')], "`green` has no leaf below `action/`"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_what_is_right(
    task: Path, edits: list[tuple[str, str]], said: str, tmp_path: Path
) -> None:
    found = refused(edited(tmp_path, task, *edits))
    assert any(said in mistake for mistake in found), found


def test_a_reward_of_several_numbers_says_where_players_are_named(tmp_path: Path) -> None:
    alone = edited(
        tmp_path, NIM,
        ('[players]\nnames = ["first", "second"]\norder = "turns"\n', ""),
        ('"reward/first" = { dtype = "float32", low = -1, high = 1 }\n"reward/second" = ', "reward = "),
        ('reward = { dtype = "float32", ', 'reward = { dtype = "float32", shape = [2], '),
        ('to_move = { dtype = "int32", low = 0, high = 1 }\n', ""),
    )  # fmt: skip
    assert any("where several play, a table [players]" in mistake for mistake in refused(alone))
