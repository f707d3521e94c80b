"""What judges mutants, one question at a time: a member of a crew, wherever it is (`harness.farm`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.candidate.crates.toolchain import toolchain
from harness.farm.engine import Recipe, name_of
from harness.farm.parcel import Parcel
from harness.measure.coverage import llvm
from harness.measure.coverage.verifier import MeasuringVerifier
from harness.measure.strength.equivalence import Programs
from harness.measure.strength.judging import judge
from harness.measure.strength.mutants import Mutant
from harness.measure.strength.statuses import ERROR
from harness.measure.strength.unreached import RunLines, demand_countable
from harness.policy.floor import permitted
from harness.support.files import make_writable
from harness.task.contract import CANDIDATE_DIRECTORY, Task, caches
from harness.task.elsewhere import task_parts, task_there
from harness.verdict import Outcome
from harness.verify.directory import copy_candidate
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from sandboxes import Driver
from sandboxes.removal import scratch_directory

MOST_QUESTIONS = 1 << 30
"""Bytes: all that a level puts to a candidate is asked again, or it is not known what it runs."""


def recipe(task: Task, original: Path, driver: Driver) -> Recipe:
    """How judges of the mutants of a candidate are made.

    Args:
        original: a directory with the candidate that the mutants are of.
    """
    arguments, parcels = task_parts(task)
    return Recipe(
        name_of(MutantJudge),
        arguments | {"sandbox": driver.name},
        parcels | {"tree": Parcel.of(original, caches)},
    )


class MutantJudge:
    """A verifier, and what tells whether a mutant is the same program.

    Args:
        task, files: as `harness.task.elsewhere` takes them there.
        tree: a directory with the candidate.
        sandbox: the name of the driver in which mutants run.

    Raises:
        SetupError, EnvironmentFailure: the reference, or what a crate is compiled with, cannot be had here.
    """

    def __init__(self, *, task: Task, files: Path, tree: Path, sandbox: str) -> None:
        self._task, self._original = task_there(task, files), tree
        make_writable(tree)  # an exported tree is read-only, and so are copies of it
        driver = self._driver = permitted(sandbox)
        with ExitStack() as stack:
            self._verifier = stack.enter_context(Verifier(self._task, driver, prepare=True, workers=1))
            self._verifier.make_ready()  # a node that cannot do this is refused before it has judged anything
            self._programs = Programs(self._task, driver, tree)
            stack.callback(self._programs.close)
            self.close = stack.pop_all().close

    def pass_original(self, levels: Sequence[int], seed: int) -> tuple[dict[int, float], str]:
        """How many seconds each level took on the candidate itself, and why it does not pass; "" where it does."""
        return self._passed(self._verifier, levels, seed)

    def reach_original(self, levels: Sequence[int], seed: int) -> tuple[dict[int, float], str, dict[str, Any]]:
        """As `pass_original`, and which code of the candidate these levels run (`RunLines.to_json`); {} of one that fails.

        Raises:
            SetupError: that cannot be counted.
        """
        # What is missing is said before anything runs.
        demand_countable(self._original / CANDIDATE_DIRECTORY)
        llvm.tools(self._driver, toolchain(self._driver))
        with MeasuringVerifier(self._task, self._driver, workers=1, record_questions=MOST_QUESTIONS) as verifier:
            seconds, why = self._passed(verifier, levels, seed)
            if why:
                return seconds, why, {}
            coverage = verifier.candidate_coverage(self._original, math.inf)
            return seconds, why, RunLines.of(coverage).to_json()

    def _passed(self, verifier: Verifier, levels: Sequence[int], seed: int) -> tuple[dict[int, float], str]:
        verdict = verifier.verify(self._original, LevelsRequest(levels, seed, stop_at_failure=True))
        seconds = {report.level: report.duration_s for report in verdict.reports}
        if verdict.outcome is Outcome.PASS:
            return seconds, ""
        found = verdict.divergences
        why = verdict.reason or (f"{found[0].check}, {found[0].address}" if found else "no verdict")
        return seconds, f"{verdict.outcome}: {why}"

    def judge(self, mutant: Mutant, levels: list[int], seed: int, unreached: bool) -> list[dict[str, Any]]:
        """What the levels find, lowest first, until one does not pass (`Finding.to_json`).

        Args:
            unreached: no level runs its fault, so none is run on it.
        """
        with scratch_directory("lockstep-mutant-") as tree:
            self._plant(mutant, tree)
            findings = judge(self._verifier, tree, levels, seed, unreached=unreached)
            if any(finding.outcome == ERROR for finding in findings):
                findings = judge(self._verifier, tree, levels, seed, unreached=unreached)
        return [finding.to_json() for finding in findings]

    def prove(self, mutant: Mutant) -> dict[str, Any]:
        """Whether it is the same program (`Programs.proof`)."""
        with scratch_directory("lockstep-mutant-") as tree:
            self._plant(mutant, tree)
            return self._programs.proof(tree)

    def _plant(self, mutant: Mutant, tree: Path) -> None:
        copy_candidate(self._original, tree)
        file = tree / CANDIDATE_DIRECTORY / mutant.file
        file.write_bytes(mutant.apply(file.read_bytes()))
