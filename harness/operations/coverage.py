"""One measurement of what the levels reach of the reference and of a candidate's own code."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.measure.coverage.asking import ASKING_SECONDS
from harness.measure.coverage.result import Coverage
from harness.measure.coverage.verifier import MeasuringVerifier
from harness.session.coverage import CANDIDATE, COVERAGE, LONGEST_LEVEL, lines_of
from harness.session.session import Session
from harness.support.document import Document, text
from harness.support.progress import Progress, silent
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.directory import copy_candidate
from harness.verify.questions import MAX_BYTES
from harness.verify.request import LevelsRequest
from sandboxes import Driver
from sandboxes.removal import scratch_directory


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageReport:
    """What one measurement came to.

    Attributes:
        outcome: of the verification whose questions were asked again; `seed` is its seed.
        task: the task's name.
        reference: what was reached of the reference.
        bound: 95% bound on the share of episodes that diverge, where the verification has one.
        remarks: which levels were not reached, and why.
        candidate: of a candidate in Rust, what was reached of its own code.
        session, commit, event: of a session, what was measured and the number of the event that records it.
    """

    outcome: Outcome
    task: str
    seed: int
    reference: Coverage
    bound: float | None = None
    remarks: tuple[str, ...] = ()
    candidate: Coverage | None = None
    session: str | None = None
    commit: str | None = None
    event: int | None = None

    @property
    def measured(self) -> bool:
        """Whether lines or features of the reference or lines of the candidate were counted, and no level failed."""
        sides = [self.reference] if self.candidate is None else [self.reference, self.candidate]
        levels = [level for side in sides for level in side.levels.values()]
        counted = any(side.files for side in sides) or any(level.features for level in levels)
        return counted and not any(level.error for level in levels)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description: that of the reference's coverage, with `summary`, the same in lines of text."""
        described = {
            **self._figures(text=True),
            "summary": lines_of(self.reference, self.bound),
            "remarks": list(self.remarks),
        }
        if self.candidate is not None:
            summary = lines_of(self.candidate, of="candidate")
            described[CANDIDATE] = {**self.candidate.to_json(), "summary": summary}
        if self.session is not None:
            described |= {"session": self.session, "commit": self.commit, "event": self.event}
        return described

    @classmethod
    def from_json(cls, described: object, kind: str = "coverage report") -> CoverageReport:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        content = document.content
        return cls(
            outcome=document.one_of("outcome", Outcome),
            task=document.text("task"),
            seed=document.whole("seed"),
            reference=Coverage.from_json(described, kind),
            bound=document.number_or_none("divergence_bound_95"),
            remarks=document.list("remarks", text),
            candidate=document.read_or_none(CANDIDATE, Coverage.from_json),
            session=document.text_or_none("session"),
            commit=document.text_or_none("commit"),
            event=document.whole("event") if "event" in content else None,
        )

    def recorded(self) -> dict[str, Any]:
        """What an event keeps of it.

        The text of lines is in the reference's own files: a record keeps their numbers. The candidate's files are those of
        the commit, and another measurement of it is never merged with this one.
        """
        kept = self._figures(text=False)
        if self.candidate is not None:
            own = self.candidate.to_json(text=False)
            summary = lines_of(self.candidate, of="candidate")
            kept[CANDIDATE] = {"summary": summary, "together": own["together"], "not_measured": own["not_measured"]}
        return kept

    def _figures(self, *, text: bool) -> dict[str, Any]:
        return {
            "outcome": str(self.outcome),
            "task": self.task,
            "seed": self.seed,
            **self.reference.to_json(text=text),
            "divergence_bound_95": self.bound,
        }


def coverage_directory(
    task: Task,
    driver: Driver,
    levels: Sequence[int] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    *,
    seconds: float = ASKING_SECONDS,
) -> CoverageReport:
    """Measure what the tests of a task directory's candidate reach of the reference; nothing is recorded.

    Args:
        levels: by default all that the task has, up to 3.
        seed: from which the tests are made; by default drawn.
        seconds: for so long at most the questions of one level are asked again.

    Raises:
        SetupError: the environment in which that is measured cannot be built.
        TaskError: the task is wrong.
    """
    with scratch_directory("lockstep-tree-") as tree:
        copy_candidate(task.directory, tree)
        return _measured(task, driver, tree, levels, seed, progress, seconds)


def coverage_session(
    session: Session,
    levels: Sequence[int] | None = None,
    *,
    seed: int | None = None,
    driver: str | None = None,
    client: str = "",
    progress: Progress = silent,
    seconds: float = ASKING_SECONDS,
) -> CoverageReport:
    """Measure what the tests of a session's newest verified tree reach of the reference, and record it.

    Raises:
        SessionError: nothing is verified yet.
        SetupError, TaskError: as `coverage_directory`.
        RecordError: the record is damaged or cannot be written.
    """
    began = time.monotonic()
    task = load_task(session.task_directory)
    with session.exported_head() as (head, tree):
        report = _measured(task, session.driver(driver), tree, levels, seed, progress, seconds)
    event = session.record(
        COVERAGE,
        arguments={"levels": sorted(report.reference.levels), "commit": head.commit},
        outcome=str(report.outcome),
        detail={COVERAGE: report.recorded()} | ({"client": client} if client else {}),
        duration_s=time.monotonic() - began,
        seeds={"run": report.seed},
    )
    return replace(report, session=session.id, commit=head.commit, event=event.seq)


def _measured(
    task: Task,
    driver: Driver,
    tree: Path,
    levels: Sequence[int] | None,
    seed: int | None,
    progress: Progress,
    seconds: float,
) -> CoverageReport:
    seed = secrets.randbits(63) if seed is None else seed
    chosen = sorted(level for level in (levels or task.levels) if level <= LONGEST_LEVEL)
    rust = task.candidate.kind == "rust"
    with MeasuringVerifier(task, driver, progress=progress, record_questions=MAX_BYTES if rust else 0) as verifier:
        verdict = verifier.verify(tree, LevelsRequest(chosen, seed))
        reached = verifier.coverage(chosen, seconds)
        of_candidate = verifier.candidate_coverage(tree, seconds) if rust else None
    remarks = [f"level {level} was not reached" for level in chosen if level not in reached.levels]
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
    return CoverageReport(
        outcome=verdict.outcome,
        task=task.name,
        seed=seed,
        reference=reached,
        bound=bound,
        remarks=tuple(remarks),
        candidate=of_candidate,
    )
