"""The walk with a reference that draws: a bar of places, in which the walker's is bright."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.verify.levels.conftest import Walk

ADAPTER = "reference/adapter.py"
CAN_DRAW = ('"draws", "force_draws")\n', '"draws", "force_draws", "render")\n')
TAKE_DRAWS = "    def take_draws(self):\n"
RENDER = (
    TAKE_DRAWS,
    "    def render(self):\n"
    "        picture = np.zeros((8, 64, 3), np.uint8)\n"
    "        picture[:, int(np.clip(32 + 4 * self._place, 0, 63))] = 255\n"
    "        return picture\n\n" + TAKE_DRAWS,
)
RIGHT, WRONG = "jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -2.0)"
"""A rule of the walk, and a fault in it that one step shows, and a picture too."""


def let_it_draw(walk: Walk) -> None:
    """Give the walk's reference the capability `render`."""
    walk.edit(ADAPTER, [CAN_DRAW, RENDER])


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    """A walk that draws, with a fault in its candidate."""
    made = Walk(tmp_path / "walk")
    let_it_draw(made)
    made.edit("candidate/env.py", [(RIGHT, WRONG)])
    yield made
    made.close()
