"""The audit: does a record prove what it says? Works from a clone or a bundle, with no session and no key but a public one.

It checks that no event is missing, out of order or changed; that the key that signed the first signed all; that every
verified commit is the tree that was verified, on its predecessor, with attestations that say so; that task and tests were
the same throughout and cases only came in; and that every ref is where the log says.

What a record alone cannot show is that its newest part was cut off and all refs moved back with it, or that somebody made
all of it anew with another key. Against the first, give an event's digest that you know; against the second, the public key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import RecordError
from harness.model import Outcome
from harness.recipe import ATTEMPT, INTERRUPTED, VERDICT
from harness.record.attest import DIRECTORY, SUMMARY_FILE, unseal
from harness.record.keys import PublicKey
from harness.record.log import (
    ATTESTATIONS,
    EVENT_FILE,
    EVENTS,
    MAIN,
    NOTES,
    PAYLOAD_TYPE,
    SIGNATURE_FILE,
    START,
    VERDICT_FILE,
    Event,
    cases_added,
    event_commits,
    event_contents,
    event_file,
    notes_content,
    stray_refs,
    verified,
)
from harness.record.message import trailers, trailers_in
from harness.record.objects import Entry, object_id
from harness.record.snapshot import directory_hash, task_digest, trusted_changes, trusted_part
from harness.record.store import Store, opened


@dataclass(frozen=True)
class Problem:
    """One thing that does not hold: the rule, the event (`seq`, None for the record as a whole), and what is wrong."""

    rule: str
    seq: int | None
    what: str


@dataclass(frozen=True)
class Row:
    """What one verified commit proved, at what cost, on which machine.

    `level` and `module` say what was asked for, `levels` holds a line for each level that ran; `attempts` counts the
    verifications since the commit before, `dollars` the money.
    """

    seq: int
    commit: str
    time: str
    message: str
    level: int
    module: str | None
    levels: tuple[Mapping[str, Any], ...]
    examples: int
    episodes: int
    steps: int
    bound: float | None
    seed: int
    sandbox: str
    isolated: bool
    duration_s: float
    attempts: int
    dollars: float
    machine: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AuditReport:
    """The result of an audit.

    Attributes:
        session, task, task_digest: what the record is about.
        key: id of the key that signed it; `pinned` is False when the key is the record's own word only.
        events: how many there are; `last_event` is the digest of the newest, worth noting for the next audit.
        rows: one for each verified commit, oldest first.
        problems: what does not hold, oldest first.
        first_bad: the first verified commit that can no longer be relied on, None where there is none.
    """

    session: str
    task: str
    task_digest: str
    key: str
    pinned: bool
    events: int
    last_event: str
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    first_bad: str | None

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"ok": self.ok, **asdict(self)}


def audit(
    repository: Path | Store, public_key: PublicKey | Path | None = None, *, known_event: str | None = None
) -> AuditReport:
    """Check a whole record.

    Args:
        repository: a session's git directory, a clone that fetched all its refs, a bundle, or an open store.
        public_key: the key that must have signed it (or its PEM file); without it the record's own word is taken.
        known_event: the `last_event` of an earlier audit, which the log must still hold.

    Raises:
        RecordError: there is no git directory, or the key cannot be read. What is wrong inside a record is a problem in the
            report, never an exception.
    """
    key = PublicKey.read(public_key) if isinstance(public_key, Path) else public_key
    if isinstance(repository, Store):
        return _Audit(repository, key).run(known_event)
    with opened(repository) as store:
        return _Audit(store, key).run(known_event)


class _Audit:
    """One pass over a log; fields hold what the events so far established."""

    def __init__(self, store: Store, pinned: PublicKey | None) -> None:
        self.store = store
        self.pinned = pinned
        self.key = pinned
        self.problems: list[Problem] = []
        self.rows: list[Row] = []
        self.events: list[Event] = []
        self.start: Event | None = None
        self.trusted: dict[str, Entry] = {}
        self.pending: Event | None = None
        self.seeds: dict[int, str] = {}
        self.summary: str | None = None
        self.attempts = 0
        self.dollars = 0.0

    def run(self, known_event: str | None) -> AuditReport:
        for position, commit in enumerate(self._commits()):
            self._safely(position, lambda position=position, commit=commit: self._event(position, commit))
        if known_event is not None and known_event not in {event.digest for event in self.events}:
            self._problem(
                "log", None, f"the event {known_event}, known from before, is not in it: it was cut off or made anew"
            )
        self._safely(None, self._refs)
        detail = self.start.detail if self.start else {}
        return AuditReport(
            session=str(detail.get("session", "")),
            task=str(self.start.arguments.get("task", "")) if self.start else "",
            task_digest=str(detail.get("task_digest", "")),
            key=self.key.id if self.key else "",
            pinned=self.pinned is not None,
            events=len(self.events),
            last_event=self.events[-1].digest if self.events else "",
            rows=tuple(self.rows),
            problems=tuple(self.problems),
            first_bad=self._first_bad(),
        )

    def _first_bad(self) -> str | None:
        broken = [problem.seq for problem in self.problems if problem.seq is not None]
        after = (event.commit for event in verified(self.events) if broken and event.seq >= min(broken))
        return next(after, None)

    def _problem(self, rule: str, seq: int | None, what: str) -> None:
        self.problems.append(Problem(rule, seq, what))

    def _require(self, holds: bool, rule: str, event: Event, what: str) -> None:
        if not holds:
            self._problem(rule, event.seq, f"event {event.seq} ({event.kind}): {what}")

    def _safely(self, seq: int | None, check: Callable[[], None]) -> None:
        """Run a check on data that somebody may have tampered with: whatever goes wrong is a finding."""
        place = "the refs" if seq is None else f"event {seq}"
        try:
            check()
        except RecordError as error:
            self._problem("damaged", seq, f"{place}: {error.what}")
        except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
            self._problem("malformed", seq, f"{place}: {type(error).__name__}: {error}")

    def _commits(self) -> list[str]:
        head = self.store.refs().get(EVENTS)
        if head is None:
            self._problem("log", None, f"there is no {EVENTS}: clone with --mirror, or fetch '+refs/*:refs/*'")
            return []
        try:
            return event_commits(self.store, head)
        except RecordError as error:
            self._problem("log", None, f"the log cannot be followed to its start: {error.what}")
            return []

    # One event

    def _event(self, position: int, commit: str) -> None:
        content = event_file(self.store, commit, EVENT_FILE)
        event = Event.decode(content, commit)
        before = self.events[-1] if self.events else None
        self.events.append(event)
        if event.seq != position:
            self._problem("order", position, f"event {event.seq} stands at place {position}: the log was rearranged")
        digest = before.digest if before else ""
        self._require(event.previous == digest, "chain", event, "it does not follow the event that stands before it")
        self._require((event.kind == START) == (position == 0), "order", event, "a start belongs at the beginning only")
        verifies = event.commit is None or event.kind == VERDICT
        self._require(verifies, "ancestry", event, "only a verdict can verify a commit")
        # One by one, so that what is damaged hides nothing of the rest.
        if position == 0:
            self._safely(position, lambda: self._begin(event))
        self._safely(position, lambda: self._check_signature(event, content))
        self._safely(position, lambda: self._check_contents(event, before))
        self._safely(position, lambda: self._count(event))
        if event.kind == ATTEMPT:
            self._safely(position, lambda: self._attempt(event))
        elif event.kind == VERDICT:
            self._safely(position, lambda: self._verdict(event))
        elif event.kind == INTERRUPTED:
            self.pending = None

    def _begin(self, event: Event) -> None:
        self.start = event
        recorded = PublicKey.from_json(event.detail["key"])
        self._require(
            self.pinned in (None, recorded), "key", event, f"the session's key is {recorded.id}, not the one given"
        )
        self.key = self.pinned or recorded
        files = self.store.files(_workspace(event)["gitTree"])
        self.trusted = trusted_part(files)
        found = task_digest(self.store, self.trusted)
        stated = event.detail["task_digest"]
        self._require(found == stated, "trusted", event, f"the task's digest is {found}, stated is {stated}")

    def _check_signature(self, event: Event, content: bytes) -> None:
        signature = event_file(self.store, event.id, SIGNATURE_FILE)
        signed = self.key is not None and self.key.verifies(content, PAYLOAD_TYPE, signature)
        self._require(signed, "signature", event, "its signature does not verify with the session's key")

    def _check_contents(self, event: Event, before: Event | None) -> None:
        workspace, files = event_contents(self.store, event)
        stated = event.workspace or {}
        self._require(workspace == stated.get("gitTree"), "contents", event, "its workspace is not the one it states")
        if workspace is not None:
            found = directory_hash(self.store, self.store.files(workspace))
            self._require(found == stated["dirHash"], "contents", event, "its workspace has another SHA-256")
        held = {path: digest for path, digest in files.items() if path not in (EVENT_FILE, SIGNATURE_FILE)}
        for path in sorted(held.keys() | event.attached.keys()):
            self._require(
                held.get(path) == event.attached.get(path), "contents", event, f"{path} is not what it states"
            )
        expected = [parent for parent in (before.id if before else None, event.commit) if parent]
        self._require(
            list(self.store.commit(event.id).parents) == expected, "ancestry", event, "its parents are not as stated"
        )

    def _count(self, event: Event) -> None:
        self.dollars += float(event.usage.get("dollars", 0.0))
        self.attempts += event.kind == ATTEMPT

    def _attempt(self, event: Event) -> None:
        self._require(self.pending is None, "order", event, "the attempt before has no verdict")
        self.pending = event
        # An interrupted attempt may go on with its seed, but a seed that is known must judge no other tree.
        seed, tree = event.seeds.get("run", -1), _workspace(event)["gitTree"]
        drawn = event.detail.get("drawn", True)
        same = not drawn or self.seeds.setdefault(seed, tree) == tree
        self._require(same, "seed", event, f"the seed {seed} had been drawn for another tree")
        changes = trusted_changes(self.store.files(_workspace(event)["gitTree"]), self.trusted)
        self._require(not changes, "trusted", event, f"task or tests are not the session's: {changes}")

    def _verdict(self, event: Event) -> None:
        attempt, self.pending = self.pending, None
        verdict = json.loads(event_file(self.store, event.id, VERDICT_FILE))
        self._require(attempt is not None, "order", event, "there is no attempt that it could be the verdict of")
        if attempt is not None:
            self._require(attempt.arguments == event.arguments, "order", event, "it answers another attempt")
            self._require(attempt.workspace == event.workspace, "tree", event, "it judged another tree than was taken")
            self._require(attempt.seeds.get("run") == verdict["seed"], "seed", event, "its seed is not the attempt's")
        stated = self.start.detail["task_digest"] if self.start else None
        self._require(verdict["outcome"] == event.outcome, "contents", event, "its outcome is not its verdict's")
        self._require(verdict["task_digest"] == stated, "trusted", event, "it judged by another task")
        if event.commit is not None:
            self._commit(event, event.commit, verdict)
        added = cases_added(self.store, event)
        replaced = sorted(path for path in added if self.trusted.get(path, added[path]) != added[path])
        self._require(not replaced, "trusted", event, f"it replaces known cases: {', '.join(replaced)}")
        self.trusted |= added

    # One verified commit

    def _commit(self, event: Event, commit: str, verdict: Mapping[str, Any]) -> None:
        passed = {report["level"] for report in verdict["levels"] if report["outcome"] == Outcome.PASS}
        complete = verdict["outcome"] == Outcome.PASS and passed >= set(event.arguments["levels"])
        self._require(complete, "verdict", event, f"commit {commit} did not pass what was asked")
        self._require(event.detail.get("counts") is True, "verdict", event, f"commit {commit} had a chosen seed")
        parents = (self.rows[-1].commit,) if self.rows else ()
        found = self.store.commit(commit)
        self.rows.append(self._row(event, found.message.split("\n", 1)[0], verdict))
        self.attempts, self.dollars = 0, 0.0
        tree = _workspace(event)["gitTree"]
        self._require(found.tree == tree, "tree", event, f"commit {commit} is not the tree that was verified")
        self._require(found.parents == parents, "ancestry", event, f"commit {commit} has another parent")
        claims = trailers_in(found.message)
        self._require(claims == trailers(verdict), "message", event, f"commit {commit} claims what was not verified")
        self._check_attestations(event, commit, verdict)

    def _check_attestations(self, event: Event, commit: str, verdict: Mapping[str, Any]) -> None:
        if self.key is None:
            raise RecordError("there is no key to check attestations with")
        place = _workspace(event)
        subject = {"gitCommit": commit, "gitTree": place["gitTree"], "dirHash": place["dirHash"]}
        before, self.summary = self.summary, event.attached.get(SUMMARY_FILE)
        names = [SUMMARY_FILE, *(f"{DIRECTORY}/level-{report['level']}.json" for report in verdict["levels"])]
        for name in names:
            try:
                sealed = event_file(self.store, event.id, name)
                statement = unseal(sealed, self.key)
            except RecordError as error:
                self._require(False, "attestation", event, f"{name} of commit {commit}: {error.what}")
                continue
            predicate = statement["predicate"]
            about = statement["subject"][0]["digest"]
            self._require(about == subject, "attestation", event, f"{name} is not about commit {commit}")
            if name == SUMMARY_FILE:
                self.rows[-1] = replace(self.rows[-1], machine=predicate["lockstep"]["machine"])
                self._require(predicate["lockstep"]["parent"] == before, "attestation", event, f"{name}: chain broken")
                digest = predicate["policy"]["digest"]["sha256"]
                self._require(digest == verdict["task_digest"], "attestation", event, f"{name} names another task")
                inputs = {item["uri"]: item["digest"]["sha256"] for item in predicate["inputAttestations"]}
                same = inputs == {path: event.attached.get(path) for path in names[1:]}
                self._require(same, "attestation", event, f"{name} rests on other attestations")
            else:
                report = predicate["lockstep"]
                self._require(report in verdict["levels"], "attestation", event, f"{name} is not the verdict's report")

    def _row(self, event: Event, message: str, verdict: Mapping[str, Any]) -> Row:
        levels = verdict["levels"]
        bounds = [level["divergence_bound_95"] for level in levels if level["divergence_bound_95"] is not None]
        return Row(
            seq=event.seq,
            commit=str(event.commit),
            time=event.time,
            message=message,
            level=event.arguments["level"],
            module=event.arguments["module"],
            levels=tuple({k: v for k, v in level.items() if k != "checks"} for level in levels),
            examples=sum(level["examples"] for level in levels),
            episodes=sum(level["episodes"] for level in levels),
            steps=sum(level["steps"] for level in levels),
            bound=min(bounds, default=None),
            seed=verdict["seed"],
            sandbox=verdict["sandbox"]["driver"],
            isolated=verdict["sandbox"]["isolated"],
            duration_s=event.duration_s,
            attempts=self.attempts,
            dollars=round(self.dollars, 6),
        )

    # The refs

    def _refs(self) -> None:
        if not self.events:
            return
        refs = self.store.refs()
        for what in stray_refs(refs, self.events):
            self._problem("ref", None, what)
        done = verified(self.events)
        if not done:
            return
        newest = done[-1]
        behind = "; if a process was killed, open the session once" if refs.get(MAIN) else ""
        if refs.get(MAIN) != newest.commit and refs.get(MAIN) in {None, *(event.commit for event in done)}:
            where = f"at {refs[MAIN]}" if MAIN in refs else "missing"
            self._problem("ref", newest.seq, f"{MAIN} is {where}, the log's newest is {newest.commit}{behind}")
        for event in done:
            if f"{ATTESTATIONS}{event.commit}" not in refs:
                self._problem("ref", event.seq, f"{ATTESTATIONS}{event.commit} is missing")
        notes = refs.get(NOTES)
        if notes is None or self.store.commit(notes).tree != object_id("tree", notes_content(self.store, done)):
            self._problem("ref", None, f"{NOTES} does not hold what the log says")


def _workspace(event: Event) -> Mapping[str, str]:
    if event.workspace is None:
        raise RecordError(f"a {event.kind} states no workspace")
    return event.workspace
