"""What holds for every test."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from harness.task.load import load_task
from tests import budgets, by_night
from tests.paths import ENVIRONMENTS
from tests.planted import is_planted
from tests.tools import find_node, need_extensions

# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C; some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine takes its time: no example of Hypothesis fails for that.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")

LONGEST_FIRST = (
    "mcp_server/test_recipe.py", "verify/levels/test_transfer.py", "training", "assurance/replay", "mcp_server", "mutants",
)  # fmt: skip
"""Where tests last for minutes. They go first: at the end only short ones are left, which all processes can share."""


@pytest.fixture(scope="module", autouse=True)
def narrow_types() -> None:
    """JAX's switch for 64-bit types as it is when JAX starts: candidates that other tests opened in this process turn it."""
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)


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


PASSED = "LOCKSTEP_TESTS_PASSED"
"""The file to write the ids of the tests that passed to. CI runs the default tests on a bare machine."""
DONE = "LOCKSTEP_TESTS_DONE"
"""Such a file: its tests are left out, so that CI runs here only what did not pass there."""
TWICE = ("agent_sandbox", "cheats", "host", "sandboxes")
"""What these find depends on who starts a sandbox: root, or a user, with control groups or without. They run on both."""


class Passed:
    """Notes the tests of all processes that passed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._outcomes: dict[str, set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._outcomes.setdefault(report.nodeid, set()).add(report.outcome)

    def pytest_sessionfinish(self) -> None:
        passed = sorted(name for name, outcomes in self._outcomes.items() if outcomes == {"passed"})
        self._file.write_text("".join(f"{name}\n" for name in passed))


def pytest_configure(config: pytest.Config) -> None:
    mode = os.environ.pop(budgets.VARIABLE, None)
    if hasattr(config, "workerinput"):
        return
    if file := os.environ.pop(PASSED, None):
        config.pluginmanager.register(Passed(Path(file)))
    if mode:
        config.pluginmanager.register(budgets.Accounting(mode, config.rootpath))


def leave_out_done(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what `DONE` names, but for the tests of `TWICE`."""
    if file := os.environ.get(DONE):
        done = set(Path(file).read_text().splitlines())
        here = Path(__file__).parent
        out = {i for i in items if i.nodeid in done and i.path.relative_to(here).parts[0] not in TWICE}
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    by_night.leave(items, by_night.read())
    for item in items:
        budgets.tell_part(item)
        if is_planted(item.nodeid):
            item.add_marker(pytest.mark.planted)
    leave_out_done(config, items)
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        path = item.path.relative_to(here)
        fitting = (place for place, name in enumerate(LONGEST_FIRST) if path.is_relative_to(name))
        quick = item.get_closest_marker("slow") is None
        return len(LONGEST_FIRST) + quick if quick else next(fitting, len(LONGEST_FIRST))

    items.sort(key=rank)
