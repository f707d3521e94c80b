"""How much the scenarios decide: faults planted in a reading, and which of them no scenario notices, by statement.

A reading names the statement of a rule in a comment beside it (`# 12`, or `# 12, 15`). A fault belongs to the statements of
its own line, or of the nearest such line above it in the same function.
"""

from __future__ import annotations

import io
import re
import shutil
import time
import tokenize
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from harness.errors import EnvironmentFailure, TaskError
from harness.measure.strength.journal import FINISHED, Journal
from harness.measure.strength.mutants import Mutant, enumerate_mutants, sampled
from harness.reference.install import Installed, setup
from harness.reference.start import start_reference
from harness.specification.place import Place
from harness.specification.playing import play_scenarios
from harness.specification.readings import demand_sheet, laid, naming
from harness.specification.scenarios import Scenario
from harness.specification.sheet import Sheet
from harness.support.progress import Progress, silent
from harness.task.contract import REFERENCE_DIRECTORY, Task

LEAST_S, GENEROUS = 5.0, 20
"""So long a faulty reading may take for one answer at least, and so many times as long as all of the right one's took."""
JUDGED = "judged"
_CITED = re.compile(r"#\s*(\d{1,6}(?:,\s*\d{1,6})*)\b")


@dataclass(frozen=True)
class Strength:
    """What planting faults in a reading came to.

    Attributes:
        which: the reading.
        planted: how many faults there were.
        survived: those that no scenario notices, each with the statements that it belongs to (none where the reading cites
            none there).
    """

    which: str
    planted: int
    survived: tuple[tuple[Mutant, tuple[int, ...]], ...]

    def by_statement(self) -> dict[int, list[Mutant]]:
        """The faults that survived by the statements of their place, in order; 0 for those without."""
        found: dict[int, list[Mutant]] = {}
        for mutant, cited in self.survived:
            for number in cited or (0,):
                found.setdefault(number, []).append(mutant)
        return dict(sorted(found.items()))


def measure(
    place: Place,
    sheet: Sheet,
    scenarios: Sequence[Scenario],
    which: str,
    *,
    sample: int | None = None,
    seed: int = 0,
    journal: Path | None = None,
    environment: Installed | None = None,
    progress: Progress = silent,
) -> Strength:
    """Plant faults in one reading, one at a time, and play all scenarios against each.

    A fault is noticed where a scenario misses, the reading cannot answer, takes far longer than without it, or declares
    something else than the sheet.

    Args:
        sample: so many faults, at random; None takes all.
        seed: decides which.
        journal: a file that keeps what was found so far, so that a measurement that was interrupted goes on; it is of these
            very files and these settings.

    Raises:
        TaskError: the reading without a fault does not do as the scenarios say.
        SetupError, EnvironmentFailure: it cannot be started.
    """
    with naming(which), ExitStack() as stack:
        task = laid(place, sheet, which, stack)
        installed = environment or setup(task, lambda line: progress(line, 0, 1))
        began = time.monotonic()
        if not _does_as_stated(task, installed, sheet, scenarios, which):
            raise TaskError(
                f"the {which} reading does not do as the scenarios say",
                where=str(place.reading(which)),
                next_step="`lockstep spec compare` names them; faults are planted in what is right",
            )
        patience = patience_of(time.monotonic() - began, task.reference.timeout_s)
        mutants = sampled(enumerate_mutants(task.directory / REFERENCE_DIRECTORY), sample, seed)
        with ExitStack() as kept:
            known = _Known(None if journal is None else kept.enter_context(closing(Journal(journal))))
            survived = []
            for done, mutant in enumerate(mutants):
                progress("faults planted", done, len(mutants))
                file = task.directory / REFERENCE_DIRECTORY / mutant.file
                source = file.read_bytes()
                if (unnoticed := known.of(done)) is None:
                    file.write_bytes(mutant.apply(source))
                    shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
                    try:
                        unnoticed = _does_as_stated(task, installed, sheet, scenarios, which, patience)
                    except (EnvironmentFailure, TaskError):
                        unnoticed = False
                    finally:
                        file.write_bytes(source)
                    known.keep(done, unnoticed)
                if unnoticed:
                    survived.append((mutant, cited_at(source.decode("utf-8", "replace"), mutant.line)))
            known.finish()
        return Strength(which, len(mutants), tuple(survived))


class _Known:
    """What a journal knows of the faults, by their places in the list."""

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal
        held = [] if journal is None else journal.known
        self._unnoticed = {each.get("fault"): each.get("unnoticed") is True for each in held if each["kind"] == JUDGED}

    def of(self, fault: int) -> bool | None:
        """Whether no scenario notices a fault; None where that is not known."""
        return self._unnoticed.get(fault)

    def keep(self, fault: int, unnoticed: bool) -> None:
        """Keep what was found."""
        if self._journal is not None:
            self._journal.write(JUDGED, [{"fault": fault, "unnoticed": unnoticed}])

    def finish(self) -> None:
        """The next measurement begins anew."""
        if self._journal is not None:
            self._journal.write(FINISHED, [{}])


def cited_at(source: str, line: int) -> tuple[int, ...]:
    """The statements that a line of Python belongs to: of its own comment, or of the nearest above it in its function."""
    cited = {
        token.start[0]: tuple(map(int, match[1].split(",")))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and (match := _CITED.match(token.string))
    }
    lines = source.splitlines()
    for above in range(line, 0, -1):
        if above in cited:
            return cited[above]
        if lines[above - 1].lstrip().startswith(("def ", "class ")):
            break
    return ()


def patience_of(right_s: float, timeout_s: float) -> float:
    """Seconds that one answer of a faulty reading may take: a fault that loops for ever must not cost the whole limit.

    Args:
        right_s: what the reading without a fault took, from its start to its last answer.
        timeout_s: the limit of every reading.
    """
    return min(max(LEAST_S, GENEROUS * right_s), timeout_s)


def _does_as_stated(
    task: Task,
    installed: Installed,
    sheet: Sheet,
    scenarios: Sequence[Scenario],
    which: str,
    patience: float | None = None,
) -> bool:
    with closing(start_reference(task, installed, timeout_s=patience)) as reading:
        demand_sheet(task, reading, which)
        return all(one.passed for one in play_scenarios(reading.rollout, scenarios, sheet.tolerances))
