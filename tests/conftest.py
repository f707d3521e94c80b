"""What holds for every test."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C; some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST_FIRST = ("mcp_server/test_recipe.py", "levels/test_transfer.py", "training", "replay", "mcp_server", "mutants")
"""Where tests last for minutes. They go first: at the end only short ones are left, which all processes can share."""


@pytest.fixture(scope="session")
def cargo() -> None:
    """For what compiles crates."""
    if shutil.which("cargo") is None:
        pytest.skip("compiles crates, and there is no cargo here: install Rust 1.85 or newer")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        path = item.path.relative_to(here)
        fitting = (place for place, name in enumerate(LONGEST_FIRST) if path.is_relative_to(name))
        quick = item.get_closest_marker("slow") is None
        return len(LONGEST_FIRST) + quick if quick else next(fitting, len(LONGEST_FIRST))

    items.sort(key=rank)
