"""The attack: have a checkout merged that holds more than what was verified, where a snapshot would not look."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.assurance.audit import Gate, audit
from harness.record.export import check_out
from harness.record.log import MAIN
from harness.record.store import Store
from tests.session.standin import Agent


@pytest.fixture
def checkout(agent: Agent, tmp_path: Path) -> Path:
    """The newest verified commit's files, as somebody merges them."""
    agent.get_right()
    for words in ("Start", "Move", "Compose", "Episodes"):
        agent.session.verify(message=words)
    with Store(agent.session.directory.repository) as store:
        check_out(store, store.files(store.commit(store.refs()[MAIN]).tree), tmp_path / "translation")
    return tmp_path / "translation"


def objections(agent: Agent, directory: Path) -> list[str]:
    return [problem.what for problem in audit(agent.session.directory.repository, gate=Gate(3, directory)).problems]


def unchecked(place: Path, source: str = "env.py") -> Path:
    """A compiled file that Python takes for its source's without a look at the source."""
    written = place / ".written.py"
    written.write_text("raise SystemExit('another program')\n")
    compiled = Path(importlib.util.cache_from_source(str(place / source)))
    compiled.parent.mkdir(exist_ok=True)
    py_compile.compile(
        str(written), str(compiled), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    written.unlink()
    return compiled


def tagged(place: Path) -> Path:
    """A package in a directory that calls itself a cache."""
    (place / "more").mkdir()
    (place / "more" / "CACHEDIR.TAG").touch()
    (place / "more" / "__init__.py").write_text("")
    return place / "more" / "__init__.py"


def sourceless(place: Path) -> Path:
    (place / "more.pyc").write_bytes(b"\0")
    return place / "more.pyc"


def mode(place: Path) -> Path:
    (place / "env.py").chmod(0o755)
    return place / "env.py"


def empty(place: Path) -> Path:
    (place / "more").mkdir()
    return place / "more"


def pipe(place: Path) -> Path:
    os.mkfifo(place / "more")
    return place / "more"


def replaced_by_a_directory(place: Path) -> Path:
    (place / "env.py").unlink()
    (place / "env.py").mkdir()
    return place / "env.py"


def undecodable(place: Path) -> Path:
    (place / os.fsdecode(b"\xff.py")).touch()
    return place / "\\xff.py"


PLANTED: dict[str, Callable[[Path], Path]] = {
    "a compiled file with an unchecked hash": unchecked,
    "a package in what calls itself a cache": tagged,
    "a compiled file without a source": sourceless,
    "a mode": mode,
    "an empty directory": empty,
    "a pipe": pipe,
    "a directory in the place of a file": replaced_by_a_directory,
    "a name that is not UTF-8": undecodable,
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_the_record_lacks_is_refused_by_name(what: str, agent: Agent, checkout: Path) -> None:
    assert objections(agent, checkout) == []
    planted = PLANTED[what](checkout / "candidate").relative_to(checkout)
    said = objections(agent, checkout)
    assert any(words.startswith(f"{planted} in {checkout} ") for words in said), said


def test_the_task_is_held_against_the_record_too(agent: Agent, checkout: Path) -> None:
    (checkout / "reference").mkdir(exist_ok=True)
    planted = [unchecked(checkout, "properties.py"), unchecked(checkout / "reference", "adapter.py")]
    (checkout / "cases").mkdir(exist_ok=True)
    (checkout / "cases" / "found.json").write_text("{}")
    (checkout / "cases" / "conftest.py").write_text("")
    planted.append(checkout / "cases" / "conftest.py")
    said = {words.split(" ")[0] for words in objections(agent, checkout)}
    assert said == {str(path.relative_to(checkout)) for path in planted}


def test_a_compiled_file_of_this_kind_runs_in_the_place_of_its_source(tmp_path: Path) -> None:
    """The attack is real: Python obeys it."""
    (tmp_path / "env.py").write_text("")
    unchecked(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", "import env"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "another program" in ended.stderr


def test_a_checkout_of_something_else_is_not_named_to_its_end(agent: Agent, checkout: Path) -> None:
    for number in range(1100):
        (checkout / "candidate" / f"more{number}").touch()
    said = objections(agent, checkout)
    assert len(said) == 1001 and "more than 1000 differences" in said[-1]
