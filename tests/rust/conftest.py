"""Pong in Rust, compiled as a candidate is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import sandboxes
from harness.candidate.crates.build import build
from harness.candidate.crates.toolchain import toolchain
from harness.candidate.faces.rust_batch import load_module
from harness.errors import SetupError
from harness.measure.coverage import llvm
from harness.task.contract import Task
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS
from tests.rust.games import dice_task

PONG = ENVIRONMENTS / "pong"


@pytest.fixture(scope="session", autouse=True)
def without_a_compiler_nothing_here_can_run(cargo: None) -> None:
    """See `cargo`."""


@pytest.fixture(scope="session")
def readers(cargo: None) -> None:
    """Without LLVM's tools nobody reads what a crate counts; CI installs them."""
    driver = sandboxes.choose(None)
    try:
        llvm.tools(driver, toolchain(driver))
    except SetupError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def task() -> Task:
    """Pong, for its candidate in Rust."""
    return load_task(PONG).with_candidate("rust")


@pytest.fixture
def tree(task: Task, tmp_path: Path) -> Path:
    """A tree with the task's candidate, to be changed."""
    shutil.copytree(task.directory / "candidate", tmp_path / "tree" / "candidate")
    return tmp_path / "tree"


@pytest.fixture(scope="session")
def pong(task: Task, cargo: None) -> ModuleType:
    """The extension module of the candidate. It is the project's own, so it may run in this process."""
    return load_module(build(task, sandboxes.choose(None), task.directory))


@pytest.fixture(scope="session")
def dice(cargo: None) -> ModuleType:
    """The extension module of the dice game."""
    task = dice_task()
    return load_module(build(task, sandboxes.choose(None), task.directory))


@pytest.fixture(scope="session")
def wheel_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables for maturin: what projects are linked with is compiled once for all tests, of all processes, and quickly."""
    own = tmp_path_factory.getbasetemp()
    target = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "cargo-target"
    return {"CARGO_TARGET_DIR": str(target), "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CARGO_PROFILE_RELEASE_LTO": "off"}
