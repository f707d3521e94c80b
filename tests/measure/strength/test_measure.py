"""Whole measurements, of a walk with a hole in its tests."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import sandboxes
from harness.measure.strength import text
from harness.measure.strength.mutants import Mutant, enumerate_mutants
from harness.measure.strength.result import Strength, strength_digest
from harness.measure.strength.run import Settings, StrengthError, measure
from harness.support.progress import Progress, silent
from harness.task.load import load_task

SEED = 11
TOLD: list[str] = []
"""What the undisturbed measurement said while it went on."""
AFTER, BEFORE = 'jnp.abs(after["place"])', 'jnp.abs(state["place"])'
WANTED = {
    "killed": ("step", f"{AFTER} - {BEFORE}", f"{AFTER} + {BEFORE}"),
    "survived": ("outputs", 'state["steps"] >= 40', 'state["steps"] > 40'),
    "lowered": ("<module>", "3", "4"),
    "optimised": ("step", "move * 1", "move / 1"),
    "stillborn": ("reset", "state, jnp.float32(0)", "jnp.float32(0), state"),
}  # fmt: skip
BEGIN = """
import sys
from pathlib import Path
import sandboxes
from harness.measure.strength.run import Settings, measure
from harness.task.load import load_task

directory, journals, seed, *only = sys.argv[1:]
task = load_task(Path(directory))
settings = Settings(only=tuple(only), jobs=1)
measure(task, task.directory, sandboxes.choose(None), settings, seed=int(seed), journals=Path(journals))
"""

pytestmark = pytest.mark.slow


def chosen(directory: Path) -> dict[str, Mutant]:
    """The mutants that the measurements are about, by what is to become of them."""
    by_change = {(each.function, each.before, each.after): each for each in enumerate_mutants(directory / "candidate")}
    return {name: by_change[change] for name, change in WANTED.items()}


def measured(
    directory: Path, journals: Path, jobs: int, *, seed: int | None = SEED, progress: Progress = silent
) -> dict[str, Any]:
    only = tuple(mutant.id for mutant in chosen(directory).values())
    task, settings = load_task(directory), Settings(only=only, jobs=jobs)
    driver = sandboxes.choose(None)
    return measure(task, directory, driver, settings, seed=seed, journals=journals, progress=progress).to_json()


@pytest.fixture(scope="module")
def whole(holed_walk: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The document of a measurement that nobody disturbed."""
    TOLD.clear()
    return measured(
        holed_walk, tmp_path_factory.mktemp("journals"), 2, progress=lambda what, done, total: TOLD.append(what)
    )


def test_each_mutant_becomes_what_it_should(whole: dict[str, Any], holed_walk: Path) -> None:
    found = {each["id"]: each for each in whole["mutants"]}
    mine = {name: found[mutant.id] for name, mutant in chosen(holed_walk).items()}
    expected = {"lowered": "equivalent", "optimised": "equivalent"}
    assert {name: each["status"] for name, each in mine.items()} == {n: expected.get(n, n) for n in mine}
    assert {name: mine[name]["proof"] for name in expected} == {name: name for name in expected}
    assert (mine["killed"]["killed_by"], mine["killed"]["kills"]["1"]["address"]) == (1, "reward")
    assert set(mine["survived"]["kills"]) == {"1", "2", "3"}
    assert whole["rates"]["non_equivalent"] == {"killed": 1, "total": 2, "rate": 0.5}


def test_while_it_goes_on_it_tells_which_mutant_of_how_many_and_how_long_it_will_take(whole: dict[str, Any]) -> None:
    mutants = [told for told in TOLD if told.startswith("mutant ")]
    assert {told.split(" of ")[0] for told in mutants} == {f"mutant {number}" for number in range(1, 6)}
    assert all(" of 5" in told and ": env.py:" in told for told in mutants)
    assert "left" not in mutants[0] and re.search(r" of 5, about \d+ (seconds?|minutes) left: env\.py", mutants[-1])


def test_a_hole_in_the_tests_is_shown_by_the_place_of_its_mutant(whole: dict[str, Any]) -> None:
    measurement = Strength.from_json(whole)
    [shown] = [row for row in text.remaining(measurement) if row[0] == "survived"]
    assert shown[2] == 'env.py:37 outputs: state["steps"] >= 40 -> state["steps"] > 40'
    assert text.verdict(measurement) == ["1 survivors are not explained in survivors.toml"]


@pytest.mark.nightly
def test_a_measurement_that_was_killed_goes_on_and_comes_to_the_same(
    whole: dict[str, Any], holed_walk: Path, tmp_path: Path
) -> None:
    only = [mutant.id for mutant in chosen(holed_walk).values()]
    command = [sys.executable, "-c", BEGIN, str(holed_walk), str(tmp_path), str(SEED), *only]
    with subprocess.Popen(command) as process:
        journal = None
        while process.poll() is None and '"found"' not in (journal.read_text() if journal else ""):
            journal = next(tmp_path.glob("*.jsonl"), None)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    resumed = measured(holed_walk, tmp_path, 1)
    assert resumed["resumed"] > 0
    assert strength_digest(resumed) == strength_digest(whole)


def test_only_a_candidate_that_passes_can_be_measured(holed_walk: Path, tmp_path: Path) -> None:
    broken = tmp_path / "tree" / "candidate"
    broken.mkdir(parents=True)
    source = (holed_walk / "candidate" / "env.py").read_text()
    (broken / "env.py").write_text(source.replace("1.0, -1.0", "1.0, -2.0"))
    with pytest.raises(StrengthError, match="does not pass"):
        measure(load_task(holed_walk), broken.parent, sandboxes.choose(None), Settings(jobs=1), journals=tmp_path)
