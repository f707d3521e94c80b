"""The command line as a person has it: a home directory of its own, a task to work on, and what came out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from tests.home import new_home
from tests.paths import ROOT, WALK

ENTRY = [sys.executable, "-c", "import sys; from harness.cli import main; sys.exit(main(sys.argv[1:]))"]
RIGHT, WRONG = "jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -2.0)"
"""A rule of the walk, and a fault in it that one step shows."""


@dataclass(frozen=True)
class Result:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as the one JSON document that it must be."""
        return json.loads(self.out)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new LOCKSTEP_HOME, which shares nothing with the person's own but the built environments."""
    return new_home(tmp_path, monkeypatch, "envs")


def runner(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """What runs command lines in this process."""

    def run(*arguments: str) -> Result:
        capfd.readouterr()
        code = main(arguments)
        return Result(code, *capfd.readouterr())

    return run


@pytest.fixture
def lockstep(home: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs a command line in this process."""
    return runner(capfd)


@pytest.fixture
def in_process(home: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts a command line in a process of its own."""

    def start(*arguments: str) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [*ENTRY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    return start


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the task `walk`, in which the command line is given."""
    place = tmp_path / "walk"
    shutil.copytree(WALK, place, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(place)
    return place
