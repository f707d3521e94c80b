"""Pong's build script: what it refuses, and what it says then. None of this needs a compiler or the network."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.environments.builds import machine
from tests.paths import ENVIRONMENTS

REFERENCE = ENVIRONMENTS / "pong" / "reference"
ARCHIVE = "pufferlib-3.0.0.tar.gz"


def build(prefix: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script as `lockstep setup` does, with some variables changed."""
    return subprocess.run(
        [sys.executable, "-B", str(REFERENCE / "build.py"), str(prefix)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def compiler(tmp_path: Path) -> dict[str, str]:
    """Variables under which the script finds a compiler and header files, which it will not come to need."""
    return machine(tmp_path / "machine", headers=True)


def test_a_machine_without_a_compiler_is_reported_in_one_line_how_to_get_one(tmp_path: Path) -> None:
    done = build(tmp_path / "prefix", PATH=str(tmp_path), CC="")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Pong cannot be built: no C compiler: install one, for example with `apt install gcc libc6-dev` or `dnf install gcc`"
    ]
    assert not (tmp_path / "prefix").exists()


def test_a_python_without_header_files_is_reported_in_one_line_how_to_get_them(tmp_path: Path) -> None:
    done = build(tmp_path / "prefix", **machine(tmp_path / "machine", headers=False))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"Pong cannot be built: Python {version} has no header files: install them, for example with "
        f"`apt install python{version}-dev` or `dnf install python{version}-devel`"
    ]


def test_without_an_index_the_last_lines_of_pip_are_shown(tmp_path: Path, compiler: dict[str, str]) -> None:
    done = build(tmp_path / "prefix", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), **compiler)
    assert done.returncode == 1
    assert "pip download` failed:" in done.stderr
    assert "No matching distribution found for pufferlib==3.0.0" in done.stderr


def test_a_source_with_another_hash_is_refused(tmp_path: Path, compiler: dict[str, str]) -> None:
    with tarfile.open(tmp_path / ARCHIVE, "w:gz") as tar:
        tar.add(REFERENCE / "build.py", "pufferlib-3.0.0/setup.py")
    done = build(tmp_path / "prefix", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), **compiler)
    assert done.returncode == 1
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not list((tmp_path / "prefix").rglob("setup.py"))


def test_a_damaged_download_of_an_earlier_run_is_not_taken_for_the_source(
    tmp_path: Path, compiler: dict[str, str]
) -> None:
    left = tmp_path / "prefix" / "build" / "pong" / ARCHIVE
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half of it")
    done = build(tmp_path / "prefix", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path / "nothing"), **compiler)
    assert done.returncode == 1
    assert "downloading PufferLib's source" in done.stdout


def test_the_stand_in_for_pytorch_has_what_the_package_imports_and_makes_the_folders_that_it_would_download(
    tmp_path: Path,
) -> None:
    imports = "from torch.utils import cpp_extension; from torch.utils.cpp_extension import "
    names = "CppExtension, CUDAExtension, BuildExtension, CUDA_HOME"
    subprocess.run(
        [sys.executable, "-B", "-c", f"{imports}{names}"],
        env={**os.environ, "PYTHONPATH": str(REFERENCE / "stand_in")},
        cwd=tmp_path,
        check=True,
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "box2d-linux-amd64",
        "box2d-web",
        "raylib-5.5_webassembly",
    ]
