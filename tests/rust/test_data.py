"""Files that a task prepares are there wherever its crate is compiled, and a module is made anew when they change."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import sandboxes
from harness.candidate.crates.build import build
from harness.candidate.crates.data import prepared
from harness.candidate.export import export
from harness.candidate.faces.rust_batch import RustBatch, load_module
from harness.errors import SetupError
from harness.task.contract import Reference, Task

pytestmark = [pytest.mark.slow, pytest.mark.rust]
SCRIPT = "import pathlib, sys\n\n(pathlib.Path(sys.argv[1]) / 'frames').write_bytes(bytes([{frames}]))\n"
BEFORE = "const FRAMES: u32 = 8;"
AFTER = 'const FRAMES: u32 = include_bytes!(concat!(env!("LOCKSTEP_DATA"), "/frames"))[0] as u32;'


@pytest.fixture
def given(task: Task, tmp_path: Path) -> Task:
    """Pong, whose candidate reads from a file how many frames a step has. Its reference is never started here."""
    directory = tmp_path / "pong"
    shutil.copytree(task.directory / "candidate", directory / "candidate")
    rules = directory / "candidate" / "rust" / "src" / "rallies.rs"
    source = rules.read_text()
    assert source.count(BEFORE) == 1
    rules.write_text(source.replace(BEFORE, AFTER))
    (directory / "reference").mkdir()
    _write(directory, 8)
    candidate = replace(task.candidate, data="reference/data.py")
    reference = Reference(adapter=None, command=("true",))
    return replace(task, directory=directory, candidate=candidate, reference=reference)


def _write(directory: Path, frames: int) -> None:
    (directory / "reference" / "data.py").write_text(SCRIPT.format(frames=frames))


def _seen(module: ModuleType) -> np.ndarray:
    batch = RustBatch(module, 3)
    batch.reset(range(3))
    for _ in range(40):
        batch.step({"action": np.array([0, 1, 2])})
    return batch.seen["observation"].copy()


def test_a_crate_includes_what_its_task_prepared(given: Task, pong: ModuleType) -> None:
    driver = sandboxes.choose(None)
    first = build(given, driver, given.directory)
    assert np.array_equal(_seen(load_module(first)), _seen(pong))
    _write(given.directory, 7)
    second = build(given, driver, given.directory)
    assert first != second
    assert not np.array_equal(_seen(load_module(second)), _seen(pong))


def test_it_is_prepared_once(given: Task) -> None:
    place = prepared(given)
    assert place is not None and (place / "frames").read_bytes() == b"\x08"
    (given.directory / "candidate" / "notes").write_text("no part of what the script reads")
    assert prepared(given) == place


def test_a_script_that_fails_is_named_with_what_it_said(given: Task) -> None:
    (given.directory / "reference" / "data.py").write_text("raise SystemExit('no cartridge in the drawer')\n")
    with pytest.raises(SetupError, match=r"reference/data\.py failed.*(\n.*)*no cartridge in the drawer"):
        prepared(given)


def test_an_exported_project_brings_the_files(given: Task, tmp_path: Path) -> None:
    project = export(given, tmp_path / "project", None)
    assert (project / "data" / "frames").read_bytes() == b"\x08"
    assert 'LOCKSTEP_DATA = { value = "data", relative = true }' in (project / ".cargo" / "config.toml").read_text()
