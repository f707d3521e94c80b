"""The attack: a candidate that is another program once it was exported, because a file of it is not in the wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from harness.candidate.export import export
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS

BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
NAMES = (
    ".hidden",
    ".hidden-directory/module.py",
    "deep/.hidden/text.txt",
    "deep/.hidden/.more",
    ".[a-z]*?",
    ".svn/entries",
    "with.dots/module.py",
    "with-dashes/text.txt",
    "not.a-module.py",
    "no extension",
    "data/table.bin",
    "module.pyc",
    "build/module.py",
    "dist/text.txt",
    "own.egg-info/text.txt",
    "tests/module.py",
    "[a-z]*?",
)
"""What a builder of packages might leave out, by itself or because it takes a name for a pattern."""
OF_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in", "conftest.py", "sitecustomize.py")
"""What programs that build, test or start something look for."""


@pytest.fixture
def wheel(tmp_path: Path) -> tuple[Path, Path]:
    """A candidate with such files, and the wheel of it."""
    task = tmp_path / "task"
    shutil.copytree(ENVIRONMENTS / "cartpole", task, ignore=shutil.ignore_patterns("__pycache__"))
    ran = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    for name in (*NAMES, *OF_PROJECTS):
        path = task / "candidate" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ran if name.endswith(".py") else f"the file {name}")
    project = export(load_task(task), tmp_path / "project", b"{}")
    subprocess.run([sys.executable, "-c", BUILD, str(tmp_path)], cwd=project, check=True, capture_output=True)
    [made] = tmp_path.glob("*.whl")
    return task / "candidate", made


def test_every_file_that_was_verified_is_in_the_wheel(wheel: tuple[Path, Path]) -> None:
    candidate, made = wheel
    verified = {
        path.relative_to(candidate).as_posix(): path.read_bytes() for path in candidate.rglob("*") if path.is_file()
    }
    assert set(NAMES) <= set(verified)
    with zipfile.ZipFile(made) as files:
        names = (name for name in files.namelist() if name.startswith("cartpole/candidate/"))
        packed = {name.removeprefix("cartpole/candidate/"): files.read(name) for name in names}
    assert packed == verified


def test_what_a_candidate_holds_is_neither_run_nor_obeyed_when_it_is_built(
    wheel: tuple[Path, Path], tmp_path: Path
) -> None:
    assert not (tmp_path / "ran").exists()
    assert wheel[1].name == "cartpole-0.1.0-py3-none-any.whl"
