"""The walk: a task small enough that each check of each level can be given a fault that only it can find."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verdict import Verdict
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.paths import WALK

Edits = Sequence[tuple[str, str]]


class Walk:
    """A copy of the task `walk` with edits, and the verdicts on its candidate."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        shutil.copytree(WALK, directory, ignore=shutil.ignore_patterns("__pycache__"))
        self._verifiers: list[Verifier] = []

    def edit(self, file: str, edits: Edits) -> None:
        """Replace texts, each of which stands in the file exactly once."""
        path = self.directory / file
        source = path.read_text()
        for old, new in edits:
            assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {file}"
            source = source.replace(old, new)
        path.write_text(source)

    def verify(self, levels: Sequence[int] = (1, 2, 3), *, module: str | None = None, seed: int = 7) -> Verdict:
        """The verdict on the candidate, and on what is proposed beside it."""
        if not self._verifiers:
            self._verifiers.append(Verifier(load_task(self.directory), sandboxes.choose(None)))
        return self._verifiers[0].verify(self.directory, LevelsRequest(levels, seed, module))

    def close(self) -> None:
        for verifier in self._verifiers:
            verifier.close()


@pytest.fixture
def make_walk(tmp_path: Path) -> Iterator[Callable[[], Walk]]:
    made: list[Walk] = []

    def make() -> Walk:
        made.append(Walk(tmp_path / f"walk{len(made)}"))
        return made[-1]

    yield make
    for walk in made:
        walk.close()


@pytest.fixture
def walk(make_walk: Callable[[], Walk]) -> Walk:
    return make_walk()
