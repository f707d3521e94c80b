"""Freezing a specification: what was agreed on becomes a task like any other, and is signed.

The chosen reading becomes the reference. Rules, rulings, sheet, scenarios, both readings and the reference are committed
together to a repository of their own below LOCKSTEP_HOME, and a statement about that commit is signed with the harness's
key. It lies beside them too, so that whoever has the task can tell whether anything was changed since.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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
from harness.record.attest import Subject, seal, unseal
from harness.record.keyring import Keyring
from harness.record.log import ATTESTATIONS, MAIN
from harness.record.message import check_identity
from harness.record.objects import Commit, identity
from harness.record.snapshot import snapshot
from harness.record.store import Store
from harness.reference.install import Installed, setup
from harness.reference.start import start_reference
from harness.specification.contradictions import contradictions
from harness.specification.place import (
    ADAPTER,
    ADAPTER_FILE,
    DIRECTORY,
    FROZEN_FILE,
    MOST_BYTES,
    Place,
    Specification,
    read,
)
from harness.specification.playing import play_scenarios
from harness.specification.readings import Compared, compare_readings, digest, no_code
from harness.specification.scenarios import Scenario
from harness.specification.sheet import Sheet
from harness.support.files import write_durably
from harness.support.foreign import content_of, toml_of
from harness.support.progress import Progress, silent
from harness.task.contract import COMPILED, REFERENCE_DIRECTORY, TASK_FILE, Candidate, Reference, Task, caches
from harness.task.load import CONTRACT, load_task
from harness.verdict import Outcome
from sandboxes.removal import scratch_directory

DECIDED = ("name", "workflow", "reference", *CONTRACT)
"""What of a task's file follows from a specification."""
PREDICATE = "https://lockstep.invalid/specification/v0.1"
REPOSITORIES = "specifications"
"""Below LOCKSTEP_HOME: a repository for each specification that was frozen here, by the task's name."""
AUTHOR = "Lockstep <lockstep@lockstep.invalid>"


@dataclass(frozen=True)
class Frozen:
    """A specification that was frozen.

    Attributes:
        commit: in the repository `repository`.
        statement: the predicate that was signed.
    """

    commit: str
    repository: Path
    statement: Mapping[str, Any]


def freeze(
    place: Place,
    which: str,
    *,
    home: Path,
    seed: int | None = None,
    candidate: str = "jax",
    environment: Installed | None = None,
    progress: Progress = silent,
) -> Frozen:
    """Make the task whose reference is one reading, and sign what it was made of.

    Nothing is written unless every statement has a scenario (or a reason for none), no two scenarios contradict each other,
    both readings do as all scenarios say and agree over levels 1 to 3, and the chosen one passes the checks of a reference.
    All of it is judged on one copy of the files, and that copy is what is committed.

    Args:
        which: the reading, `first` or `second`.
        home: LOCKSTEP_HOME, where the keys and the repository are.
        seed: from which the comparison is derived; None draws one after the files were copied.
        candidate: what the candidate is to be written in.

    Raises:
        TaskError: something of this does not hold; each such thing is named.
        SetupError, EnvironmentFailure, RecordError: it cannot be judged, or not be written.
    """
    if place.frozen.exists():
        raise TaskError(
            "the specification is frozen already",
            where=str(place.directory),
            next_step=f"remove {FROZEN_FILE} and the task that was made of it, if it is to be frozen again",
        )
    others = [path.name for path in place.directory.parent.iterdir() if path.name != DIRECTORY]
    if others := sorted(name for name in others if not name.startswith(".")):
        raise TaskError(
            f"beside {DIRECTORY}/ there is {', '.join(others)}",
            where=str(place.directory.parent),
            next_step="move it away: the task's files are written there",
        )
    with scratch_directory("lockstep-freeze-") as scratch:
        made = scratch / place.name
        shutil.copytree(place.directory, made / DIRECTORY, ignore=caches, symlinks=True)
        specification = read(Place(made / DIRECTORY))
        sheet, scenarios = specification.demanded()
        numbers = [one.number for one in specification.statements]
        mistakes = [f"statement {number} has no scenario" for number in scenarios.uncovered(numbers)]
        state = [path for path in sheet.leaves if path.startswith(STATE)]
        mistakes += [f"contradiction: {each}" for each in contradictions(scenarios.scenarios, state)]
        _demand_none(mistakes, place)
        compared = compare_readings(
            specification.place,
            sheet,
            scenarios.scenarios,
            seed=secrets.randbits(63) if seed is None else seed,
            environment=environment,
            progress=progress,
        )
        _demand_none(_disagreements(compared), place)
        _make(made, specification.place, sheet, scenarios.scenarios, which, candidate, environment, progress)
        return _put(made, specification, place, which, compared, home)


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
    shutil.copytree(place.reading(which), made / REFERENCE_DIRECTORY, ignore=no_code)
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


def _put(made: Path, specification: Specification, place: Place, which: str, compared: Compared, home: Path) -> Frozen:
    """Commit and sign it, and put it where the specification lies; the task file comes last, and makes it a task.

    Raises:
        TaskError: somebody changed the specification meanwhile.
    """
    directory, digests = place.directory.parent, _digests(made)
    # What is only made now is not there yet.
    now = _digests(directory) | {name: digests[name] for name in digests if not name.startswith(DIRECTORY)}
    changed = sorted(name for name in {*digests, *now} if digests.get(name) != now.get(name))
    _demand_none([f"{name} was changed while it was compared" for name in changed], place)
    scenarios = specification.demanded()[1]
    statement = {
        "task": place.name,
        "lockstep": __version__,
        "statements": len(specification.statements),
        "rulings": sum(bool(one.rules_on) for one in specification.statements),
        "scenarios": len(scenarios.scenarios),
        "chosen": which,
        "seed": compared.seed,
        "levels": [report.to_json() for report in compared.reports],
        "digests": digests,
    }
    repository = home / REPOSITORIES / f"{place.name}.git"
    commit, sealed = _committed(made, repository, statement, Keyring(home))
    for part in sorted(made.iterdir(), key=lambda path: path.name == TASK_FILE):
        if part.name != DIRECTORY:
            _copy(part, directory / part.name)
    write_durably(place.frozen, sealed)
    return Frozen(commit, repository, statement)


def _committed(made: Path, repository: Path, statement: Mapping[str, Any], keyring: Keyring) -> tuple[str, bytes]:
    if not repository.exists():
        Store.create(repository)
    now = int(datetime.now(UTC).timestamp())
    with Store(repository) as store:
        taken = snapshot(made, store)
        refs = store.refs()
        parents = (refs[MAIN],) if MAIN in refs else ()
        who = identity(check_identity(AUTHOR), now)
        message = (
            f"Freeze the specification of {statement['task']}\n\n"
            f"{statement['statements']} statements, {statement['scenarios']} scenarios; the {statement['chosen']} reading "
            f"is the reference.\n\nLockstep-Seed: {statement['seed']}\n"
        )
        commit = store.put_commit(Commit(taken.tree, parents, who, who, message))
        sealed = seal(Subject(commit, taken.tree, taken.digest), PREDICATE, statement, keyring.present)
        attestation = store.put("blob", sealed)
        old = refs.get(MAIN)
        store.move_refs({MAIN: (commit, old), f"{ATTESTATIONS}{commit}": (attestation, None)})
    return commit, sealed


def changed_since(place: Place, home: Path) -> list[str] | None:
    """What is not as it was when the specification was frozen, in words; None where it is not frozen.

    Raises:
        RecordError: what was signed cannot be read, or no key of this home signed it.
    """
    if not place.frozen.exists():
        return None
    sealed = place.frozen.read_bytes()
    statement: Mapping[str, Any] | None = None
    for key in Keyring(home).public:
        try:
            statement = unseal(sealed, key)["predicate"]
            break
        except RecordError:
            continue
    if statement is None or statement.get("task") != place.name or "digests" not in statement:
        raise RecordError(
            f"{FROZEN_FILE} was not signed by a key of this home for {place.name}, or was changed",
            where=str(place.frozen),
            next_step="take the file as it was, or freeze the specification again",
        )
    present = _digests(place.directory.parent)
    known = statement["digests"]
    return sorted(name for name in {*known, *present} if known.get(name) != present.get(name))


def _digests(task: Path) -> dict[str, str]:
    """SHA-256 by part: rules, sheet, scenarios, readings, the reference, and what of the task's file follows from these."""
    parts = {
        f"{DIRECTORY}/{path.name}": path
        for path in sorted((task / DIRECTORY).iterdir())
        if path.name not in (FROZEN_FILE, COMPILED) and not path.name.startswith(".")
    }
    parts[REFERENCE_DIRECTORY] = task / REFERENCE_DIRECTORY
    return {name: digest(path) for name, path in parts.items()} | _stated(task / TASK_FILE)


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


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)
