"""The reference of the walk, with and without the ability to restore a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from harness.verify.verifier import Verifier
from tests.verify.levels.conftest import Walk

MakePair = Callable[[int], Pair]


@pytest.fixture(params=["restored", "replayed"])
def make_pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakePair]:
    """Pairs of one reference with itself, from a seed: here only the reference is asked anything."""
    walk = Walk(tmp_path / "walk")
    if request.param == "replayed":
        walk.edit("reference/adapter.py", [("without=()", 'without=("restore",)')])
    task = load_task(walk.directory)
    with ExitStack() as stack:
        pool = stack.enter_context(Verifier(task, sandboxes.choose(None), workers=2)).reference()
        yield lambda seed: Pair(task, Suite(), pool, pool.first, seed, lambda what, done, total: None)
