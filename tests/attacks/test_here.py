"""The attack: leave modules that are named like Python's own, or Lockstep's, where a person will call Lockstep.

A workspace is such a place: an agent writes in it, and a person who looks at its session stands in it.
"""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest

from harness.cli import doctor
from harness.reference import building
from harness.support.progress import silent
from mcp_server.toolbox import connected
from tests.paths import ROOT

MARK = "from pathlib import Path\nPath(__file__).with_name('mark').touch()\nraise SystemExit(3)\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with modules in it that leave a mark when they are imported."""
    for name in ("pip", "jax", "harness", "json", "shutil", "logging"):
        (tmp_path / f"{name}.py").write_text(MARK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_pip_is_asked_for_its_settings_and_nobody_else(here: Path) -> None:
    list(building._named_by_settings({}, ()))
    assert not (here / "mark").exists()


def test_the_doctor_asks_the_jax_that_is_installed(here: Path) -> None:
    doctor._jax()
    assert not (here / "mark").exists()


def test_a_server_of_ones_own_is_lockstep(here: Path) -> None:
    async def greet() -> None:
        async with connected(here, here, silent):
            pass

    anyio.run(greet)
    assert not (here / "mark").exists()


def test_every_python_that_lockstep_starts_here_leaves_out_where_it_is_called() -> None:
    """Beside what the tests above call: no module or text is run by an interpreter that looks there first."""
    unsafe = re.compile(r"sys\.executable,?\s*(args=)?\[?\s*['\"]-[cm]['\"]")
    sources = [path for room in ("harness", "mcp_server", "sandboxes") for path in (ROOT / room).rglob("*.py")]
    assert len(sources) > 300
    assert [str(path) for path in sources if unsafe.search(path.read_text())] == []
    assert unsafe.search('[sys.executable, "-m", "pip"]')
    assert unsafe.search('command=sys.executable,\n        args=["-c", "x"]')
