"""What can be asked of a specification, each answered by one document."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.calls import ShellCalls
from harness.model import STATE
from harness.reference.install import Installed
from harness.specification import begin as beginning
from harness.specification import strength as planting
from harness.specification.contradictions import contradictions
from harness.specification.freeze import changed_since, freeze
from harness.specification.place import ADAPTER_FILE, READINGS, Place, Specification, find, read
from harness.specification.playing import Played
from harness.specification.readings import Compared, compare_readings, play_reading
from harness.specification.statements import Statement
from harness.support.home import lockstep_home
from harness.support.progress import Progress, silent
from harness.verdict import Divergence, Outcome


def begin(name: str, directory: Path, rules: Path) -> dict[str, Any]:
    """Make a task directory around rules in words. Raises as `harness.specification.begin.begin`."""
    place, statements = beginning.begin(name, directory, rules)
    return {"task": name, "directory": str(place.directory.parent), "statements": list(map(_statement, statements))}


def number(directory: Path) -> dict[str, Any]:
    """Number the statements that have no number. Raises TaskError where the rules are wrong, or frozen."""
    place = find(directory)
    statements, added = beginning.number(place)
    return {"task": place.name, "added": added, "statements": list(map(_statement, statements))}


def rule(directory: Path, ruling: str, rules_on: Sequence[int]) -> dict[str, Any]:
    """Add a ruling. Raises TaskError where the rules or the ruling are wrong, or frozen."""
    place = find(directory)
    statement = beginning.rule(place, ruling, rules_on)
    return {"task": place.name, "statement": _statement(statement), "rules_on": list(statement.rules_on)}


def check(directory: Path) -> dict[str, Any]:
    """Where a specification stands, from its files alone: nothing is run.

    Raises:
        TaskError: a file is wrong.
        RecordError: it is frozen, and what was signed cannot be trusted.
    """
    place = find(directory)
    specification = read(place)
    numbers = [one.number for one in specification.statements]
    found: list[str] = []
    uncovered = numbers
    count = 0
    if specification.sheet is not None and specification.scenarios is not None:
        scenarios = specification.scenarios.scenarios
        state = [path for path in specification.sheet.leaves if path.startswith(STATE)]
        found = [str(each) for each in contradictions(scenarios, state)]
        uncovered, count = specification.scenarios.uncovered(numbers), len(scenarios)
    readings = {which: (place.reading(which) / ADAPTER_FILE).is_file() for which in READINGS}
    changed = changed_since(place, lockstep_home())
    return {
        "task": place.name,
        "statements": list(map(_statement, specification.statements)),
        "sheet": specification.sheet is not None,
        "scenarios": count,
        "without_scenario": uncovered,
        "contradictions": found,
        "readings": readings,
        "frozen": changed is not None,
        "changed_since": changed or [],
        "next": _next(specification, uncovered, found, readings, changed),
    }


def play(
    directory: Path, which: str, *, environment: Installed | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Play the scenarios against one reading. Raises as `compare`."""
    specification = read(find(directory))
    sheet, scenarios = specification.demanded()
    played = play_reading(specification.place, sheet, which, scenarios.scenarios, environment, progress)
    missed = [_missed(one) for one in played if not one.passed]
    return {"task": specification.place.name, "reading": which, "played": len(played), "missed": missed}


def compare(
    directory: Path,
    *,
    seed: int | None = None,
    environment: Installed | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Hold both readings against the scenarios and against each other.

    Args:
        seed: from which everything random is derived; None draws one.
        environment: where the readings run; None builds it.

    Raises:
        TaskError, SetupError, EnvironmentFailure: as `compare_readings`.
    """
    specification = read(find(directory))
    sheet, scenarios = specification.demanded()
    done = compare_readings(
        specification.place,
        sheet,
        scenarios.scenarios,
        seed=secrets.randbits(63) if seed is None else seed,
        environment=environment,
        progress=progress,
    )
    return _compared(specification, done)


def strength(
    directory: Path,
    which: str,
    *,
    sample: int | None = None,
    seed: int = 0,
    environment: Installed | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Plant faults in a reading and list those that no scenario notices, by statement. Raises as `planting.measure`."""
    specification = read(find(directory))
    sheet, scenarios = specification.demanded()
    measured = planting.measure(
        specification.place, sheet, scenarios.scenarios, which,
        sample=sample, seed=seed, environment=environment, progress=progress,
    )  # fmt: skip
    by_statement = [
        {"statement": number or None, "survived": [mutant.name for mutant in mutants]}
        for number, mutants in measured.by_statement().items()
    ]
    return {
        "task": specification.place.name,
        "reading": which,
        "planted": measured.planted,
        "survived": len(measured.survived),
        "by_statement": by_statement,
    }


def frozen(
    directory: Path,
    which: str,
    *,
    candidate: str = "jax",
    seed: int | None = None,
    environment: Installed | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Freeze a specification. Raises as `harness.specification.freeze.freeze`."""
    place = find(directory)
    done = freeze(
        place,
        which,
        home=lockstep_home(),
        seed=seed,
        candidate=candidate,
        environment=environment,
        progress=progress,
    )
    return {
        "task": place.name,
        "directory": str(place.directory.parent),
        "reading": which,
        "commit": done.commit,
        "repository": str(done.repository),
        "seed": done.statement["seed"],
    }


def _compared(specification: Specification, done: Compared) -> dict[str, Any]:
    differ = done.divergences
    said = "both readings agree, and do as every scenario says"
    if done.outcome is Outcome.ERROR:
        said = "a reading could not be asked"
    elif differ:
        said = "the readings differ: the text can be read in two ways, or one of them misread it"
    elif any(done.missed.values()):
        said = "a reading does not do as the scenarios say"
    return {
        "task": specification.place.name,
        "outcome": str(done.outcome),
        "summary": said,
        "seed": done.seed,
        "readings": dict(done.digests),
        "scenarios": {which: len(played) for which, played in done.played.items()},
        "missed": {which: list(map(_missed, played)) for which, played in done.missed.items()},
        "levels": [report.to_json() for report in done.reports],
        "divergences": [_divergence(found) for found in differ],
        "refusals": list(done.refusals),
    }


def _missed(played: Played) -> dict[str, Any]:
    scenario = played.scenario
    return {
        "scenario": scenario.name,
        "where": scenario.where,
        "cites": list(scenario.cites),
        "misses": [str(miss) for miss in played.misses],
    }


def _divergence(found: Divergence) -> dict[str, Any]:
    """A difference with no word of which side is right."""
    return {"told": str(found), "cause": found.cause, "check": found.check, **found.to_json()}


def _statement(statement: Statement) -> dict[str, Any]:
    return {"number": statement.number, "text": statement.text, "section": statement.section, "line": statement.line}


def _next(
    specification: Specification,
    uncovered: Sequence[int],
    found: Sequence[str],
    readings: dict[str, bool],
    changed: list[str] | None,
) -> str:
    """What is due."""
    place: Place = specification.place
    if changed is not None:
        return "take back what was changed, or freeze it again" if changed else ShellCalls.start(place.directory.parent)
    if specification.sheet is None:
        return f"write {place.sheet.name}: the prompt is `lockstep spec prompt sheet`"
    if found:
        return "read the statements of these scenarios again, and correct one of each pair"
    if uncovered:
        return "write scenarios for these statements: the prompt is `lockstep spec prompt scenarios`"
    if missing := [which for which, there in readings.items() if not there]:
        return f"write the {missing[0]} reading, in a session that has not seen another: `lockstep spec prompt reading`"
    return "lockstep spec compare"
