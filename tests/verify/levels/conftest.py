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
from tests.edits import edit
from tests.paths import WALK

Edits = Sequence[tuple[str, str]]
MOVE = '    after = {"place": state["place"] + move, "steps": state["steps"] + 1}\n'
RESET = '    state = {"place": jnp.float64(0), "steps": jnp.int32(0)}\n'


class Walk:
    """A copy of the task `walk` with edits, and the verdicts on its candidate."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        shutil.copytree(WALK, directory, ignore=shutil.ignore_patterns("__pycache__"))
        self._verifiers: list[Verifier] = []

    def edit(self, file: str, edits: Edits) -> None:
        """Replace texts, each of which stands in the file exactly once."""
        for old, new in edits:
            edit(self.directory / file, old, new)

    def verify(self, levels: Sequence[int] = (1, 2, 3), *, module: str | None = None, seed: int = 7) -> Verdict:
        """The verdict on the candidate, and on what is proposed beside it."""
        if not self._verifiers:
            self._verifiers.append(Verifier(load_task(self.directory), sandboxes.choose(None)))
        return self._verifiers[0].verify(self.directory, LevelsRequest(levels, seed, module))

    def close(self) -> None:
        for verifier in self._verifiers:
            verifier.close()


def share_a_generator(walk: Walk) -> None:
    """Edit a walk so that both sides implement one generator, whose state is part of the canonical state."""
    walk.edit(
        "task.toml",
        [
            (
                'mode = "tape"\n\n[randomness.draws.gust]\ndtype = "float64"\nat = "step"\n'
                'law = { kind = "normal", mean = 0.0, std = 1.0 }\n',
                'mode = "shared"\n',
            ),
            ("observation = {", '"state/word" = { dtype = "uint32" }\nobservation = {'),
        ],
    )
    walk.edit(
        "reference/adapter.py", [('without=(), chance="tape"', 'without=("draws", "force_draws"), chance="shared"')]
    )
    walk.edit("interactions.py", [('"state/steps": 3}', '"state/steps": 3, "state/word": 99}')])
    walk.edit(
        "candidate/env.py",
        [
            (RESET, RESET.replace("}", ', "word": draws["seed"][1]}')),
            (
                MOVE,
                '    word = jnp.where(windy, jnp.uint32(1664525) * state["word"] + jnp.uint32(1013904223), state["word"])\n'
                + MOVE.replace("}", ', "word": word}'),
            ),
            (
                'draws["gust"]',
                'jnp.float64(jnp.uint32(1664525) * state["word"] + jnp.uint32(1013904223)) / 4294967296.0 - 0.5',
            ),
            (' | {"draws_used": {}}', ""),
            (' | {"draws_used": {"gust": windy.astype(jnp.int32)}}', ""),
        ],
    )


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
