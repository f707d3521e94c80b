"""What each level adds: share of faults found, and how soon, with all levels and with each one left out.

Each level up to 3 runs alone on every fault: the mutants that `lockstep strength` makes of the task's own candidate, and
those that were planted by hand (tests/mutants). Which fault a set of levels would find, and when, then follows: the lowest
of them that finds it ends the search, and those below it ran in vain. Level 4 trains policies for minutes, so it runs only
on mutants whose place in the table hangs on it: those that at most one level below finds. Every other one is found before
it, whichever level is left out. An interrupted measurement of the mutants goes on where it was.

    python -m benchmarks hierarchy
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sandboxes
from benchmarks.common import ENVIRONMENTS, report
from harness.measure.strength.judging import judge
from harness.measure.strength.result import Strength
from harness.measure.strength.run import Settings, measure
from harness.measure.strength.statuses import DETECTED, KILLED, SURVIVED
from harness.task.contract import TRAINING_LEVEL, Task
from harness.task.load import load_task
from harness.verify.verifier import Verifier
from tests.mutants import cartpole, pong
from tests.mutants.plant import Mutant, plant

TASKS = {"cartpole": (cartpole.MUTANTS, None), "pong": (pong.MUTANTS, 60)}
"""Planted faults, and how many mutants are drawn; None takes all."""
SEED = 20_261_122
"""Of the measurements, so that an interrupted one goes on; a level of a verification draws its own."""


@dataclass(frozen=True)
class Found:
    """What one level alone said of a fault: whether it found it, and after how many seconds it ended."""

    detected: bool
    seconds: float


Fault = Mapping[int, Found]
"""What each level said of one fault."""


def main() -> None:
    """Measure and report."""
    rows: list[dict[str, Any]] = []
    for name, (planted, sample) in TASKS.items():
        task = load_task(ENVIRONMENTS / name)
        rows += table(name, "mutants", generated(task, sample))
        rows += table(name, "planted by hand", by_hand(task, planted))
        report("hierarchy", "Faults found with all levels, and with each one left out", rows)


def generated(task: Task, sample: int | None) -> list[Fault]:
    """The mutants of a task's own candidate that can be distinguished from it, level by level."""
    driver = sandboxes.choose(None)
    below = Settings(level=TRAINING_LEVEL - 1, every_level=True, sample=sample)
    faults = _faults(measure(task, task.directory, driver, below, seed=SEED, progress=_reported))
    hang_on_it = tuple(id for id, fault in faults.items() if sum(each.detected for each in fault.values()) <= 1)
    if hang_on_it and TRAINING_LEVEL in task.levels:
        trained = Settings(level=TRAINING_LEVEL, every_level=True, only=hang_on_it)
        faults |= _faults(measure(task, task.directory, driver, trained, seed=SEED, progress=_reported))
    return list(faults.values())


def _faults(found: Strength) -> dict[str, Fault]:
    return {
        judged.mutant.id: {each.level: Found(each.outcome in DETECTED, each.seconds) for each in judged.findings}
        for judged in found.judged
        if judged.status in (KILLED, SURVIVED)
    }


def by_hand(task: Task, planted: Sequence[Mutant]) -> list[Fault]:
    """The planted faults, level by level."""
    faults = []
    levels = [level for level in task.levels if level < TRAINING_LEVEL]
    with Verifier(task, sandboxes.choose(None), prepare=True, workers=1) as verifier:
        for number, mutant in enumerate(planted):
            _reported(f"{task.name}: {mutant.name}", number, len(planted))
            with tempfile.TemporaryDirectory(prefix="lockstep-planted-") as place:
                plant(task, mutant, Path(place))
                said = [judge(verifier, Path(place), [level], SEED + number)[0] for level in levels]
            faults.append({each.level: Found(each.outcome in DETECTED, each.seconds) for each in said})
    return faults


def table(task: str, kind: str, faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """A row for all levels, and one for each that is left out."""
    levels = sorted({level for fault in faults for level in fault})
    rows = []
    for left_out in (None, *levels):
        used = [level for level in levels if level != left_out]
        times = [seconds for fault in faults if (seconds := until_found(fault, used)) is not None]
        only = sum(until_found(fault, used) is None and until_found(fault, levels) is not None for fault in faults)
        rows.append(
            {
                "task": task,
                "faults": f"{len(faults)} {kind}",
                "levels": "all" if left_out is None else f"without {left_out}",
                "found": f"{len(times)} ({len(times) / len(faults):.1%})",
                "missed by leaving it out": "" if left_out is None else str(only),
                "median s": statistics.median(times),
                "mean s": statistics.fmean(times),
            }
        )
    return rows


def until_found(fault: Fault, levels: Sequence[int]) -> float | None:
    """Seconds until these levels, lowest first, find a fault; None where they do not."""
    spent = 0.0
    for level in levels:
        if level in fault:
            spent += fault[level].seconds
            if fault[level].detected:
                return spent
    return None


def _reported(what: str, done: int, total: int) -> None:
    print(f"\r{what[:60]:<60} {done}/{total}", end="", flush=True)
