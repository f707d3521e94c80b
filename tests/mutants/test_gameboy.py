"""A few of the faults of the Game Boy's emulator; `python -m benchmarks gameboy_faults` plants all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.verifier import Verifier
from tests.mutants.gameboy import FAULTS, EmulatorFault, catch
from tests.paths import ENVIRONMENTS
from tests.sampling import by_day
from tests.tools import need_extensions

GAMEBOY = ENVIRONMENTS / "gameboy"
BY_DAY = [fault for fault in FAULTS if fault.usual][::2]


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(GAMEBOY)


@pytest.fixture(scope="module")
def verifier(task: Task, cargo: None) -> Iterator[Verifier]:
    need_extensions(task)
    with Verifier(task, sandboxes.choose(None)) as verifier:
        yield verifier


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_fits_the_emulator(fault: EmulatorFault) -> None:
    """Its text stands in its file once, so that all of them can be planted."""
    [(old, new)] = fault.mutant.edits
    assert (GAMEBOY / "candidate" / str(fault.mutant.file)).read_text().count(old) == 1
    assert old != new


def test_every_module_has_a_fault_and_no_two_are_called_the_same(task: Task) -> None:
    assert {fault.mutant.module for fault in FAULTS} == {module.name for module in task.modules}
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20


@pytest.mark.slow
@pytest.mark.rust
@pytest.mark.parametrize(
    "fault", by_day([fault for fault in FAULTS if fault.usual], BY_DAY), ids=lambda fault: fault.name
)
def test_a_planted_fault_in_the_emulator_is_traced_to_its_module(
    fault: EmulatorFault, task: Task, verifier: Verifier, tmp_path: Path
) -> None:
    catch(fault, task, verifier, tmp_path)
