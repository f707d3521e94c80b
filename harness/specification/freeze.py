"""Freezing a specification: what was agreed on becomes a task like any other, and is signed.

The chosen reading becomes the reference. Rules, rulings, sheet, scenarios, both readings and the task that was made are one
commit in the specification's record, with a signed statement about it. The statement lies beside them too, so that whoever
has the task can tell whether anything was changed since.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit

from harness import __version__
from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import ENTRIES, inspect
from harness.authoring.scaffold_files import write_task
from harness.candidate.skeleton import write_skeleton
from harness.errors import RecordError, TaskError
from harness.model import STATE
from harness.record.attest import SUMMARY_FILE, Subject, seal, unseal
from harness.record.event import now, seconds
from harness.record.export import check_out
from harness.record.keyring import Keyring
from harness.record.log import event_file
from harness.record.machine import fingerprint
from harness.record.objects import Commit, Entry, identity
from harness.record.snapshot import snapshot
from harness.record.specification import (
    DIRECTORY,
    FROZEN,
    FROZEN_FILE,
    PREDICATE,
    document_of,
    last_frozen,
)
from harness.reference.install import Installed, setup
from harness.reference.start import start_reference
from harness.session.recipe import FINDING_AT_MOST
from harness.specification.contradictions import contradictions
from harness.specification.place import ADAPTER, ADAPTER_FILE, MOST_BYTES, Place, Specification
from harness.specification.playing import play_scenarios
from harness.specification.readings import Compared, compare_readings, digest, lay
from harness.specification.record import Interruptible, Judging, SpecificationRecord
from harness.specification.scenarios import Scenario
from harness.specification.sheet import SHEET_FILE, Sheet
from harness.support.files import write_durably
from harness.support.foreign import content_of, toml_of
from harness.support.progress import Progress, silent
from harness.task.contract import (
    COMPILED,
    REFERENCE_DIRECTORY,
    TASK_FILE,
    Candidate,
    Reference,
    Task,
    left_out,
)
from harness.task.load import CONTRACT, load_task
from harness.verdict import Outcome

DECIDED = ("name", "workflow", "reference", *CONTRACT)
"""What of a task's file follows from a specification."""
AUTHOR = "Lockstep <lockstep@lockstep.invalid>"


@dataclass(frozen=True)
class Frozen:
    """A specification that was frozen.

    Attributes:
        commit: in the record of the specification.
        event: the number of the event that made it.
        statement: the predicate that was signed.
    """

    commit: str
    event: int
    statement: Mapping[str, Any]


def freeze(
    record: SpecificationRecord,
    which: str,
    *,
    seed: int | None = None,
    candidate: str = "jax",
    environment: Installed | None = None,
    client: str = "",
    interruptible: Interruptible | None = None,
    progress: Progress = silent,
) -> Frozen:
    """Make the task whose reference is one reading, and sign what it was made of.

    Nothing is written unless every statement has a scenario (or a reason for none), no two scenarios contradict each other,
    both readings do as all scenarios say and agree over levels 1 to 3, and the chosen one passes the checks of a reference.
    All of it is judged on one copy of the files, and that copy is what is committed. Where a freeze of the same files was
    recorded, and its process killed before all of the task was written, it is finished.

    Args:
        which: the reading, `first` or `second`.
        seed: from which the comparison is derived; None draws one after the files were recorded.
        candidate: what the candidate is to be written in.
        client: who asked, for the record.
        interruptible: entered while it is judged.

    Raises:
        TaskError: something of this does not hold; each such thing is named.
        SessionError, SetupError, EnvironmentFailure, RecordError: it cannot be judged, or not be written.
    """
    place, arguments = record.place, {"which": which, "candidate": candidate}
    if place.frozen.exists():
        raise TaskError(
            "the specification is frozen already",
            where=str(place.directory),
            next_step=f"remove {FROZEN_FILE} and the task that was made of it, if it is to be frozen again",
        )
    if (done := _finished(record, arguments)) is not None:
        return done
    _demand_room(place)
    _demand_none(record.reworded(record.read()), place)
    with record.judging(FROZEN, arguments, seed, client) as judging:
        try:
            with interruptible or nullcontext():
                compared = _judged(judging, which, candidate, environment, progress)
            changed = [f"{DIRECTORY}/{path} was changed while it was compared" for path in record.changed(judging)]
            _demand_none(changed, place)
        except TaskError as refusal:
            refusal.where = refusal.where.replace(str(judging.specification.place.directory), str(place.directory))
            finding = "; ".join(refusal.mistakes or (refusal.what,))[:FINDING_AT_MOST]
            record.conclude(judging, Outcome.FAIL, {}, finding=finding)
            raise
        return _put(record, judging, which, compared)


def _demand_room(place: Place) -> None:
    others = sorted(
        path.name
        for path in place.directory.parent.iterdir()
        if path.name != DIRECTORY and not path.name.startswith(".")
    )
    if others:
        raise TaskError(
            f"beside {DIRECTORY}/ there is {', '.join(others)}",
            where=str(place.directory.parent),
            next_step="move it away: the task's files are written there",
        )


def _judged(
    judging: Judging, which: str, candidate: str, environment: Installed | None, progress: Progress
) -> Compared:
    """Hold everything against everything, and complete the copy to a task. Raises TaskError with all that does not hold."""
    specification = judging.specification
    place, (sheet, scenarios) = specification.place, specification.demanded()
    _demand_none(objections(specification), place)
    compared = compare_readings(
        place, sheet, scenarios.scenarios, seed=judging.seed, environment=environment, progress=progress
    )
    _demand_none(_disagreements(compared), place)
    _make(place.directory.parent, place, sheet, scenarios.scenarios, which, candidate, environment, progress)
    return compared


def objections(specification: Specification) -> list[str]:
    """What keeps a specification from being frozen that its files alone show. Raises TaskError where there is no sheet."""
    sheet, scenarios = specification.demanded()
    numbers = [one.number for one in specification.statements]
    mistakes = [f"statement {number} has no scenario" for number in scenarios.uncovered(numbers)]
    state = [path for path in sheet.leaves if path.startswith(STATE)]
    return mistakes + [f"contradiction: {each}" for each in contradictions(scenarios.scenarios, state)]


def not_of_the_sheet(made: Path) -> list[str]:
    """The tables of a made task's file that are not as the sheet has them."""
    task, sheet = (
        toml_of((made / path).read_text(encoding="utf-8")) for path in (TASK_FILE, f"{DIRECTORY}/{SHEET_FILE}")
    )
    return [name for name in CONTRACT if name in sheet and task.get(name) != sheet[name]]


def _disagreements(compared: Compared) -> list[str]:
    mistakes = [
        f"{played.scenario.where}: the {which} reading does not do as `{played.scenario.name}` says: {played.misses[0]}"
        for which, missed in compared.missed.items()
        for played in missed
    ]
    mistakes += [f"the readings differ: {found}" for found in compared.divergences]
    if compared.outcome is not Outcome.PASS and not mistakes:
        failed = [check for report in compared.reports for check in report.checks if check.outcome is not Outcome.PASS]
        mistakes += [f"{check.name}: {check.outcome}: {check.detail}" for check in failed]
    return mistakes


def _demand_none(mistakes: Sequence[str], place: Place) -> None:
    if mistakes:
        raise TaskError(
            "the specification cannot be frozen yet",
            mistakes=tuple(mistakes),
            where=str(place.directory),
            next_step="`lockstep spec check` and `lockstep spec compare` show all of it",
        )


def _make(
    made: Path,
    place: Place,
    sheet: Sheet,
    scenarios: Sequence[Scenario],
    which: str,
    candidate: str,
    environment: Installed | None,
    progress: Progress,
) -> None:
    """Complete a task directory around the chosen reading, and check this as any reference is, and by the scenarios."""
    lay(place, which, made / REFERENCE_DIRECTORY)
    reference = Reference(f"{REFERENCE_DIRECTORY}/{ADAPTER}")
    written_in = Candidate(candidate, ENTRIES[candidate])
    task = Task(place.name, sheet.summary, "create", made, reference, written_in, leaves={}, modules=())
    installed = environment or setup(task, lambda line: progress(line, 0, 1))
    progress("running the reading to see what it offers", 0, 1)
    findings = inspect(task, installed)
    said, source = f"a reading of {DIRECTORY}/{place.rules.name}", (f"{REFERENCE_DIRECTORY}/{ADAPTER_FILE}",)
    write_task(task, replace(findings, what=said, source=source, notes=()))
    _take_from_sheet(made / TASK_FILE, place.sheet)
    _tell_meanings(made / "README.md", sheet)
    finished = load_task(made)
    results = check_reference(lambda: start_reference(finished, installed), finished, progress=progress)
    failed = [result for result in results if result.outcome not in (Outcome.PASS, Outcome.SKIPPED)]
    mistakes = [f"as a reference, {each.name}: {each.outcome}: {each.detail}" for each in failed]
    with closing(start_reference(finished, installed)) as reference:
        for played in play_scenarios(reference.rollout, scenarios, sheet.tolerances):
            mistakes += [f"{played.scenario.where}: as a reference, {miss}" for miss in played.misses[:1]]
    _demand_none(mistakes, place)
    write_skeleton(finished, made)


def _take_from_sheet(task_file: Path, sheet: Path) -> None:
    """What a sheet and a task both have stands in the task as in the sheet: laws, bounds and budgets were decided there."""
    task, stated = (tomlkit.parse(path.read_text(encoding="utf-8")) for path in (task_file, sheet))
    for name in CONTRACT:
        if name in stated:
            task[name] = stated[name]
    task_file.write_text(tomlkit.dumps(task), encoding="utf-8")


def _tell_meanings(readme: Path, sheet: Sheet) -> None:
    """Fill the empty column of the table of leaves."""
    told = []
    for line in readme.read_text(encoding="utf-8").splitlines():
        meaning = sheet.meanings.get(line.split("`")[1]) if line.startswith("| `") and line.endswith("| |") else None
        cited = "" if meaning is None else f"{meaning.says} (statements {', '.join(map(str, meaning.cites))})"
        told.append(line if meaning is None else f"{line.removesuffix('|')}{cited} |")
    readme.write_text("\n".join(told) + "\n", encoding="utf-8")


def _put(record: SpecificationRecord, judging: Judging, which: str, compared: Compared) -> Frozen:
    """Commit and sign it in the record, and then put it where the specification lies."""
    specification, store = judging.specification, record.store
    made = specification.place.directory.parent
    statement = {
        "session": record.id,
        "task": made.name,
        "lockstep": __version__,
        "statements": len(specification.statements),
        "rulings": sum(bool(one.rules_on) for one in specification.statements),
        "scenarios": len(specification.demanded()[1].scenarios),
        "chosen": which,
        "seed": compared.seed,
        "digests": digests(made),
        "machine": fingerprint(),
    }
    taken, moment = snapshot(made, store), now()
    head = record.head
    parents = (head.commit,) if head is not None and head.commit else ()
    who = identity(AUTHOR, seconds(moment))
    commit = store.put_commit(Commit(taken.tree, parents, who, who, message_of(statement)))
    sealed = seal(Subject(commit, taken.tree, taken.digest), PREDICATE, statement, record.key)
    attached = {SUMMARY_FILE: sealed, document_of("compare"): encoded(compared.to_json())}
    event = record.conclude(judging, Outcome.PASS, attached, commit=commit)
    _bring(record, commit, sealed)
    return Frozen(commit, event.seq, statement)


def message_of(statement: Mapping[str, Any]) -> str:
    """What the commit of a frozen specification says."""
    return (
        f"Freeze the specification of {statement['task']}\n\n"
        f"{statement['statements']} statements, {statement['scenarios']} scenarios; the {statement['chosen']} reading "
        f"is the reference.\n\nLockstep-Seed: {statement['seed']}\n"
    )


def encoded(document: Mapping[str, Any]) -> bytes:
    """A document as an event keeps it."""
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"


def _finished(record: SpecificationRecord, arguments: Mapping[str, Any]) -> Frozen | None:
    """Finish a freeze that was recorded of these very files and whose process was killed before all was written."""
    event = last_frozen(record.events)
    if event is None or dict(event.arguments) != dict(arguments) or event.workspace is None:
        return None
    with record.copied(arguments) as (taken, _):
        if event.workspace["gitTree"] != taken.tree:
            return None
    sealed, commit = event_file(record.store, event.id, SUMMARY_FILE), str(event.commit)
    statement = _signed_here(sealed, record.directory.home)
    if statement is None:
        raise RecordError("what was frozen was not signed by a key of this home", where=f"event {event.seq}")
    _bring(record, commit, sealed)
    return Frozen(commit, event.seq, statement)


def _signed_here(sealed: bytes, home: Path) -> Mapping[str, Any] | None:
    """The statement in an envelope, by any key that this home has or had; None where none of them signed it."""
    for key in (*Keyring(home).public, *Keyring(home, isolated=False).public):
        try:
            return unseal(sealed, key)["predicate"]
        except RecordError:
            continue
    return None


def _bring(record: SpecificationRecord, commit: str, sealed: bytes) -> None:
    """Write the task of a frozen commit where the specification lies: each part whole, the task's file comes last.

    Raises:
        TaskError: something else lies there.
    """
    store, place = record.store, record.place
    directory = place.directory.parent
    parts: dict[str, dict[str, Entry]] = {}
    for path, entry in store.files(store.commit(commit).tree).items():
        parts.setdefault(path.partition("/")[0], {})[path] = entry
    del parts[DIRECTORY]
    with tempfile.TemporaryDirectory(prefix=".lockstep-frozen-", dir=directory) as scratch:
        made = Path(scratch) / place.name
        check_out(store, {path: entry for files in parts.values() for path, entry in files.items()}, made)
        there = sorted(name for name in parts if (directory / name).exists())
        if other := [name for name in there if digest(directory / name) != digest(made / name)]:
            raise TaskError(
                f"beside {DIRECTORY}/ there is {', '.join(other)}, which is not what was frozen",
                where=str(directory),
                next_step="move it away: the task's files are written there",
            )
        for name in sorted(parts.keys() - {*there}, key=lambda name: (name == TASK_FILE, name)):
            (made / name).rename(directory / name)
    write_durably(place.frozen, sealed)


def changed_since(place: Place, home: Path) -> list[str] | None:
    """What is not as it was when the specification was frozen, in words; None where it is not frozen.

    Raises:
        RecordError: what was signed cannot be read, or no key of this home signed it.
    """
    if not place.frozen.exists():
        return None
    statement = _signed_here(place.frozen.read_bytes(), home)
    if statement is None or statement.get("task") != place.name or "digests" not in statement:
        raise RecordError(
            f"{FROZEN_FILE} was not signed by a key of this home for {place.name}, or was changed",
            where=str(place.frozen),
            next_step="take the file as it was, or freeze the specification again",
        )
    present = digests(place.directory.parent)
    known = statement["digests"]
    return sorted(name for name in {*known, *present} if known.get(name) != present.get(name))


def digests(task: Path) -> dict[str, str]:
    """SHA-256 by part: rules, sheet, scenarios, readings, the reference, and what of the task's file follows from these."""
    parts = {
        f"{DIRECTORY}/{path.name}": digest(path)
        for path in sorted((task / DIRECTORY).iterdir())
        if path.name not in (FROZEN_FILE, COMPILED) and not left_out(path.name)
    }
    return parts | {REFERENCE_DIRECTORY: digest(task / REFERENCE_DIRECTORY)} | _stated(task / TASK_FILE)


def _stated(task_file: Path) -> dict[str, str]:
    """SHA-256 of each table of a task's file that a specification decides; modules are yet to be divided, and are not."""
    try:
        tables = toml_of(content_of(task_file, MOST_BYTES).decode("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TaskError(f"it cannot be read: {error}", where=str(task_file), next_step="take it as it was") from error
    return {
        f"{TASK_FILE} [{name}]": hashlib.sha256(
            json.dumps(tables[name], sort_keys=True, default=str).encode()
        ).hexdigest()
        for name in DECIDED
        if name in tables
    }
