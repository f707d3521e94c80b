"""The real library, behind the adapter and bare, for the tests in this folder."""

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
from tests.environments.pong.game import DIRECTORY, run_python

BARE = """
import ctypes, json, os, sys
import numpy as np
from library import Fields, Library
library = Library()

def make(num_envs=1, **parameters):
    environment = library.make(num_envs=num_envs, **parameters)
    games = ctypes.cast(ctypes.c_void_p.from_address(environment.c_envs).value, ctypes.POINTER(ctypes.c_void_p))
    environment.fields = [Fields.from_address(games[number]) for number in range(num_envs)]
    return environment
"""


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(DIRECTORY)


@pytest.fixture(scope="module")
def suite(task: Task) -> Suite:
    return load_suite(task)


@pytest.fixture(scope="session")
def installed() -> Installed:
    return setup(load_task(DIRECTORY))


@pytest.fixture(scope="module")
def pong(task: Task, installed: Installed) -> Iterator[Environment]:
    environment = start_reference(task, installed)
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def bare(task: Task, installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Runs lines in the reference's interpreter; what they leave in `answer` comes back through JSON."""
    folder = tmp_path_factory.mktemp("bare")

    def ask(lines: str) -> Any:
        code = BARE + textwrap.dedent(lines) + "\nprint(json.dumps(answer))\n"
        return json.loads(run_python(task, installed, code, folder))

    return ask
