"""PyBoy, behind the adapter and bare, for the tests in this folder. They build its environment once."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.protocol.environment import Environment
from harness.reference.install import Installed, setup
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from harness.task.suite import Suite, load_suite
from tests.environments.gameboy.game import DIRECTORY, run_python
from tests.tools import need_extensions

BARE = """
import json
import numpy as np
from cartridges import NAMES, boot_rom, cartridge
from console import Console
from probes import probe_console, started
"""


@pytest.fixture(scope="session")
def task() -> Task:
    return load_task(DIRECTORY)


@pytest.fixture(scope="session")
def suite(task: Task) -> Suite:
    return load_suite(task)


@pytest.fixture(scope="session")
def installed(task: Task) -> Installed:
    need_extensions(task)
    return setup(task)


@pytest.fixture(scope="module")
def gameboy(task: Task, installed: Installed) -> Iterator[Environment]:
    environment = start_reference(task, installed)
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def bare(task: Task, installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Runs lines in the reference's interpreter; what they leave in `answer` comes back through JSON."""
    folder = tmp_path_factory.mktemp("bare")

    def ask(lines: str) -> Any:
        done = run_python(task, installed, BARE + textwrap.dedent(lines) + "\nprint(json.dumps(answer))\n", folder)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])  # PyBoy prints before

    return ask
