"""What `pip install` gets: the wheel has all that users import and all data files, and works where no checkout is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

USE = """
import sys
sys.path.insert(0, sys.argv[1])
import lockstep, lockstep_gameboy_tools
from harness.support.embedded import prompt_text, rust_sources
task = lockstep.load_task("cartpole")
prompt_text("repair")
places = (lockstep.__file__, lockstep_gameboy_tools.__file__, task.directory, rust_sources())
print(*map(str, places), sep="\\n")
"""
OWN = 'import lockstep\n\npassed: bool = lockstep.verify("cartpole", levels=(1, 2, 3)).passed\n'


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(place),
        str(ROOT),
    ]
    subprocess.run(build, check=True)
    [built] = place.glob("*.whl")
    return built


@pytest.mark.slow
def test_it_carries_packages_and_data(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(install, check=True)
    done = subprocess.run(
        [sys.executable, "-c", USE, str(site)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert all(Path(line).is_relative_to(site) for line in done.stdout.splitlines()), done.stdout
    assert all(
        (site / package / "py.typed").is_file() for package in ("lockstep", "harness", "mcp_server", "sandboxes")
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_an_empty_environment_gets_a_working_lockstep(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    programs = tmp_path / "env" / "bin"
    install = [str(programs / "python"), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True)
    (tmp_path / "own.py").write_text(OWN)
    typed = [sys.executable, "-m", "pyright", "--pythonpath", str(programs / "python"), "own.py"]
    assert "0 errors" in subprocess.run(typed, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    environment = {**os.environ, "LOCKSTEP_HOME": str(tmp_path / "home")}
    demo = [str(programs / "lockstep"), "demo"]
    shown = subprocess.run(demo, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert "everything holds" in shown
