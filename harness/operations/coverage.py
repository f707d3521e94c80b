"""One measurement of what the levels reach of the reference and of a candidate's own code, reported in one document."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.measure.coverage.asking import ASKING_SECONDS
from harness.measure.coverage.result import Coverage
from harness.measure.coverage.verifier import MeasuringVerifier
from harness.session.coverage import CANDIDATE, COVERAGE, LONGEST_LEVEL, lines_of
from harness.session.session import Session
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.verifier import copy_candidate
from sandboxes import Driver, choose


def coverage_directory(
    task: Task,
    driver: Driver,
    levels: Sequence[int] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    *,
    seconds: float = ASKING_SECONDS,
) -> dict[str, Any]:
    """Measure what the tests of a task directory's candidate reach of the reference; nothing is recorded.

    The document is that of `Coverage.to_json`, with `summary`, the same in lines of text; `outcome`, `seed` and `task`;
    `remarks`: which levels were not reached, and why; and of a candidate in Rust, under `candidate`, both of its own code.

    Args:
        levels: by default all that the task has, up to 3.
        seed: from which the tests are made; by default drawn.
        seconds: for so long at most the questions of one level are asked again.

    Raises:
        SetupError: the environment in which that is measured cannot be built.
        TaskError: the task is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="lockstep-tree-") as tree:
        copy_candidate(task.directory, Path(tree))
        return _measured(task, driver, Path(tree), levels, seed, progress, seconds)


def coverage_session(
    session: Session,
    levels: Sequence[int] | None = None,
    *,
    seed: int | None = None,
    driver: str | None = None,
    client: str = "",
    progress: Progress = silent,
    seconds: float = ASKING_SECONDS,
) -> dict[str, Any]:
    """Measure what the tests of a session's newest verified tree reach of the reference, and record it.

    The document is that of `coverage_directory`, with `session`, `commit` and `event`.

    Raises:
        SessionError: nothing is verified yet.
        SetupError, TaskError: as `coverage_directory`.
        RecordError: the record is damaged or cannot be written.
    """
    began = time.monotonic()
    task = load_task(session.task_directory)
    with session.exported_head() as (head, tree):
        document = _measured(task, choose(driver or session.sandbox), tree, levels, seed, progress, seconds)
    kept = {name: value for name, value in document.items() if name not in ("summary", "remarks")}
    # The text of lines is in the reference's own files: a record keeps their numbers.
    kept["never"] = [{name: gap[name] for name in ("file", "first", "last")} for gap in document["never"]]
    if CANDIDATE in document:
        # The candidate's files are those of the commit, and another measurement of it is never merged with this one.
        kept[CANDIDATE] = {name: document[CANDIDATE][name] for name in ("summary", "together", "not_measured")}
    event = session.record(
        COVERAGE,
        arguments={"levels": [each["level"] for each in document["levels"]], "commit": head.commit},
        outcome=document["outcome"],
        detail={COVERAGE: kept} | ({"client": client} if client else {}),
        duration_s=time.monotonic() - began,
        seeds={"run": document["seed"]},
    )
    return {**document, "session": session.id, "commit": head.commit, "event": event.seq}


def _measured(
    task: Task,
    driver: Driver,
    tree: Path,
    levels: Sequence[int] | None,
    seed: int | None,
    progress: Progress,
    seconds: float,
) -> dict[str, Any]:
    seed = secrets.randbits(63) if seed is None else seed
    chosen = sorted(level for level in (levels or task.levels) if level <= LONGEST_LEVEL)
    rust = task.candidate.kind == "rust"
    with MeasuringVerifier(task, driver, progress=progress, record_questions=rust) as verifier:
        verdict = verifier.verify(tree, levels=chosen, seed=seed)
        reached = verifier.coverage(chosen, seconds)
        of_candidate = verifier.candidate_coverage(tree, seconds) if rust else None
    remarks = [f"level {level} was not come to" for level in chosen if level not in reached.levels]
    failed = next((report for report in verdict.reports if report.outcome is not Outcome.PASS), None)
    if failed is not None:
        remarks.insert(
            0, f"level {failed.level} ended with {failed.outcome}: it may have asked less than it does of others"
        )
    if verdict.error:
        remarks.insert(0, f"not all could be asked: {verdict.error}")
    if failed is not None or verdict.error:
        remarks.append("figures hold for what was asked; verify the candidate first")
    bound = next((report.divergence_bound for report in verdict.reports[::-1] if report.divergence_bound), None)
    return {
        "outcome": str(verdict.outcome),
        "task": task.name,
        "seed": seed,
        **reached.to_json(),
        "divergence_bound_95": bound,
        "summary": lines_of(reached, bound),
        "remarks": remarks,
    } | ({} if of_candidate is None else {CANDIDATE: _of_candidate(of_candidate)})


def _of_candidate(reached: Coverage) -> dict[str, Any]:
    return {**reached.to_json(), "summary": lines_of(reached, of="candidate")}
