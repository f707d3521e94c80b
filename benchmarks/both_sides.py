"""Whole episodes of a shipped task on both sides: driven by the reference, and followed by the candidate under the same
draws; each step from the reference's own state, where a verification compares so.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import sandboxes
from benchmarks.common import candidate_tree
from harness.candidate.start import CandidateWorker
from harness.compare import Difference, Off, compare_many
from harness.model import Trajectory
from harness.protocol.environment import Environment, Pool
from harness.task.contract import Mode, Task
from harness.verify.resynchronised import is_resynchronised, step_by_step
from harness.verify.scale import at_scale, measured_scales
from harness.verify.verifier import Verifier

TOGETHER = 256
"""So many games are played at once."""


class BothSides:
    """A task's reference, and its candidate in a sandbox."""

    def __init__(self, task: Task, reference: Pool, candidate: Environment) -> None:
        self.reference = reference
        self.task = at_scale(task, measured_scales(task, reference))
        self._candidate = candidate

    def differences(self, expected: Sequence[Trajectory], off: Off | None = None) -> list[Difference | None]:
        """The first difference of each episode of the reference and the candidate's.

        Args:
            off: is told how far floats are off, as for `compare_many`.
        """
        forced = self.task.mode is Mode.TAPE
        if is_resynchronised(self.task):
            actual = step_by_step(self._candidate.rollout, expected, forced=forced)
        else:
            actual = self._candidate.rollout(
                [replace(one.case.cut(one.steps), draws=one.draws if forced else None) for one in expected]
            )
        return compare_many(expected, actual, self.task.outputs, self.task.tolerances, off)

    def judge(self, expected: Sequence[Trajectory], policy: str) -> tuple[Counter[str], int]:
        """Have the candidate play games of the reference, driven by a policy; one that differs in any leaf is told.

        Returns:
            how many games were won, a tie, or cut off; and how many differed.
        """
        found = self.differences(expected)
        ends: Counter[str] = Counter()
        for one, difference in zip(expected, found, strict=True):
            over, paid = one.leaves["terminated"][-1], one.leaves["reward/p1"][-1]
            ends["cut off" if not over else "won" if paid else "tie"] += 1
            if difference is not None:
                print(f"seed {one.case.seed} under {policy}, step {difference.step}: {difference.path}", flush=True)
        return ends, sum(difference is not None for difference in found)


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
