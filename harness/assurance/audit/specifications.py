"""The record of a specification: that what was frozen follows from the steps before it and from the files in its commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from harness.assurance.audit.commits import Commits
from harness.assurance.audit.findings import Findings
from harness.assurance.audit.isolation import Isolation
from harness.errors import LockstepError
from harness.record.attest import SUMMARY_FILE, unseal
from harness.record.event import Event
from harness.record.export import check_out
from harness.record.keys import PublicKey
from harness.record.log import event_file
from harness.record.snapshot import directory_hash
from harness.record.specification import (
    COMPARED,
    DIRECTORY,
    DRAWN,
    ENDS,
    FROZEN,
    KINDS,
    PARTS,
    PREDICATE,
    RULED,
    SEED,
    TABLES,
    WORKFLOW,
    begun,
    digest_of,
    document_of,
    outcome_of,
)
from harness.record.store import Store
from harness.support.foreign import json_of
from harness.verdict import LevelReport, Outcome

RULE = "specification"


class Specifications:
    """Checks the steps of a specification, in the order of its log."""

    def __init__(self, store: Store, findings: Findings, isolation: Isolation, commits: Commits) -> None:
        self._store = store
        self._findings = findings
        self._isolation = isolation
        self._commits = commits
        self._rulings: dict[int, str] = {}

    def check(self, event: Event, before: Sequence[Event], key: PublicKey | None) -> None:
        """Look at one event, if it is a step of a specification.

        Args:
            before: the events before it; `key` is the one in force.
        """
        if event.kind not in KINDS:
            return
        self._require(before[0].detail.get("workflow") == WORKFLOW, event, "its session is on no specification")
        if event.kind in (RULED, *ENDS) and "gitTree" not in (event.workspace or {}):
            self._require(False, event, "no files were recorded with it")
        elif event.kind == RULED:
            self._findings.safely(partial(self._ruling, event))
        elif event.kind in ENDS:
            self._findings.safely(partial(self._begin_of, event, before))
            if document_of("compare") in event.attached:
                self._findings.safely(partial(self._comparison, event))
            else:
                self._require(event.outcome != Outcome.PASS, event, "it passed, and holds no comparison")
            if event.kind == FROZEN and event.commit is not None and key is not None:
                self._findings.safely(partial(self._frozen, event, before, key))

    def _ruling(self, event: Event) -> None:
        """A ruling stands in the rules from its event on, as it was given."""
        number, text = int(event.detail["statement"]), str(event.detail["text"])
        self._rulings[number] = text
        ruling = " ".join(str(event.arguments["ruling"]).split())
        self._require(text.endswith(ruling), event, "the statement that it added says something else than it")
        rules = self._store.blob(self._store.files((event.workspace or {})["gitTree"])["RULES.md"].id)
        self._require(f"\n{number}. {text}\n".encode() in rules, event, "its ruling does not stand in the rules")

    def _begin_of(self, event: Event, before: Sequence[Event]) -> None:
        """What was judged was fixed before its seed was drawn."""
        start = begun(before, event.kind, event.arguments)
        self._require(start is not None, event, "nothing began that it could be the end of")
        if start is None:
            return
        self._require(start.workspace == event.workspace, event, "it judged other files than were taken")
        self._require(start.seeds.get(SEED) == event.seeds.get(SEED), event, "its seed is not that of its begin")
        self._require(start.detail.get(DRAWN) == event.detail.get(DRAWN), event, "its seed was drawn otherwise")

    def _comparison(self, event: Event) -> None:
        """What a comparison came to follows from its levels and scenarios, and it is of the files of the event."""
        compared = self._compared(event)
        reports = [LevelReport.from_json(level) for level in compared["levels"]]
        for report in reports:
            self._require(report.seed == event.seeds.get(SEED), event, f"level {report.level} is from another seed")
        self._require(compared["seed"] == event.seeds.get(SEED), event, "its comparison is from another seed")
        follows = str(outcome_of(reports, compared["missed"]))
        self._require(compared["outcome"] == follows, event, f"its comparison came to {follows}")
        if event.kind == COMPARED or event.commit is not None:
            self._require(event.outcome == follows, event, f"it says {event.outcome}, its comparison {follows}")
        files = self._store.files((event.workspace or {})["gitTree"])
        for which in PARTS:
            laid = PurePosixPath("readings", which), PurePosixPath(TABLES)
            read = (
                (path.relative_to(place), self._store.blob(entry.id))
                for path, entry in ((PurePosixPath(name), entry) for name, entry in files.items())
                for place in laid
                if path.is_relative_to(place) and path.name != ".gitkeep"
            )
            self._require(
                digest_of(read) == compared["readings"][which], event, f"the {which} reading is not what was compared"
            )
        self._isolation.check(event, event.detail["sandbox"])

    def _frozen(self, event: Event, before: Sequence[Event], key: PublicKey) -> None:
        from harness.specification import freeze  # with it comes all that judges, which no other record needs
        from sandboxes.removal import scratch_directory

        compared, commit = self._compared(event), self._store.commit(str(event.commit))
        self._require(event.outcome == Outcome.PASS, event, "it made a commit, and did not pass")
        self._require(event.detail.get(DRAWN) is True, event, "it was frozen from a chosen seed")
        levels = [level["level"] for level in compared["levels"] if level["outcome"] == Outcome.PASS]
        self._require(levels == [1, 2, 3], event, "its readings do not agree over levels 1 to 3")
        parents = (self._commits.rows[-1].commit,) if self._commits.rows else ()
        self._require(commit.parents == parents, event, f"commit {event.commit} has another parent")
        top = self._store.tree(commit.tree)
        same = top[DIRECTORY].id == (event.workspace or {})["gitTree"]
        self._require(same, event, f"commit {event.commit} holds another specification than was judged")
        said = unseal(event_file(self._store, event.id, SUMMARY_FILE), key)
        self._require(said["predicateType"] == PREDICATE, event, "its statement is of another kind")
        stated = said["predicate"]
        files = self._store.files(commit.tree)
        trees = {"gitCommit": event.commit, "gitTree": commit.tree, "dirHash": directory_hash(self._store, files)}
        self._require(said["subject"][0]["digest"] == trees, event, "its statement is not about it")
        start = before[0]
        claims = {
            "session": start.detail["session"],
            "task": start.arguments["task"],
            "chosen": event.arguments["which"],
            "seed": event.seeds.get(SEED),
        }
        self._require(
            all(stated.get(each) == claim for each, claim in claims.items()), event, "its statement is of another"
        )
        self._require(
            commit.message == freeze.message_of(stated), event, f"commit {event.commit} claims something else"
        )
        with scratch_directory("lockstep-audit-") as scratch:
            made = scratch / "made"  # not as the record calls it, which may lead anywhere
            check_out(self._store, files, made)
            scenarios = self._files(event, made, stated, compared)
        self._commits.frozen(event, compared, scenarios, stated["machine"])

    def _files(self, event: Event, made: Path, stated: Mapping[str, Any], compared: Mapping[str, Any]) -> int:
        """What is claimed follows from the files of the commit; returns how many scenarios there are."""
        from harness.specification import freeze
        from harness.specification.place import Place, demand_plain, read

        try:
            place = Place(made / DIRECTORY)
            demand_plain(place)
            specification = read(place)
            found = freeze.objections(specification)
            scenarios = len(specification.demanded()[1].scenarios)
            digests = freeze.digests(made)
        except LockstepError as error:
            self._require(False, event, f"the frozen files cannot be read: {error.what}")
            return 0
        for what in found:
            self._require(False, event, f"it was frozen, and {what}")
        texts = {one.number: one.text for one in specification.statements}
        for number, text in self._rulings.items():
            self._require(texts.get(number) == text, event, f"ruling {number} is not in the text")
        counted = {
            "statements": len(texts),
            "rulings": sum(bool(one.rules_on) for one in specification.statements),
            "scenarios": scenarios,
            "digests": digests,
        }
        for each, value in counted.items():
            self._require(stated.get(each) == value, event, f"its statement has other {each} than its files")
        played = compared["scenarios"] == dict.fromkeys(PARTS, scenarios)
        self._require(played, event, "not every scenario was played against both readings")
        chosen = compared["readings"][event.arguments["which"]]
        self._require(digests.get("reference") == chosen, event, "the reference is not the reading that was chosen")
        other = freeze.not_of_the_sheet(made)
        self._require(not other, event, f"the task's file has another {', '.join(other)} than the sheet")
        return scenarios

    def _compared(self, event: Event) -> Mapping[str, Any]:
        return json_of(event_file(self._store, event.id, document_of("compare")))

    def _require(self, holds: bool, event: Event, what: str) -> None:
        self._findings.require(holds, RULE, event, what)
