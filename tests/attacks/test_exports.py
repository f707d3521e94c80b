"""The attack: a candidate that is another program once it was exported.

Because a file of it is not in the wheel; or because somebody changed the files and left the attestation beside them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.assurance.audit import PackageReport, check_package
from harness.candidate.export import export
from harness.cli.main import main
from harness.errors import RecordError
from harness.record.keys import PublicKey, load_or_create
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS
from tests.session.standin import finished_session

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


@pytest.fixture
def package(task: Path, workspace: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of a verified candidate, as its session exports it."""
    (task / "candidate" / "deep").mkdir(parents=True, exist_ok=True)
    (task / "candidate" / "env.py").write_text("RIGHT = True\n")
    (task / "candidate" / "deep" / "table.txt").write_text("1\n")
    session = finished_session(task, workspace, home)
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    assert main(["export", session.id, str(tmp_path / "package")]) == 0
    for path in (tmp_path / "package").rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)  # it is read-only, which stops nobody who passes it on
    return tmp_path / "package"


def _checked(package: Path, home: Path) -> PackageReport:
    return check_package(package, PublicKey.read(next(home.glob("keys/*.pub.pem"))))


def _change(candidate: Path) -> None:
    (candidate / "env.py").write_text("RIGHT = False\n")


def _add(candidate: Path) -> None:
    (candidate / "jax.py").write_text("")


def _add_compiled(candidate: Path) -> None:
    """Python runs it in the place of the source, if it says that its hash is not to be checked."""
    (candidate / "__pycache__").mkdir()
    (candidate / "__pycache__" / "env.cpython-311.pyc").write_bytes(b"")


def _remove(candidate: Path) -> None:
    shutil.rmtree(candidate / "deep")


def _link(candidate: Path) -> None:
    (candidate / "deep" / "table.txt").rename(candidate.parent / "kept.txt")
    (candidate / "deep" / "table.txt").symlink_to("../../kept.txt")


def _list_again(candidate: Path) -> None:
    """The list agrees with the files; the attestation names another one."""
    _change(candidate)
    listed = candidate.parent / "attested-files.sha256"
    sums = subprocess.run(
        ["sha256sum", "candidate/env.py"], cwd=candidate.parent, check=True, capture_output=True
    ).stdout
    kept = [line for line in listed.read_bytes().splitlines(True) if not line.endswith(b"  candidate/env.py\n")]
    listed.write_bytes(b"".join(sorted([*kept, sums], key=lambda line: line.split(b"  ")[1])))


def _decoy(candidate: Path) -> None:
    """A project of a candidate in Rust is built from `candidate/` beside `src/`."""
    shutil.copytree(candidate, candidate.parents[2] / "candidate")
    _change(candidate.parents[2] / "candidate")


@pytest.mark.parametrize("edit", [_change, _add, _add_compiled, _remove, _link, _list_again, _decoy])
def test_an_attestation_vouches_for_no_other_files(edit: Callable[[Path], None], package: Path, home: Path) -> None:
    assert _checked(package, home).ok
    edit(package / "src" / "walk" / "candidate")
    found = _checked(package, home)
    assert not found.ok
    assert len(found.differences) == 1


def test_an_installed_package_is_checked_too_and_with_the_tools_of_any_machine(package: Path, home: Path) -> None:
    installed = package / "src" / "walk"
    assert _checked(installed, home).levels[-1] == "LOCKSTEP_LEVEL_3"
    listed = (installed / "attested-files.sha256").read_bytes().splitlines(True)
    own = b"".join(line for line in listed if b"  candidate/" in line)
    command = ["sha256sum", "--check", "--strict", "--quiet"]
    assert subprocess.run(command, cwd=installed, input=own, check=False).returncode == 0
    _change(installed / "candidate")
    assert subprocess.run(command, cwd=installed, input=own, check=False, capture_output=True).returncode == 1


def test_another_key_attests_nothing(package: Path, tmp_path: Path) -> None:
    key = load_or_create(tmp_path / "stranger").public
    with pytest.raises(RecordError, match="signature does not verify"):
        check_package(package, key)
