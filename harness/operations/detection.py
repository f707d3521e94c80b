"""One measurement of the detection curve."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from harness.farm.engine import Engine
from harness.measure.strength.rare import text
from harness.measure.strength.rare.curve import CurveReport
from harness.measure.strength.rare.run import Settings, measure
from harness.report.detection import DETECTION
from harness.session.session import Session
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from sandboxes import Driver

ATTACHED = "detection.json"


def detection_directory(
    task: Task,
    driver: Driver,
    settings: Settings,
    seed: int | None = None,
    progress: Progress = silent,
    engine: Engine | None = None,
) -> CurveReport:
    """Measure which faults in rare states a verification of a task directory's candidate catches; nothing is recorded.

    Raises:
        StrengthError, SetupError: as `harness.measure.strength.rare.run.measure`.
    """
    return CurveReport(
        curve=measure(task, task.directory, driver, settings, seed=seed, progress=progress, engine=engine)
    )


def detection_session(
    session: Session,
    settings: Settings,
    *,
    seed: int | None = None,
    driver: str | None = None,
    progress: Progress = silent,
    engine: Engine | None = None,
) -> CurveReport:
    """The same for a session's newest verified commit, recorded: the curve in the event, the whole document beside it as
    `detection.json`.

    Raises:
        SessionError: nothing is verified yet.
        StrengthError, SetupError: as `detection_directory`.
        RecordError: the record is damaged or cannot be written.
    """
    began = time.monotonic()
    task = load_task(session.task_directory)
    with session.exported_head() as (head, tree):
        curve = measure(task, tree, session.driver(driver), settings, seed=seed, progress=progress, engine=engine)
    report = CurveReport(curve=curve, session=session.id, commit=head.commit)
    event = session.record(
        DETECTION,
        arguments={"commit": head.commit, **curve.settings},
        outcome=str(Outcome.PASS),
        detail={"figures": text.compact(curve), "finding": text.summary(curve)[0]},
        duration_s=time.monotonic() - began,
        seeds={"run": curve.seed},
        attached={ATTACHED: json.dumps(report.to_json(), indent=1, sort_keys=True).encode()},
    )
    return replace(report, event=event.seq)
