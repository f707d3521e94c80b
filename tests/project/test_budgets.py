"""The table of what tests cost: it names the files that are there, and a run that breaks it fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import hypothesis
import pytest

from tests import budgets
from tests.budgets import DAILY, HOLD, LEAST_S, NIGHTLY, VARIABLE, WRITE, Costs
from tests.inner_pytest import run_pytest
from tests.paths import ROOT

PLUGIN = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests import budgets

def pytest_collection_modifyitems(items):
    for item in items:
        budgets.tell_part(item)

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        here = Path(__file__).parent
        config.pluginmanager.register(budgets.Accounting({{mode!r}}, here, here / "budgets.toml"))
"""
CHEAP = 'import pytest\n@pytest.mark.parametrize("part", ["nightly"])\ndef test_cheap(part): pass\n'
"""It has a parameter that is called as the marker is."""
SPINS = """
import time

def test_spins():
    began = time.process_time()
    while time.process_time() - began < {seconds}:
        pass
"""


def _ran(place: Path, mode: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The tests of a directory."""
    return run_pytest(place, PLUGIN.format(mode=mode), *arguments)


def _table(place: Path, daily: dict[str, float], nightly: dict[str, float] | None = None) -> None:
    budgets.write({DAILY: daily, NIGHTLY: nightly or {}}, place / "budgets.toml")


def test_every_file_of_tests_has_a_budget_and_every_budget_a_file() -> None:
    table = budgets.read()
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert files == set(table[DAILY]) | set(table[NIGHTLY]), "run `make budgets FILES=...` for what is new"
    assert all(value >= LEAST_S for part in table.values() for value in part.values())


@pytest.mark.parametrize(
    ("arguments", "budget", "code"),
    [((), 30.0, 0), ((), 0.5, 1), (("-p", "xdist", "-n", "2"), 0.5, 1)],
    ids=["kept", "broken", "broken, in two processes"],
)
def test_a_broken_budget_fails_a_run_whose_tests_pass(
    arguments: tuple[str, ...], budget: float, code: int, tmp_path: Path
) -> None:
    (tmp_path / "test_a.py").write_text(SPINS.format(seconds=1.2))
    (tmp_path / "test_b.py").write_text(CHEAP)
    _table(tmp_path, {"test_a.py": budget, "test_b.py": 5.0})
    done = _ran(tmp_path, HOLD, *arguments)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == code, done.stdout
    found = [line for line in done.stdout.splitlines() if line.startswith("BUDGET ")]
    assert len(found) == code and all("test_a.py took" in line for line in found)


@pytest.mark.parametrize(
    ("daily", "nightly", "said"),
    [
        ({"test_a.py": 30.0}, {}, "test_b.py has no budget under [daily]"),
        ({"test_a.py": 30.0}, {"test_b.py": 5.0}, "test_b.py has no budget under [daily]"),
        ({"test_a.py": 30.0, "test_b.py": 5.0, "test_c.py": 5.0}, {}, "test_c.py has a budget, but there is no such"),
        ({"test_a.py": 14.0, "test_b.py": 5.0}, {}, "test_a.py took 29.0 s, more than twice its budget of 14 s"),
    ],
    ids=["a file without a budget", "a budget of the other part", "a file that is gone", "a file that costs more"],
)
def test_what_breaks_the_table_is_named(
    daily: dict[str, float], nightly: dict[str, float], said: str, tmp_path: Path
) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).touch()
    costs = Costs()
    costs.seconds[DAILY].update({"test_a.py": 29.0, "test_b.py": 1.0})
    [found] = budgets.broken(costs, {DAILY: daily, NIGHTLY: nightly}, tmp_path)
    assert said in found


def test_what_a_run_measured_is_written_and_lines_of_files_that_are_gone_go(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(CHEAP.replace("\ndef", "\n@pytest.mark.nightly\ndef"))
    (tmp_path / "test_b.py").write_text(CHEAP)
    _table(tmp_path, {"test_b.py": 40.0, "test_gone.py": 9.0})
    done = _ran(tmp_path, WRITE, "test_a.py")
    assert done.returncode == 0, done.stdout + done.stderr
    written = budgets.read(tmp_path / "budgets.toml")
    assert written == {DAILY: {"test_b.py": 40.0}, NIGHTLY: {"test_a.py": LEAST_S}}, (
        "a run of one file changes its line alone"
    )
    costs = Costs()
    costs.seconds[DAILY].update({"test_b.py": 27.3})
    assert budgets.renewed(costs, written, tmp_path)[DAILY] == {"test_b.py": 27.0}


def test_a_file_that_was_not_run_in_full_keeps_its_budget(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).touch()
    costs = Costs(skipped={"test_a.py"})
    costs.seconds[DAILY].update({"test_a.py": 1.0, "test_b.py": 20.0})
    known = {DAILY: {"test_a.py": 40.0, "test_b.py": 40.0}, NIGHTLY: {}}
    assert budgets.renewed(costs, known, tmp_path)[DAILY] == {"test_a.py": 40.0, "test_b.py": 20.0}


def _run_of(count: int, times: float, **others: float) -> tuple[Costs, budgets.Budgets]:
    """Files with a budget of 20 s that took `times` as long, and others of the same budget with their own seconds."""
    costs = Costs()
    files = dict.fromkeys((f"{number}.py" for number in range(count)), 20 * times) | others
    costs.seconds[DAILY].update(files)
    return costs, {DAILY: dict.fromkeys(files, 20.0), NIGHTLY: {}}


def test_a_slow_machine_is_no_fault_of_a_file_and_hides_none(tmp_path: Path) -> None:
    def found(costs: Costs, table: budgets.Budgets) -> list[str]:
        for file in table[DAILY]:
            (tmp_path / file).touch()
        return [sentence.split()[0] for sentence in budgets.broken(costs, table, tmp_path)]

    assert found(*_run_of(20, 3.0)) == []
    assert found(*_run_of(20, 3.0, dear=140.0)) == ["dear"]
    assert found(*_run_of(20, 0.2, dear=42.0)) == ["dear"], "a fast machine makes no budget smaller or larger"
    assert found(*_run_of(2, 3.0)) == ["0.py", "1.py"], "two files do not tell how fast a machine is"


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(pytest.UsageError, match=f"{VARIABLE} is 'yes'"):
        budgets.Accounting("yes", ROOT)


def test_no_example_of_hypothesis_fails_for_its_time() -> None:
    assert hypothesis.settings().deadline is None
