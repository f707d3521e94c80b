"""One level of a verification: its checks in their order, and what ends them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import EnvironmentFailure, Failure, TrainingError
from harness.farm.crew import DeadlyPiece
from harness.farm.engine import Refused
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.reference.elsewhere import nodes
from harness.verdict import CheckResult, LevelReport, Outcome
from harness.verify.levels import as_used, interaction, known, property, proposed, requirements, rollout
from harness.verify.pair import Pair
from harness.verify.request import LevelsRequest
from harness.verify.sighting import ended_by
from harness.verify.suite.features import FeatureCount
from sandboxes import SandboxError

GOOD = (Outcome.PASS, Outcome.SKIPPED)
Transfer = Callable[[rollout.Tally, dict[str, Any]], Iterator[CheckResult]]
"""The checks of level 4; called with its tally, and with where it puts what it measured."""


@dataclass(frozen=True, kw_only=True)
class LevelRuns:
    """The levels of one verification, with what they share.

    Attributes:
        pair: reference and candidate.
        request: what was asked for.
        tree: the exported tree.
        cases: the known cases, and those of probes.
        use, second: what level 3 asks beside the levels below it; None where nothing is asked ahead.
        stack: ends what a level has started, when the verification ends.
        another: starts another process of the candidate.
        apart: starts a reference apart, for what an agent made up.
        judge: starts a process for a file of tests that an agent proposes.
        transfer: level 4.
    """

    pair: Pair
    request: LevelsRequest
    tree: Path
    cases: tuple[list[known.Case], list[known.ProbeCase]]
    use: as_used.Use | None
    second: rollout.SecondProcess | None
    stack: ExitStack
    another: Callable[[], Environment]
    apart: Callable[[], Environment]
    judge: Callable[[Path], Channel]
    transfer: Transfer

    def run(self, level: int) -> LevelReport:
        """Run a level. What goes wrong with a worker is an ERROR in its report, or the difference that was seen by then."""
        began, pair = time.monotonic(), self.pair
        module = self.request.module if level == property.LEVEL else None
        counting = FeatureCount(pair.suite)
        self.stack.callback(counting.close)
        tally = rollout.Tally(counting)
        pair.begin_evidence()
        results: list[CheckResult] = []
        measured: dict[str, Any] = {}
        try:
            self._check(level, results, tally, measured)
        except (EnvironmentFailure, SandboxError, TrainingError, DeadlyPiece, Refused) as failure:
            results.append(ended_by(failure, pair.seen, pair.task, level))
        try:
            tally.settle()
        except EnvironmentFailure as failure:
            results.append(CheckResult("features", Outcome.ERROR, detail=str(failure), failure=Failure.of(failure)))
        if not pair.stop_at_failure and module is None and _good(results):
            results.extend(requirements.checks(pair.task, level, pair.occurred, tally.features))
        return LevelReport(
            level=level,
            module=module,
            checks=tuple(results),
            seed=pair.seed,
            episodes=tally.episodes,
            steps=tally.steps,
            features=tally.features,
            notes=_notes(pair, level),
            duration_s=time.monotonic() - began,
            evidence=pair.evidence,
            transfer=measured or None,
            occurred=pair.occurred.table(),
            deviations=pair.off.table(),
            resynchronised=pair.resynchronised,
            open_loop=tally.open_loop,
        )

    def _check(self, level: int, results: list[CheckResult], tally: rollout.Tally, measured: dict[str, Any]) -> None:
        """Known cases first, then the checks of the level, then what is proposed; each result as soon as it is there."""
        for result in self._known(level):
            self._ended(level, result, results)
        if not _good(results):
            return
        for result in self._of_level(level, tally, measured):
            self._ended(level, result, results)
            if (level in (interaction.LEVEL, rollout.LEVEL) or self.pair.stop_at_failure) and not _good([result]):
                return
        if level == proposed.LEVEL:
            for result in proposed.checks(self.pair, self.tree, self.judge, self.apart):
                results.append(result)
                self.pair.seen = None

    def _ended(self, level: int, result: CheckResult, results: list[CheckResult]) -> None:
        results.append(result)
        self.pair.seen = None  # whatever it was, the result says it
        self.pair.watch.ended(level, result.name)

    def _known(self, level: int) -> Iterator[CheckResult]:
        cases, of_probes = self.cases
        module = self.request.module
        if level == property.LEVEL:
            yield from known.check_probes(self.pair, of_probes, module)
        if level > property.LEVEL or module is None:
            repeated = known.check_cases(self.pair, cases, level, self.apart)
            if repeated is not None:
                yield repeated

    def _of_level(self, level: int, tally: rollout.Tally, measured: dict[str, Any]) -> Iterator[CheckResult]:
        if level == property.LEVEL:
            return property.checks(self.pair, self.request.module)
        if level == interaction.LEVEL:
            return interaction.checks(self.pair)
        if level == rollout.LEVEL:
            second = self.second or rollout.SecondProcess(self.pair, self.another)
            return rollout.checks(self.pair, tally, second, self.use, self.request.exploring)
        return self.transfer(tally, measured)


def _good(results: list[CheckResult]) -> bool:
    return Outcome.worst([result.outcome for result in results]) in GOOD


def _notes(pair: Pair, level: int) -> tuple[str, ...]:
    """What could not be checked here, and why."""
    notes = []
    reference = pair.reference.spec.capabilities
    if not pair.paired:
        notes.append("only distributions were compared (randomness `law`): a weaker claim than equal trajectories")
    if "restore" not in reference:
        notes.append("the reference cannot restore a state: no tests from generated states, prefixes are replayed")
    if pair.task.candidate.precision == "float32":
        notes.append("the candidate computes in float32 what the task has in float64")
    if level == 1 and "probe" not in reference and pair.task.probes:
        notes.append("the reference answers no probes: modules were tested through whole steps only")
    kinds = {(facts.get("cpu"), facts.get("numpy")) for facts in nodes(pair.reference).values()}
    if len(kinds) > 1 and any(leaf.dtype.startswith("float") for leaf in pair.task.leaves.values()):
        named = "; ".join(sorted(f"{cpu} with numpy {numpy}" for cpu, numpy in kinds))
        notes.append(f"the reference ran on nodes of {len(kinds)} kinds ({named}), which may round floats otherwise")
    if level == 3 and pair.task.draws and "force_draws" not in reference:
        notes.append("the reference takes no draws: auto-reset was compared with the candidate's own single steps")
    return tuple(notes)
