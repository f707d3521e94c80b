"""Measurements of a task's tests: how many mutants they kill, and the detection curve."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from harness.farm.engine import Engine
from harness.measure.strength import run, text
from harness.measure.strength.rare import run as rare_run
from harness.measure.strength.rare import text as rare_text
from harness.measure.strength.rare.curve import Curve
from harness.measure.strength.recorded import Recorded
from harness.measure.strength.result import Strength
from harness.report.detection import DETECTION
from harness.report.measured import STRENGTH
from harness.session.session import Session
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from sandboxes import Driver

M = TypeVar("M", Strength, Curve)


@dataclass(frozen=True)
class Kind(Generic[M]):
    """One of the measurements.

    Attributes:
        event: the kind of the event that records it; its whole document stands beside that as `{event}.json`.
        measure: `measure` of its module.
        figures, finding: what the event keeps.
    """

    event: str
    measure: Callable[..., M]
    figures: Callable[[M], Any]
    finding: Callable[[M], str]


MUTANTS = Kind[Strength](STRENGTH, run.measure, text.compact, lambda measured: text.summary(measured)[1])
"""Faults that are planted in the candidate's text; measured with `harness.measure.strength.run.Settings`."""
RARE = Kind[Curve](DETECTION, rare_run.measure, rare_text.compact, lambda measured: rare_text.summary(measured)[0])
"""Faults in rare states; measured with `harness.measure.strength.rare.run.Settings`."""


def measure_directory(
    kind: Kind[M],
    task: Task,
    driver: Driver,
    settings: Any,
    seed: int | None = None,
    progress: Progress = silent,
    engine: Engine | None = None,
) -> Recorded[M]:
    """Measure the tests of a task on its directory's candidate; nothing is recorded.

    Raises:
        StrengthError, TaskError, SetupError, SandboxError, EnvironmentFailure: as the kind's `measure`.
    """
    return Recorded(
        measured=kind.measure(task, task.directory, driver, settings, seed=seed, progress=progress, engine=engine)
    )


def measure_session(
    kind: Kind[M],
    session: Session,
    settings: Any,
    *,
    seed: int | None = None,
    driver: str | None = None,
    progress: Progress = silent,
    engine: Engine | None = None,
) -> Recorded[M]:
    """The same for a session's newest verified commit, recorded: figures in the event, the whole document beside it.

    Raises:
        SessionError: nothing is verified yet.
        StrengthError, TaskError, SetupError, SandboxError, EnvironmentFailure: as the kind's `measure`.
        RecordError: the record is damaged or cannot be written.
    """
    began = time.monotonic()
    task = load_task(session.task_directory)
    with session.exported_head() as (head, tree):
        chosen = session.driver(driver)
        measured = kind.measure(task, tree, chosen, settings, seed=seed, progress=progress, engine=engine)
    report = Recorded(measured=measured, session=session.id, commit=head.commit)
    event = session.record(
        kind.event,
        arguments={"commit": head.commit, **measured.settings},
        outcome=str(Outcome.PASS),
        detail={"figures": kind.figures(measured), "finding": kind.finding(measured)},
        duration_s=time.monotonic() - began,
        seeds={"run": measured.seed},
        attached={f"{kind.event}.json": json.dumps(report.to_json(), indent=1, sort_keys=True).encode()},
    )
    return replace(report, event=event.seq)
