"""The attack: a task puts what it likes into the environment of another task of its name, which then is judged by it.

The environment of a reference is built once, and found again by a key. So whatever takes part in the building and is not in
the key lets one task build another one's judge.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.candidate.crates import data, runtime
from harness.reference import install
from harness.reference.install import find_interpreter, setup
from harness.task.contract import Task
from harness.task.kinds import problem_with_requirement
from harness.task.load import load_task
from tests.session.standin import make_task

BUILD = "import json, os, sys\nopen(os.path.join(sys.argv[1], 'built'), 'w').write(json.__name__)\n"
POISON = """
import os, sys
prefix = next(word for word in sys.argv + sys.orig_argv if "/envs/" in word)
os.makedirs(prefix + "/bin", exist_ok=True)
if not os.path.lexists(prefix + "/bin/python"):
    os.symlink({python!r}, prefix + "/bin/python")
open(prefix + "/poison", "w").close()
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own: what the attack makes must be found by nobody else."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))


def built(directory: Path, adapter: str | None = None, script: str = "reference/build.py") -> Task:
    """A task with a build script, at a place of its own."""
    made = load_task(make_task(directory / "task"))
    (made.directory / "reference" / "build.py").write_text(BUILD)
    command = () if adapter else (sys.executable, "reference/serve.py")
    return replace(
        made, reference=replace(made.reference, adapter=adapter, command=command, requirements=(), build=script)
    )


def prefix(task: Task) -> Path:
    return install._prefix(task, find_interpreter(None))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["venv.py", "json.py", "reference/../venv/__main__.py"])
def test_what_lies_beside_the_reference_builds_nothing(name: str, tmp_path: Path) -> None:
    """Python takes a module from where it is started before it takes its own."""
    hostile, honest = built(tmp_path / "hostile"), built(tmp_path / "honest")
    (hostile.directory / name).parent.mkdir(exist_ok=True)
    (hostile.directory / name).write_text(POISON.format(python=sys.executable))
    setup(hostile)
    found = setup(honest).prefix
    assert (found / "built").read_text() == "json"
    assert not (found / "poison").exists()


def test_an_adapter_takes_no_part_in_a_build(tmp_path: Path) -> None:
    """It is in no key, because it may change freely; so a build does not get it, whatever it is called."""
    hostile = built(tmp_path / "hostile", "reference/json.py:Walk")
    (hostile.directory / "reference" / "json.py").write_text(POISON)
    (hostile.directory / "reference" / "adapter.py").unlink()
    honest = built(tmp_path / "honest", "reference/adapter.py:Walk")
    assert prefix(hostile) == prefix(honest)
    (tmp_path / "seen").mkdir()
    seen = install._as_keyed(hostile, tmp_path / "seen").directory
    assert [path.name for path in seen.rglob("*.py")] == ["build.py"]


def test_an_adapter_that_is_the_build_script_is_in_the_key(tmp_path: Path) -> None:
    one, other = (
        built(tmp_path / name, "reference/adapter.py:Walk", "reference/adapter.py") for name in ("one", "other")
    )
    assert prefix(one) == prefix(other)
    (other.directory / "reference" / "adapter.py").write_text(POISON)
    assert prefix(one) != prefix(other)
    assert prefix(built(tmp_path / "third", "reference/adapter.py:Walk")) != prefix(one)


def test_a_key_is_too_long_to_be_found_by_trying(tmp_path: Path) -> None:
    """With 48 bits, hours of one graphics card would find a task whose environment is taken for another one's."""
    assert len(prefix(built(tmp_path)).name.rpartition("-")[2]) * 4 >= 128


def test_so_are_the_keys_of_crates_and_of_prepared_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are taken into a candidate when it is compiled, and made by scripts of a task and by cargo."""
    places: list[Path] = []

    def made(location: Path, *others: object) -> Path:
        places.append(location)
        return location

    for module in (runtime, data):
        monkeypatch.setattr(module, "made", made)
    task = built(tmp_path)
    prefixes = SimpleNamespace(prefix=tmp_path / "walk-0")
    monkeypatch.setattr(data, "setup", lambda task, progress: prefixes)
    assert data.prepared(replace(task, candidate=replace(task.candidate, data="prepare.py"))) is not None
    rust: Any = SimpleNamespace(version="1.85")
    driver: Any = SimpleNamespace(name="none", describe=dict)
    assert runtime.compiled(driver, rust) != runtime.sources()
    names = {place.name.rpartition("-") for place in places}
    assert {name for name, _, _ in names} == {task.name, "sources", "compiled"}
    assert all(len(key) * 4 >= 128 for _, _, key in names)


@pytest.mark.parametrize("given", ["", "0", "g" * 64, "0" * 64 + "&sha256=", "0" * 63])
def test_an_address_without_a_whole_hash_is_no_requirement(given: str) -> None:
    """pip passes over a hash that is none: the content could change after the digest of the task was compared."""
    assert "is an address whose content may change" in str(
        problem_with_requirement(f"walk @ https://example.invalid/walk.tar.gz#sha256={given}")
    )
    assert problem_with_requirement(f"walk @ https://example.invalid/walk.tar.gz#sha256={'0f' * 32}") is None
