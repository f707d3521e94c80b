"""One measurement of how strong a task's tests are."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from harness.farm.engine import Engine
from harness.measure.strength import text
from harness.measure.strength.result import StrengthReport
from harness.measure.strength.run import Settings, measure
from harness.report.measured import STRENGTH
from harness.session.session import Session
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from sandboxes import Driver

ATTACHED = "strength.json"


def strength_directory(
    task: Task,
    driver: Driver,
    settings: Settings,
    seed: int | None = None,
    progress: Progress = silent,
    engine: Engine | None = None,
) -> StrengthReport:
    """Measure how many mutants of a task directory's candidate its tests kill; nothing is recorded.

    Raises:
        StrengthError, TaskError, SetupError: as `harness.measure.strength.run.measure`.
    """
    measured = measure(task, task.directory, driver, settings, seed=seed, progress=progress, engine=engine)
    return StrengthReport(strength=measured)


def strength_session(
    session: Session,
    settings: Settings,
    *,
    seed: int | None = None,
    client: str = "",
    driver: str | None = None,
    progress: Progress = silent,
    engine: Engine | None = None,
) -> StrengthReport:
    """Measure the tests on mutants of a session's newest verified commit, and record it: figures in the event, the whole
    document beside it as `strength.json`.

    Raises:
        SessionError: nothing is verified yet.
        StrengthError, TaskError, SetupError: as `strength_directory`.
        RecordError: the record is damaged or cannot be written.
    """
    began = time.monotonic()
    task = load_task(session.task_directory)
    with session.exported_head() as (head, tree):
        chosen = session.driver(driver)
        measured = measure(task, tree, chosen, settings, seed=seed, progress=progress, engine=engine)
    report = StrengthReport(strength=measured, session=session.id, commit=head.commit)
    event = session.record(
        STRENGTH,
        arguments={"commit": head.commit, **measured.settings},
        outcome=str(Outcome.PASS),
        detail={"figures": text.compact(measured), "finding": text.summary(measured)[1]}
        | ({"client": client} if client else {}),
        duration_s=time.monotonic() - began,
        seeds={"run": measured.seed},
        attached={ATTACHED: json.dumps(report.to_json(), indent=1, sort_keys=True).encode()},
    )
    return replace(report, event=event.seq)
