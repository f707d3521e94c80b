"""The build script: what it refuses, and what it says then. None of this needs a compiler or PyBoy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.environments.builds import machine
from tests.environments.gameboy.game import DIRECTORY


def build(prefix: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script as `lockstep setup` does, with some variables changed."""
    return subprocess.run(
        [sys.executable, "-B", str(DIRECTORY / "reference" / "build.py"), str(prefix)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_machine_without_a_compiler_is_reported_in_one_line_how_to_get_one(tmp_path: Path) -> None:
    done = build(tmp_path, PATH=str(tmp_path), CC="")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "the access to PyBoy cannot be built: no C compiler: install one, for example with "
        "`apt install gcc libc6-dev` or `dnf install gcc`"
    ]


def test_a_python_without_header_files_is_reported_in_one_line_how_to_get_them(tmp_path: Path) -> None:
    done = build(tmp_path, **machine(tmp_path / "machine", headers=False))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"the access to PyBoy cannot be built: Python {version} has no header files: install them, for example with "
        f"`apt install python{version}-dev` or `dnf install python{version}-devel`"
    ]


def test_where_a_step_fails_its_last_lines_are_shown(tmp_path: Path) -> None:
    variables = machine(tmp_path / "machine", headers=True)
    (tmp_path / "machine" / "cython.py").write_text("raise SystemExit('this Cython is broken')\n")
    done = build(tmp_path, **variables)
    assert done.returncode == 1
    assert "-m cython -3` failed:\nthis Cython is broken" in done.stderr
