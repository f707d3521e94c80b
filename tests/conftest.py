"""What holds for every test."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from harness.taskfile import load_task
from tests.tools import find_node, need_extensions

# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C; some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)

ENVIRONMENTS = Path(__file__).parents[1] / "environments"
LONGEST_FIRST = ("mcp_server/test_recipe.py", "levels/test_transfer.py", "training", "replay", "mcp_server", "mutants")
"""Where tests last for minutes. They go first: at the end only short ones are left, which all processes can share."""


@pytest.fixture(scope="session")
def cargo() -> None:
    """For what compiles crates."""
    if shutil.which("cargo") is None:
        pytest.skip("compiles crates: install Rust 1.85 or newer (https://rustup.rs)")


@pytest.fixture
def node(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of Node.js, which is on PATH then too."""
    found = find_node()
    if found is None:
        pytest.skip("runs Node.js: install it (Debian: `apt-get install nodejs`), or run `make setup`")
    if shutil.which("node") is None:
        # Node alone: the programs that lie beside it in its package cannot be started from there.
        programs = tmp_path_factory.mktemp("node")
        (programs / "node").symlink_to(found)
        monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    return found


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("pong") is not None:
        need_extensions(load_task(ENVIRONMENTS / "pong"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        path = item.path.relative_to(here)
        fitting = (place for place, name in enumerate(LONGEST_FIRST) if path.is_relative_to(name))
        quick = item.get_closest_marker("slow") is None
        return len(LONGEST_FIRST) + quick if quick else next(fitting, len(LONGEST_FIRST))

    items.sort(key=rank)
