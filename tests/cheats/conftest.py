"""A stage for each driver, kept for all tests of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import sandboxes
from tests.cheats.stage import Stage

Stages = Callable[[str], Stage]


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
    """The stage of a driver; a driver that does not work here skips the test."""
    made: dict[str, Stage] = {}

    def stage(driver: str) -> Stage:
        if (reason := sandboxes.drivers()[driver].unavailable()) is not None:
            pytest.skip(reason)
        if driver not in made:
            made[driver] = Stage(sandboxes.drivers()[driver], tmp_path_factory.mktemp(f"stage-{driver}"))
        return made[driver]

    yield stage
    for each in made.values():
        each.close()
