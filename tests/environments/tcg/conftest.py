"""The card game's reference, started once for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.protocol.environment import Environment
from harness.reference.start import start_reference
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS
from tests.specification.conftest import HERE

TASK = load_task(ENVIRONMENTS / "tcg")


@pytest.fixture(scope="module")
def reference() -> Iterator[Environment]:
    started = start_reference(TASK, HERE)
    yield started
    started.close()
