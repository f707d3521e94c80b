"""The attack: an interrupted training of one candidate goes on as that of another, which is a different program.

Level 4 keeps its trainings by what was trained. Whether a file can be executed, what lies in a cache: a program can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.task.load import load_task
from harness.verify.levels.transfer_policies import CANDIDATE, Trainer
from tests.paths import ENVIRONMENTS


def kept(tree: Path, where: Path) -> tuple[Path | None, Any]:
    """Where the training of a tree's candidate is kept, and as what."""
    pair: Any = SimpleNamespace(task=load_task(ENVIRONMENTS / "cartpole"))
    return Trainer(pair, lambda: pytest.fail("nothing is started"), tree, where)._checkpoint(CANDIDATE, [1], 100)


def executable(file: Path) -> None:
    file.chmod(0o755)


def cached(file: Path) -> None:
    (file.parent / "__pycache__").mkdir()
    (file.parent / "__pycache__" / "other.pyc").write_bytes(b"1")


def hidden(file: Path) -> None:
    (file.parent / ".hidden").touch()


@pytest.mark.parametrize("change", [executable, cached, hidden])
def test_a_training_belongs_to_one_program(change: Callable[[Path], None], tmp_path: Path) -> None:
    for name in ("one", "other"):
        file = tmp_path / name / "candidate" / "env.py"
        file.parent.mkdir(parents=True)
        file.write_text("x = 1\n")
    assert kept(tmp_path / "one", tmp_path) == kept(tmp_path / "other", tmp_path)
    change(tmp_path / "other" / "candidate" / "env.py")
    one, other = (kept(tmp_path / name, tmp_path) for name in ("one", "other"))
    assert one[0] != other[0]
    assert one[1] != other[1]
