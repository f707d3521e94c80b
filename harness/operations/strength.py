"""One measurement of how strong a task's tests are, reported in one document."""

from __future__ import annotations

import json
import time
from typing import Any

from harness.measure.strength import text
from harness.measure.strength.run import Settings, measure
from harness.report.measured import STRENGTH
from harness.session.session import Session
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from sandboxes import Driver, choose

ATTACHED = "strength.json"


def strength_directory(
    task: Task, driver: Driver, settings: Settings, seed: int | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Measure how many mutants of a task directory's candidate its tests kill; nothing is recorded.

    The document is that of `Strength.to_json`.

    Raises:
        StrengthError, TaskError, SetupError: as `harness.measure.strength.run.measure`.
    """
    return measure(task, task.directory, driver, settings, seed=seed, progress=progress).to_json()


def strength_session(
    session: Session,
    settings: Settings,
    *,
    seed: int | None = None,
    client: str = "",
    driver: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Measure the tests on mutants of a session's newest verified commit, and record it: figures in the event, the whole
    document beside it as `strength.json`.

    The document is that of `strength_directory`, with `session`, `commit` and `event`.

    Raises:
        SessionError: nothing is verified yet.
        StrengthError, TaskError, SetupError: as `strength_directory`.
        RecordError: the record is damaged or cannot be written.
    """
    began = time.monotonic()
    task = load_task(session.task_directory)
    with session.exported_head() as (head, tree):
        chosen = choose(driver or session.sandbox)
        document = measure(task, tree, chosen, settings, seed=seed, progress=progress).to_json()
    document |= {"session": session.id, "commit": head.commit}
    event = session.record(
        STRENGTH,
        arguments={"commit": head.commit, **document["settings"]},
        outcome=str(Outcome.PASS),
        detail={"figures": text.compact(document), "finding": text.summary(document)[1]}
        | ({"client": client} if client else {}),
        duration_s=time.monotonic() - began,
        seeds={"run": document["seed"]},
        attached={ATTACHED: json.dumps(document, indent=1, sort_keys=True).encode()},
    )
    return {**document, "event": event.seq}
