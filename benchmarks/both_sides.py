"""Whole games of a shipped task on both sides: driven by the reference, and played by the candidate under the same draws."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import sandboxes
from benchmarks.common import candidate_tree
from harness.candidate.start import CandidateWorker
from harness.compare import Difference, compare_many
from harness.model import Trajectory
from harness.protocol.environment import Environment, Pool
from harness.task.contract import Task
from harness.verify.verifier import Verifier


class BothSides:
    """A task's reference, and its candidate in a sandbox."""

    def __init__(self, task: Task, reference: Pool, candidate: Environment) -> None:
        self.reference = reference
        self._task, self._candidate = task, candidate

    def differences(self, expected: Sequence[Trajectory]) -> Sequence[Difference | None]:
        """The first difference of the candidate in each trajectory of the reference, in any leaf; None where it agrees."""
        cases = [replace(one.case.cut(one.steps), draws=one.draws) for one in expected]
        return compare_many(expected, self._candidate.rollout(cases), self._task.outputs, self._task.tolerances)


@contextmanager
def both_sides(task: Task) -> Iterator[BothSides]:
    """Start both for as long as the context lasts."""
    driver = sandboxes.choose(None)
    with tempfile.TemporaryDirectory() as scratch, Verifier(task, driver, prepare=False) as verifier:
        worker = CandidateWorker(task, driver)
        try:
            candidate = worker.open(candidate_tree(task.directory, Path(scratch)))
            yield BothSides(task, verifier.reference(), candidate)
        finally:
            worker.close()
