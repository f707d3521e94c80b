"""What can be asked of a specification, each answered by one document."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from harness import __version__
from harness.calls import ShellCalls
from harness.errors import LockstepError
from harness.measure.strength.journal import key
from harness.model import STATE
from harness.record.specification import CHECKED, COMPARED, NUMBERED, PLAYED, RULED, STRENGTH, document_of
from harness.reference.install import Installed
from harness.session.view import SessionView
from harness.specification import begin as beginning
from harness.specification import strength as planting
from harness.specification.contradictions import contradictions
from harness.specification.freeze import changed_since, encoded, freeze
from harness.specification.place import ADAPTER_FILE, READINGS, RULES_FILE, Place, Specification, find, read
from harness.specification.readings import Compared, compare_readings, demand_reading, play_reading
from harness.specification.record import Interruptible, SpecificationRecord, begin_record, record_of
from harness.specification.statements import Statement
from harness.support.home import lockstep_home
from harness.support.progress import Progress, silent
from harness.verdict import Divergence, Outcome
from sandboxes.removal import remove_tree


def begin(
    name: str,
    directory: Path,
    rules: str,
    where: str = RULES_FILE,
    *,
    home: Path | None = None,
    owner: str | None = None,
) -> dict[str, Any]:
    """Make a task directory around rules in words, and begin its record.

    Args:
        owner: the client whose session it is; by default it is the operator's.

    Raises:
        SetupError, TaskError: as `harness.specification.begin.begin`; SessionError, RecordError: as `begin_record`.
            Nothing is left of the directory then.
    """
    place, statements = beginning.begin(name, directory, rules, where)
    try:
        found = begin_record(home or lockstep_home(), place, owner=owner)
    except Exception:  # an interrupt may come once the record is there, which then needs its directory
        remove_tree(place.directory.parent)
        raise
    return {
        "task": name,
        "session": found.id,
        "directory": str(place.directory.parent),
        "statements": list(map(_statement, statements)),
    }


def number(record: SpecificationRecord, *, client: str = "") -> dict[str, Any]:
    """Number the statements that have no number.

    Raises:
        TaskError: the rules are wrong, or frozen.
        SessionError: the files cannot be recorded.
    """
    began = time.monotonic()
    record.take({})  # what cannot be recorded is refused before anything is written
    statements, added = beginning.number(record.place)
    if added:
        record.record(
            NUMBERED,
            outcome=f"{added} numbered",
            detail={"client": client},
            duration_s=_since(began),
            taken=record.take({}),
        )
    return {"task": record.place.name, "added": added, "statements": list(map(_statement, statements))}


def rule(record: SpecificationRecord, ruling: str, rules_on: Sequence[int], *, client: str = "") -> dict[str, Any]:
    """Add a ruling.

    Raises:
        TaskError: the rules or the ruling are wrong, or frozen.
        SessionError: the files cannot be recorded.
    """
    began = time.monotonic()
    arguments = {"ruling": ruling, "on": list(rules_on)}
    record.take(arguments)  # what cannot be recorded is refused before anything is written
    statement = beginning.rule(record.place, ruling, rules_on)
    record.record(
        RULED,
        arguments=arguments,
        detail={"statement": statement.number, "text": statement.text, "client": client},
        duration_s=_since(began),
        taken=record.take(arguments),
    )
    return {"task": record.place.name, "statement": _statement(statement), "rules_on": list(statement.rules_on)}


def checked(record: SpecificationRecord, *, client: str = "") -> dict[str, Any]:
    """`check`, and an event that keeps what it came to, where the files are not those of the last one."""
    began = time.monotonic()
    document = check(record.place.directory.parent)
    with record.copied({}) as (taken, _):
        last = next((event for event in reversed(record.events) if event.kind == CHECKED), None)
        if last is None or (last.workspace or {}).get("gitTree") != taken.tree:
            open_ = document["contradictions"] or document["without_scenario"] or document["changed_since"]
            record.record(
                CHECKED,
                outcome=str(Outcome.FAIL if open_ else Outcome.PASS),
                detail={"client": client, "finding": document["next"]},
                duration_s=_since(began),
                attached={document_of("check"): encoded(document)},
                taken=taken,
            )
    return document


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
    home = lockstep_home()
    changed, recorded = changed_since(place, home), record_of(home, place)
    return {
        "task": place.name,
        "session": None if recorded is None else recorded.id,
        "directory": str(place.directory.parent),
        "statements": list(map(_statement, specification.statements)),
        "sheet": specification.sheet is not None,
        "scenarios": count,
        "without_scenario": uncovered,
        "contradictions": found,
        "readings": readings,
        "frozen": changed is not None,
        "changed_since": changed or [],
        "due": (due := _due(specification, uncovered, found, readings, changed)),
        "next": _next(place, due, readings),
    }


def play(
    record: SpecificationRecord,
    which: str,
    *,
    environment: Installed | None = None,
    client: str = "",
    interruptible: Interruptible | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Play the scenarios against one reading. Raises as `compare`."""
    began = time.monotonic()
    demand_reading(record.place, which)
    record.read().demanded()
    with record.copied({"which": which}) as (taken, place):
        specification = read(place)
        sheet, scenarios = specification.demanded()
        with interruptible or nullcontext():
            played = play_reading(place, sheet, which, scenarios.scenarios, environment, progress)
        missed = [one.to_json() for one in played if not one.passed]
        document = {"task": place.name, "reading": which, "played": len(played), "missed": missed}
        record.record(
            PLAYED,
            arguments={"which": which},
            outcome=str(Outcome.FAIL if missed else Outcome.PASS),
            detail={"client": client, "finding": f"{len(missed)} of {len(played)} scenarios missed" if missed else ""},
            duration_s=_since(began),
            attached={document_of("play"): encoded(document)},
            taken=taken,
        )
    return document


def compare(
    record: SpecificationRecord,
    *,
    seed: int | None = None,
    environment: Installed | None = None,
    client: str = "",
    interruptible: Interruptible | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Hold both readings against the scenarios and against each other.

    Args:
        seed: from which everything random is derived; None draws one, or goes on from that of an interrupted comparison.
        environment: where the readings run; None builds it.
        client: who asked, for the record.
        interruptible: entered while it is judged.

    Raises:
        TaskError, SetupError, EnvironmentFailure: as `compare_readings`.
        SessionError, RecordError: as `SpecificationRecord.judging`.
    """
    record.read().demanded()
    for which in READINGS:
        demand_reading(record.place, which)
    with record.judging(COMPARED, {}, seed, client) as judging:
        sheet, scenarios = judging.specification.demanded()
        with interruptible or nullcontext():
            done = compare_readings(
                judging.specification.place,
                sheet,
                scenarios.scenarios,
                seed=judging.seed,
                environment=environment,
                progress=progress,
            )
        document = _compared(judging.specification, done)
        attached = {document_of("compare"): encoded(done.to_json())}
        finding = document["divergences"][0]["told"] if document["divergences"] else document["summary"]
        record.conclude(judging, str(done.outcome), attached, finding="" if done.outcome is Outcome.PASS else finding)
    return document


def strength(
    record: SpecificationRecord,
    which: str,
    *,
    sample: int | None = None,
    seed: int = 0,
    environment: Installed | None = None,
    client: str = "",
    interruptible: Interruptible | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Plant faults in a reading and list those that no scenario notices, by statement. Raises as `planting.measure`.

    What was found is kept as soon as it is found, so that a measurement of the same files that was interrupted goes on.
    """
    began = time.monotonic()
    demand_reading(record.place, which)
    record.read().demanded()
    arguments = {"which": which, "sample": sample, "seed": seed}
    with record.copied(arguments) as (taken, place):
        specification = read(place)
        sheet, scenarios = specification.demanded()
        journal = record.directory.path / "strength" / f"{key(taken.tree, arguments, __version__)}.jsonl"
        with interruptible or nullcontext():
            measured = planting.measure(
                place, sheet, scenarios.scenarios, which,
                sample=sample, seed=seed, journal=journal, environment=environment, progress=progress,
            )  # fmt: skip
        document = {
            "task": place.name,
            "reading": which,
            "planted": measured.planted,
            "survived": len(measured.survived),
            "by_statement": [
                {"statement": number or None, "survived": [mutant.name for mutant in mutants]}
                for number, mutants in measured.by_statement().items()
            ],
        }
        record.record(
            STRENGTH,
            arguments=arguments,
            outcome=f"{len(measured.survived)} of {measured.planted} unnoticed",
            detail={"client": client},
            duration_s=_since(began),
            attached={document_of("strength"): encoded(document)},
            taken=taken,
        )
    return document


def frozen(
    record: SpecificationRecord,
    which: str,
    *,
    candidate: str = "jax",
    environment: Installed | None = None,
    client: str = "",
    interruptible: Interruptible | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Freeze a specification. Raises as `harness.specification.freeze.freeze`."""
    for each in READINGS:
        demand_reading(record.place, each)
    done = freeze(
        record,
        which,
        candidate=candidate,
        environment=environment,
        client=client,
        interruptible=interruptible,
        progress=progress,
    )
    return {
        "task": record.place.name,
        "directory": str(record.place.directory.parent),
        "reading": which,
        "commit": done.commit,
        "event": done.event,
        "repository": str(record.directory.repository),
        "seed": done.statement["seed"],
    }


def status(record: SessionView) -> dict[str, Any]:
    """Where the session on a specification stands, and under `specification` what `check` says; or why it cannot be read."""
    described = record.status()
    try:
        document = check(record.workspace.parent)
    except LockstepError as error:
        return described | {"specification": None, "due": error.what}
    return described | {"specification": document, "due": document["next"]}


def _compared(specification: Specification, done: Compared) -> dict[str, Any]:
    differ = done.divergences
    said = "both readings agree, and do as every scenario says"
    if done.outcome is Outcome.ERROR:
        said = "a reading could not be asked"
    elif differ:
        said = "the readings differ: the text can be read in two ways, or one of them misread it"
    elif any(done.missed.values()):
        said = "a reading does not do as the scenarios say"
    shown = {"divergences": [_divergence(found) for found in differ]}
    return {"task": specification.place.name, "summary": said, **done.to_json(), **shown}


def _since(began: float) -> float:
    return time.monotonic() - began


def _divergence(found: Divergence) -> dict[str, Any]:
    """A difference with no word of which side is right."""
    return {"told": str(found), "cause": found.cause, "check": found.check, **found.to_json()}


def _statement(statement: Statement) -> dict[str, Any]:
    return {"number": statement.number, "text": statement.text, "section": statement.section, "line": statement.line}


def _due(
    specification: Specification,
    uncovered: Sequence[int],
    found: Sequence[str],
    readings: dict[str, bool],
    changed: list[str] | None,
) -> str:
    """What is due, in a word."""
    if changed is not None:
        return "changed" if changed else "task"
    if specification.sheet is None:
        return "sheet"
    if found:
        return "contradictions"
    if uncovered:
        return "scenarios"
    return "compare" if all(readings.values()) else "reading"


def _next(place: Place, due: str, readings: dict[str, bool]) -> str:
    """What is due, for whoever has a shell."""
    missing = next((which for which, there in readings.items() if not there), "")
    reading = f"write the {missing} reading, in a session that has not seen another: `lockstep spec prompt reading`"
    return {
        "changed": "take back what was changed, or freeze it again",
        "task": ShellCalls.start(place.directory.parent),
        "sheet": f"write {place.sheet.name}: the prompt is `lockstep spec prompt sheet`",
        "contradictions": "read the statements of these scenarios again, and correct one of each pair",
        "scenarios": "write scenarios for these statements: the prompt is `lockstep spec prompt scenarios`",
        "reading": reading,
        "compare": "lockstep spec compare",
    }[due]
