"""Honest candidates that look odd: each passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.verdict import Outcome
from tests.cheats.conftest import Stages
from tests.cheats.stage import HERE, text_of, tree_at
from tests.cheats.table import BUBBLEWRAP

ODDITIES = sorted(path.stem for path in (HERE / "oddities").glob("*.py"))
AT_ALL_LEVELS = ("a_dataclass_as_state",)
AT_ALL_LEVELS_AT_NIGHT = ("changes_the_dict_that_it_was_given", "jitted_inside", "says_something_at_import")
"""For the others the steps of one module and the generic checks are enough: what is odd about them is none of a batch's."""
PARTS = {
    "candidate/parts/__init__.py": '"""A package of the candidate."""\n',
    "candidate/parts/moving.py": "from parts import signs\nfrom honest import step as honest_step\n\n\n"
    "def step(state, action, draws):\n    return signs.unchanged(honest_step(state, action, draws))\n",
    "candidate/parts/signs.py": "def unchanged(value):\n    return value\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "levels"),
    [(name, (1, 2, 3) if name in AT_ALL_LEVELS else (1,)) for name in ODDITIES]
    + [pytest.param(name, (2, 3), marks=pytest.mark.nightly) for name in AT_ALL_LEVELS_AT_NIGHT],
)
def test_an_honest_candidate_that_looks_odd_passes(
    name: str, levels: tuple[int, ...], stages: Stages, tmp_path: Path
) -> None:
    tree = tree_at(tmp_path / "tree", text_of(name, "oddities"), PARTS)
    verdict = stages(BUBBLEWRAP).judge(tree, levels)
    assert verdict.outcome is Outcome.PASS, verdict.to_json()


def test_there_are_more_than_ten_of_them() -> None:
    assert len(ODDITIES) > 10
