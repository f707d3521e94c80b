"""Two readings of one text, held against each other by the levels that hold a translation against its reference.

A reading is an adapter in Python (docs/protocol.md). The first stands where a reference stands, the second where a candidate
does: levels 1 to 3 ask both for the same steps, sequences and episodes under the same draws, and what differs is shrunk and
localised. Neither is right by its place. A divergence says that one text was read in two ways.

Each runs in a sandbox of its own that shows a copy of its own files: neither the other reading nor the scenarios.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.authoring.conformance.declaration import agrees_with_its_task
from harness.authoring.conformance.kit import Failed, Kit
from harness.errors import EnvironmentFailure, Raised, Side, TaskError
from harness.model import Case, Trajectory
from harness.protocol.environment import Environment, Pool
from harness.record.specification import LEVELS, digest_of, outcome_of
from harness.reference.install import Installed, setup
from harness.reference.start import ReferenceWorker, start_reference
from harness.specification.place import ADAPTER, ADAPTER_FILE, DIRECTORY, READINGS, Place, demand_plain
from harness.specification.playing import Played, first_line, play_scenarios
from harness.specification.scenarios import Scenario
from harness.specification.sheet import SHEET_FILE, Sheet
from harness.support.progress import Progress, silent
from harness.task.contract import COMPILED, REFERENCE_DIRECTORY, Task, caches
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome
from harness.verify.levels import generic, interaction, rollout
from harness.verify.levels.property import of_modules
from harness.verify.pair import Pair
from harness.verify.sighting import ended_by
from harness.verify.suite.client import Suite
from harness.verify.suite.features import FeatureCount
from sandboxes.removal import scratch_directory

_SIDES = re.compile("|".join(side.value for side in Side))
Checks = Generator[CheckResult]
EXCHANGED = "sides exchanged: "
"""Before the names of checks in which the second reading stands where the reference does."""


@dataclass(frozen=True)
class Compared:
    """What holding two readings against each other came to.

    Attributes:
        seed: from which everything random was derived.
        digests: SHA-256 over the files of each reading, by `first` and `second`.
        played: what each makes of the scenarios.
        reports: the levels that ran, lowest first; one that did not pass is the last.
        refusals: what a reading said where it refused to go on and the other did not.
    """

    seed: int
    digests: Mapping[str, str]
    played: Mapping[str, Sequence[Played]]
    reports: tuple[LevelReport, ...]
    refusals: tuple[str, ...] = ()

    @property
    def divergences(self) -> list[Divergence]:
        """Where the readings differ."""
        return [found for report in self.reports for check in report.checks for found in check.divergences]

    @property
    def missed(self) -> dict[str, list[Played]]:
        """For each reading the scenarios in which it does otherwise than stated."""
        return {which: [one for one in played if not one.passed] for which, played in self.played.items()}

    @property
    def outcome(self) -> Outcome:
        """PASS where all levels ran and both readings do as every scenario says."""
        return outcome_of(self.reports, self.missed)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "outcome": str(self.outcome),
            "seed": self.seed,
            "readings": dict(self.digests),
            "scenarios": {which: len(played) for which, played in self.played.items()},
            "missed": {which: [one.to_json() for one in missed] for which, missed in self.missed.items()},
            "levels": [report.to_json() for report in self.reports],
            "refusals": list(self.refusals),
        }


class FollowingReading(ReferenceWorker):
    """A reading on the candidate's side. Where it refuses to go on with a case, its answer ends there.

    An adapter says by raising that a tape does not fit its rules; a candidate answers with the draws that it took. That the
    other reading went on is the difference.
    """

    refusals: tuple[str, ...] = ()

    def rollout(
        self, cases: Sequence[Case], mode: str | None = None, room: tuple[int, int] | None = None
    ) -> list[Trajectory]:
        try:
            return self.rollout_or_raise(cases)
        except Raised as refused:
            if len(cases) > 1:
                middle = len(cases) // 2
                return self.rollout(cases[:middle]) + self.rollout(cases[middle:])
            if not cases or cases[0].length == 0:
                raise
            if (said := first_line(refused)) not in self.refusals:
                self.refusals += (said,)
            return [self._as_far_as_it_goes(cases[0])]

    def rollout_or_raise(self, cases: Sequence[Case]) -> list[Trajectory]:
        """As any other reading answers."""
        return super().rollout(cases)

    def _as_far_as_it_goes(self, case: Case) -> Trajectory:
        """Its answer to the longest beginning of a case that it takes. Raises what the beginning itself raises."""
        taken, refused = self.rollout_or_raise([case.cut(0)])[0], case.length
        while refused - taken.case.length > 1:
            middle = (taken.case.length + refused) // 2
            try:
                [taken] = self.rollout_or_raise([case.cut(middle)])
            except Raised:
                refused = middle
        return replace(taken, case=case)


def play_reading(
    place: Place,
    sheet: Sheet,
    which: str,
    scenarios: Sequence[Scenario],
    environment: Installed | None = None,
    progress: Progress = silent,
) -> list[Played]:
    """Play the scenarios against one reading.

    Args:
        environment: where it runs; None builds it.

    Raises:
        TaskError, SetupError, EnvironmentFailure: as `compare_readings`.
    """
    with naming(which), ExitStack() as stack:
        task = laid(place, sheet, which, stack)
        installed = environment or setup(task, lambda line: progress(line, 0, 1))
        with closing(start_reference(task, installed)) as reading:
            demand_sheet(task, reading, which)
            return play_scenarios(reading.rollout, scenarios, sheet.tolerances)


def compare_readings(
    place: Place,
    sheet: Sheet,
    scenarios: Sequence[Scenario],
    *,
    seed: int,
    environment: Installed | None = None,
    progress: Progress = silent,
    stop_at_failure: bool = False,
) -> Compared:
    """Hold the two readings of a specification against each other, and both against the scenarios.

    Args:
        seed: from which everything random is derived.
        environment: where both run; None builds it.
        stop_at_failure: report a difference as it was found, neither localised nor shrunk.

    Raises:
        TaskError: a reading is missing or declares something else than the sheet, or there is a link.
        SetupError, EnvironmentFailure: a reading cannot be started.
    """
    with ExitStack() as stack:
        stack.enter_context(naming(*READINGS))
        tasks = {which: laid(place, sheet, which, stack) for which in READINGS}
        installed = environment or setup(tasks[READINGS[0]], lambda line: progress(line, 0, 1))
        both = _Both(tasks, installed, seed, progress, stop_at_failure)
        one, other = both.started(READINGS, stack)
        plays = {READINGS[0]: one.rollout, READINGS[1]: other.rollout_or_raise}
        played = {which: play_scenarios(play, scenarios, sheet.tolerances) for which, play in plays.items()}
        reports = tuple(both.reports(one, other))
        digests = {which: digest(tasks[which].directory / REFERENCE_DIRECTORY) for which in READINGS}
        return Compared(seed, digests, played, reports, tuple(dict.fromkeys(both.refusals)))


class _Both:
    """The two readings as tasks, and how they are started and held against each other."""

    def __init__(
        self, tasks: Mapping[str, Task], installed: Installed, seed: int, progress: Progress, stop_at_failure: bool
    ) -> None:
        self._tasks, self._installed = tasks, installed
        self._seed, self._progress, self._stop_at_failure = seed, progress, stop_at_failure
        self.refusals: list[str] = []

    def started(self, order: Sequence[str], stack: ExitStack) -> tuple[ReferenceWorker, FollowingReading]:
        """The two as reference and candidate; they end with the stack."""
        leads, follows = (self._tasks[which] for which in order)
        one = stack.enter_context(closing(start_reference(leads, self._installed)))
        other = stack.enter_context(
            closing(start_reference(follows, self._installed, side=Side.CANDIDATE, kind=FollowingReading))
        )
        assert isinstance(other, FollowingReading)
        for which, reading in zip(order, (one, other), strict=True):
            demand_sheet(self._tasks[which], reading, which)
        return one, other

    def reports(self, one: ReferenceWorker, other: FollowingReading) -> Iterator[LevelReport]:
        """The levels in order, up to one that does not pass."""
        pair = self._pair(one, other)
        for level in LEVELS:
            report = _report(pair, level, self._exchanged)
            self.refusals += other.refusals
            yield report
            if report.outcome is not Outcome.PASS:
                return

    def _pair(self, one: Environment, other: Environment) -> Pair:
        task = self._tasks[READINGS[0]]
        return Pair(
            task, Suite(), Pool([one]), other, self._seed, self._progress, stop_at_failure=self._stop_at_failure
        )

    def _exchanged(self) -> Checks:
        """Level 1 once more: of the reading that leads refusals are passed over, and its own chance is not looked at."""
        order = READINGS[::-1]
        with naming(*order), ExitStack() as stack:
            one, other = self.started(order, stack)
            try:
                for result in _level_1(self._pair(one, other)):
                    name = f"{EXCHANGED}{result.name}"
                    named = _named(result, order)
                    divergences = tuple(replace(found, check=name) for found in named.divergences)
                    yield replace(named, name=name, divergences=divergences)
            finally:
                self.refusals += other.refusals


def _report(pair: Pair, level: int, exchanged: Callable[[], Checks]) -> LevelReport:
    began = time.monotonic()
    pair.begin_evidence()
    tally = rollout.Tally(FeatureCount(pair.suite))
    running: Mapping[int, Callable[[], Checks]] = {
        1: lambda: _level_1(pair, exchanged),
        2: lambda: (result for result in interaction.checks(pair)),
        3: lambda: (result for result in rollout.checks_one_by_one(pair, tally)),
    }
    results: list[CheckResult] = []
    try:
        with closing(running[level]()) as checks:  # a level that ends early ends the workers that it started
            for result in checks:
                results.append(_named(result, READINGS))
                pair.seen = None  # whatever it was, the result says it
                if result.outcome not in (Outcome.PASS, Outcome.SKIPPED):
                    break
    except EnvironmentFailure as failure:
        results.append(_named(ended_by(failure, pair.seen, pair.task, level), READINGS))
    finally:
        tally.counting.close()
    return LevelReport(
        level=level,
        module=None,
        checks=tuple(results),
        seed=pair.seed,
        episodes=tally.episodes,
        steps=tally.steps,
        duration_s=time.monotonic() - began,
        evidence=pair.evidence,
        occurred=pair.occurred.table(),
    )


def in_words_of_readings(text: str, order: Sequence[str]) -> str:
    """What levels say of reference and candidate, said of the two readings that stand there, the leading one first."""
    named = {side.value: f"the {which} reading" for side, which in zip(Side, order, strict=False)}
    return _SIDES.sub(lambda found: named.get(found[0], found[0]), text)


def _named(result: CheckResult, order: Sequence[str]) -> CheckResult:
    divergences = tuple(replace(found, cause=in_words_of_readings(found.cause, order)) for found in result.divergences)
    return replace(result, detail=in_words_of_readings(result.detail, order), divergences=divergences)


@contextmanager
def naming(*order: str) -> Iterator[None]:
    """Have what cannot be asked named as the reading that it is: the one on the reference's side, then the other."""
    try:
        yield
    except EnvironmentFailure as failure:
        for part in ("what", "where", "expected", "next_step"):
            setattr(failure, part, in_words_of_readings(getattr(failure, part), order))
        raise


def _level_1(pair: Pair, exchanged: Callable[[], Checks] | None = None) -> Checks:
    yield from of_modules(pair, None)
    yield from generic.checks_one_by_one(pair)
    if exchanged is not None:
        yield from exchanged()


def laid(place: Place, sheet: Sheet, which: str, stack: ExitStack) -> Task:
    """A reading as a task's reference, in a directory that holds a copy of its files, the tables of the rules and nothing
    else.

    It lies there as it will once it is frozen: no path tells a reading which of the two it is, and who asks.

    Raises:
        TaskError: there is none, the specification holds a link, or the reading has a file of the name of a table.
    """
    demand_reading(place, which)
    demand_plain(place)
    directory = stack.enter_context(scratch_directory("lockstep-reading-")) / place.name
    lay(place, which, directory / REFERENCE_DIRECTORY)
    return sheet.task(place.name, directory, f"{REFERENCE_DIRECTORY}/{ADAPTER}")


def demand_reading(place: Place, which: str) -> None:
    """Check that a reading is there.

    Raises:
        TaskError: there is none.
    """
    source = place.reading(which)
    if not (source / ADAPTER_FILE).is_file():
        raise TaskError(
            f"there is no {which} reading",
            where=str(source / ADAPTER_FILE),
            next_step=f"write the class `{ADAPTER.partition(':')[2]}` there from the rules alone (docs/specification.md)",
        )


def lay(place: Place, which: str, target: Path) -> None:
    """Copy the files of a reading, and the tables of the rules beside them.

    Raises:
        TaskError: the reading has a file of the name of a table.
    """
    source = place.reading(which)
    shutil.copytree(source, target, ignore=no_code)
    if not place.tables.is_dir():
        return
    if taken := sorted(table.name for table in place.tables.iterdir() if (target / table.name).exists()):
        raise TaskError(
            f"the {which} reading has files of the names of tables: {', '.join(taken)}",
            where=str(source),
            next_step=f"remove them: the tables of {DIRECTORY}/{place.tables.name}/ are laid there",
        )
    shutil.copytree(place.tables, target, ignore=no_code, dirs_exist_ok=True)


def demand_sheet(task: Task, reading: Environment, which: str) -> None:
    """Check that a reading declares what the sheet does.

    Raises:
        TaskError: it does not; every difference is named.
    """
    try:
        agrees_with_its_task(Kit(lambda: reading, task, SHEET_FILE))
    except Failed as failed:
        raise TaskError(
            f"the {which} reading declares something else than the sheet",
            mistakes=tuple(str(failed).splitlines()),
            where=f"readings/{which}/{ADAPTER_FILE}, spec()",
        ) from failed


def no_code(directory: str, names: list[str]) -> set[str]:
    """For `shutil.copytree`: what lies beside a reading and is no part of it."""
    return {*caches(directory, names), *(name for name in names if name == ".gitkeep")}


def digest(directory: Path) -> str:
    """SHA-256 over names and contents of the files below a directory, such as a reading's; of a file alone over that one.

    What Python compiled is left out, and caches whose names are hidden: code could import others.
    """
    return digest_of((path.relative_to(directory), path.read_bytes()) for path in _kept(directory))


def _kept(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    elif place.is_dir():
        names = os.listdir(place)
        hidden = {name for name in caches(place, names) if name == COMPILED or name.startswith(".")}
        for name in {*names} - hidden:
            yield from _kept(place / name)
