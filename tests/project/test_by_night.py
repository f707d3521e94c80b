"""The table of what is left to the night: it names tests that are there, and CI leaves out these and no others."""

from __future__ import annotations

from pathlib import Path

from tests import by_night
from tests.inner_pytest import run_pytest
from tests.paths import ROOT

PLUGIN = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests import by_night

def pytest_collection_modifyitems(items):
    by_night.leave(items, {{tests!r}})
"""
TESTS = """
import pytest

@pytest.mark.parametrize("number", [1, 2, 3])
def test_cases(number): pass

def test_long(): pass

def test_long_too(): pass
"""


def _collected(place: Path, *tests: str, text: str = TESTS) -> list[str]:
    """What is collected for the day where these are left to the night."""
    (place / "test_a.py").write_text(text)
    done = run_pytest(place, PLUGIN.format(tests=tests), "--collect-only", "-m", "not nightly")
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_every_line_names_a_test_and_what_stands_for_it() -> None:
    tests = by_night.read()
    assert not list(by_night.stale(tests, ROOT))
    assert all(tests.values())


def test_a_test_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TESTS)
    kept = ["test_a.py::test_long", "test_a.py::test_cases[all but the first]"]
    [found, another] = by_night.stale([*kept, "test_a.py::test_lon", "test_b.py::test_long"], tmp_path)
    assert "test_a.py has no test test_lon:" in found
    assert "test_b.py has no test test_long:" in another


def test_ci_leaves_out_what_is_named_and_nothing_else(tmp_path: Path) -> None:
    everything = ["test_cases[1]", "test_cases[2]", "test_cases[3]", "test_long", "test_long_too"]
    assert _collected(tmp_path) == everything
    assert _collected(tmp_path, "test_a.py::test_long") == [name for name in everything if name != "test_long"]
    assert _collected(tmp_path, "test_a.py::test_cases[all but the first]") == [everything[0], *everything[3:]]


def test_a_first_case_that_is_left_to_the_night_already_stands_for_nothing(tmp_path: Path) -> None:
    """Planted: no case would be left for the day."""
    marked = TESTS.replace("[1, 2, 3]", "[pytest.param(1, marks=pytest.mark.nightly), 2, 3]")
    collected = _collected(tmp_path, "test_a.py::test_cases[all but the first]", text=marked)
    assert collected == ["test_cases[2]", "test_long", "test_long_too"]
