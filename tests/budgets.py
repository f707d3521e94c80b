"""What each file of tests costs, and the table that CI holds it to.

A cost is the time that pytest measures for the call and the tear-down of each test. Set-ups do not count: what files share,
as a crate that is compiled once, is paid by whichever of them comes first in its process. It is not CPU time: a process of
a sandbox or a server is missing there if its parent was killed, and those cost most. On a slower or busier machine all
files take longer; so a file is measured against the others of its run (`slowness`).
"""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import tomlkit

TABLE = Path(__file__).with_name("budgets.toml")
VARIABLE = "LOCKSTEP_TEST_BUDGETS"
"""`hold` fails a run in which a file breaks its budget; `write` puts what the run measured into the table."""
HOLD, WRITE = "hold", "write"
DAILY, NIGHTLY = "daily", "nightly"
"""The two parts of the table: what CI runs, and what only `make nightly` runs. A file may have tests of both kinds."""
FACTOR = 2.0
LEAST_S = 15.0
"""The smallest budget. Below it the first import of JAX, which one file pays for the others, decides what a file costs, and
a moment in which the machine does something else."""
ENOUGH = 10
"""From so many files on a run tells how fast its machine is."""
SHOWN = 20

PART = "part"
"""The property of a test's reports that names its part, if that is not the first."""

Budgets = dict[str, dict[str, float]]
"""Seconds for each file, in each part."""


def read(table: Path = TABLE) -> Budgets:
    """The table, or an empty one where there is none."""
    found = tomllib.loads(table.read_text()) if table.exists() else {}
    return {part: dict(found.get(part, {})) for part in (DAILY, NIGHTLY)}


def write(budgets: Budgets, table: Path = TABLE) -> None:
    """Files are sorted by name, so that one new figure changes one line."""
    document = tomlkit.document()
    document.add(
        tomlkit.comment(
            "Seconds that each file of tests takes, as `make budgets` writes them. CI refuses twice as much."
        )
    )
    for part in (DAILY, NIGHTLY):
        rows = tomlkit.table()
        rows.update(dict(sorted(budgets[part].items())))
        document[part] = rows
    table.write_text(tomlkit.dumps(document))


@dataclass
class Costs:
    """What a run measured.

    Attributes:
        seconds: of each file, in each part.
        skipped: files of which a test was skipped; what they cost was not seen in full.
    """

    seconds: Budgets = field(default_factory=lambda: {DAILY: {}, NIGHTLY: {}})
    skipped: set[str] = field(default_factory=set)

    def add(self, report: pytest.TestReport) -> None:
        """One phase of a test: its set-up, its call, or its tear-down."""
        file = report.nodeid.split("::")[0]
        files = self.seconds[dict(report.user_properties).get(PART, DAILY)]
        files[file] = files.get(file, 0.0) + (0.0 if report.when == "setup" else report.duration)
        if report.skipped:
            self.skipped.add(file)

    def dearest(self, count: int = SHOWN) -> list[tuple[str, str, float]]:
        """Part, file and seconds, the dearest first."""
        rows = [(part, file, seconds) for part in self.seconds for file, seconds in self.seconds[part].items()]
        return sorted(rows, key=lambda row: -row[2])[:count]


def slowness(costs: Costs, budgets: Budgets) -> float:
    """How many times longer than its budget the middle one of the files took, but 1 where files were faster, or few.

    One file that became dearer does not move it, a machine that is slow for all of them does.
    """
    ratios = [
        seconds / budgets[part][file]
        for part, files in costs.seconds.items()
        for file, seconds in files.items()
        if budgets[part].get(file, 0.0) > LEAST_S
    ]
    return max(1.0, statistics.median(ratios)) if len(ratios) >= ENOUGH else 1.0


def broken(costs: Costs, budgets: Budgets, root: Path) -> Iterator[str]:
    """Every file that costs more than twice its budget, has none, or is not there any more; one sentence each."""
    slow = slowness(costs, budgets)
    for part, files in costs.seconds.items():
        for file, seconds in sorted(files.items()):
            budget = budgets[part].get(file)
            if budget is None:
                yield f"{file} has no budget under [{part}]: `make budgets FILES={file}` measures it"
            elif seconds > FACTOR * budget * slow:
                yield (
                    f"{file} took {seconds:.1f} s, more than twice its budget of {budget:g} s under [{part}] (this run is "
                    f"{slow:.1f} times as slow as the table): make it cheaper, or run `make budgets FILES={file}` and say "
                    "why it costs more"
                )
    yield from gone(budgets, root)


def gone(budgets: Budgets, root: Path) -> Iterator[str]:
    """Every line of the table whose file is not there."""
    for file in sorted({file for files in budgets.values() for file in files}):
        if not (root / file).is_file():
            yield f"{file} has a budget, but there is no such file: remove its line from {TABLE.name}"


def renewed(costs: Costs, budgets: Mapping[str, Mapping[str, float]], root: Path) -> Budgets:
    """The table with what was measured; a file that was not run in full keeps what it had, if that is more."""
    merged: Budgets = {}
    for part, files in costs.seconds.items():
        kept = {file: value for file, value in budgets[part].items() if (root / file).is_file()}
        for file, seconds in files.items():
            measured = max(LEAST_S, float(round(seconds)))
            kept[file] = max(measured, kept.get(file, 0.0)) if file in costs.skipped else measured
        merged[part] = kept
    return merged


def tell_part(item: pytest.Item) -> None:
    """Note with a test to which part it belongs. Its keywords do not tell: they hold the names of parameters too."""
    if item.get_closest_marker(NIGHTLY) is not None:
        item.user_properties.append((PART, NIGHTLY))


class Accounting:
    """Sums what all processes report, and holds the run to the table or writes it."""

    def __init__(self, mode: str, root: Path, table: Path = TABLE) -> None:
        if mode not in (HOLD, WRITE):
            raise pytest.UsageError(f"{VARIABLE} is {mode!r}: give it `{HOLD}` or `{WRITE}`")
        self._mode, self._root, self._table = mode, root, table
        self._costs = Costs()
        self._broken: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._costs.add(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._mode == WRITE:
            write(renewed(self._costs, read(self._table), self._root), self._table)
            return
        self._broken = list(broken(self._costs, read(self._table), self._root))
        if self._broken and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        yield  # what broke a budget stands below all else: whoever reads a log from its end sees it first
        terminalreporter.section("seconds of the dearest files of tests")
        for part, file, seconds in self._costs.dearest():
            terminalreporter.line(f"{seconds:8.1f}  {file}{' (nightly)' if part == NIGHTLY else ''}")
        total = sum(sum(files.values()) for files in self._costs.seconds.values())
        terminalreporter.line(f"{total:8.1f}  all files, in all processes together")
        for sentence in self._broken:
            terminalreporter.line(f"BUDGET {sentence}", red=True)
