"""`[[require]]`: what a task may ask a level to have reached, and that a wrong one is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.task.require import Requirement, demand_features
from tests.task.document import RIGHT, assert_one_mistake, changed, mistakes, read

WRONG: list[tuple[str, str, str, str, str]] = [
    ('end = "terminated"', 'end = "terminate"', "require[0].end", "did you mean `terminated`?", ""),
    ("times = 20", "times = 0", "require[0].times", "an integer of at least 1", ""),
    ("times = 20", "time = 20", "require[0].time", "did you mean `times`?", ""),
    ("times = 20", "level = 5", "require[0].level", "one of the levels 1, 2, 3, 4", ""),
    ("times = 20", 'leaf = "state/x"', "require[0].leaf", "`leaf` beside `bound`, `action` or `reward`", ""),
    ("times = 20", "reward = 1", "require[0]", "it asks for several things: end, reward; expected one of", "[[require]]"),
    ('end = "terminated"\n', "", "require[0]", "it asks for nothing; expected one of `feature`, `end`", "[[require]]"),
    ('end = "terminated"', 'feature = ""', "require[0].feature", "the name of a feature", ""),
    ("times = 20", 'times = 1\n\n[[require]]\nfeature = "x"\nlevel = 2', "require[1].level", "expected 3 or above", "level"),
    ('end = "terminated"', "reward = inf", "require[0].reward", "a finite number", ""),
    ('end = "terminated"', "action = 1.5", "require[0].action", "an integer of at most 64 bits", ""),
    ('end = "terminated"', f"action = {10**400}", "require[0].action", "an integer of at most 64 bits", ""),
    ("action = 3", "action = 4", "require[2].action", "it is 4, which `action` is never; expected 0 to 3", ""),
    ("action = 3", 'action = 3\nleaf = "actoin"', "require[2]", "did you mean `action`?", "[[require]]\naction"),
    ('leaf = "state/x"', 'leaf = "state/y"', "require[1].leaf", "expected one of observation/view, state/x", ""),
    ('leaf = "state/x"', 'leaf = "state/n"', "require[1].leaf", "`state/n` has no finite bound `high`", ""),
    ('leaf = "state/x"', 'leaf = "action"', "require[1].leaf", "`action` has no finite bound `high`", ""),
    ('leaf = "state/x"\n', "", "require[1]", "the key `leaf` is missing", "[[require]]\nbound"),
    ('bound = "high"', 'bound = "hihg"', "require[1].bound", "did you mean `high`?", ""),
    ("level = 2", 'leaf = "action"\nbound = "low"', "require[2]", "several things: action, bound", "[[require]]\naction"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "key", "said", "begins"), WRONG, ids=[f"{row[2]}: {row[1]}" for row in WRONG])
def test_one_mistake_is_reported_once_at_its_line(
    tmp_path: Path, old: str, new: str, key: str, said: str, begins: str
) -> None:
    assert_one_mistake(tmp_path, old, new, key, said, begins)


def test_level_4_is_required_only_where_there_is_one(tmp_path: Path) -> None:
    assert read(tmp_path, changed(("level = 2", "level = 4"))).required[-1].level == 4
    begin, end = RIGHT.index("[transfer]"), RIGHT.index("[profile]")
    [mistake] = mistakes(tmp_path, (RIGHT[:begin] + RIGHT[end:]).replace("level = 2", "level = 4"))
    assert "require[2].level: the task has no level 4; expected 1, 2 or 3, or `steps` in [transfer]" in mistake


def test_a_reward_that_is_required_must_be_one_that_the_leaf_can_have(tmp_path: Path) -> None:
    wanted = ('end = "terminated"', "reward = 0.5")
    assert read(tmp_path, changed(wanted)).required[0] == Requirement(reward=0.5, times=20)
    for leaf, said in (
        ('"int8"', "it is 0.5; expected a whole number, as the leaf is int8"),
        ('"float32", low = 1', "it is 0.5, which `reward` is never; expected 1 to inf, as float32"),
    ):
        [mistake] = mistakes(tmp_path, changed(wanted, ('reward = { dtype = "float64"', f"reward = {{ dtype = {leaf}")))
        assert f"require[0].reward: {said}" in mistake


def test_a_feature_that_is_required_must_be_declared(tmp_path: Path) -> None:
    task = read(tmp_path, changed(('end = "terminated"', 'feature = "fell of"')))
    demand_features(tmp_path / "task.toml", task.required, ["fell of"])
    with pytest.raises(TaskError, match="the task requires features that it does not declare") as refused:
        demand_features(tmp_path / "task.toml", task.required, ["fell off", "flew"])
    line = changed().split("\n").index('end = "terminated"') + 1
    said = "unknown feature `fell of`; expected one of fell off, flew; did you mean `fell off`?"
    assert refused.value.mistakes == (f"task.toml:{line}: require[0].feature: {said}",)
    assert "properties.py" in refused.value.next_step
