"""One walk over a log, from its first event to its last, and then over the refs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from harness.assurance.audit.certificates import Certificates
from harness.assurance.audit.commits import Commits
from harness.assurance.audit.findings import Findings
from harness.assurance.audit.gate import Gate
from harness.assurance.audit.isolation import RULE as ISOLATION
from harness.assurance.audit.isolation import Isolation
from harness.assurance.audit.keychain import KeyChain
from harness.assurance.audit.refs import Refs
from harness.assurance.audit.report import AuditReport
from harness.assurance.audit.specifications import Specifications
from harness.errors import RecordError
from harness.record.event import EVENT_FILE, SIGNATURE_FILE, START, VERDICT_FILE, Event
from harness.record.keys import PublicKey
from harness.record.log import EVENTS, cases_added, event_commit, event_commits, event_contents, event_file
from harness.record.objects import Entry, encode_commit, object_id
from harness.record.rotation import ROTATED, appointed
from harness.record.snapshot import directory_hash, task_digest, trusted_changes, trusted_part
from harness.record.specification import FROZEN
from harness.record.store import Store
from harness.record.task_update import TASK_UPDATED, objections, stating_task, task_in_force
from harness.session.recipe import ATTEMPT, INTERRUPTED, VERDICT
from harness.support.foreign import json_of
from harness.task.contract import CASES_DIRECTORY


class Walk:
    """One pass over a record; fields hold what the events so far established. Used once."""

    def __init__(self, store: Store, unisolated: Sequence[PublicKey] = ()) -> None:
        self._store = store
        self._findings = Findings()
        self._chain = KeyChain(self._findings, unisolated)
        self._isolation = Isolation(self._findings, unisolated)
        self._commits = Commits(store, self._findings)
        self._certificates = Certificates(store, self._findings, self._isolation)
        self._specifications = Specifications(store, self._findings, self._isolation, self._commits)
        self._refs = Refs(store, self._findings)
        self._events: list[Event] = []
        self._positions: list[int] = []
        self._trusted: dict[str, Entry] = {}
        self._tasks: list[dict[str, Any]] = []
        self._pending: Event | None = None
        self._seeds: dict[int, str] = {}
        self._trees: dict[str, tuple[Mapping[str, Entry], str]] = {}

    def report(
        self, pinned: PublicKey | None, known_event: str | None, session: str | None, gate: Gate | None
    ) -> AuditReport:
        """Look at everything; see `harness.assurance.audit.audit`."""
        findings = self._findings
        for position, commit in enumerate(self._log()):
            findings.position = position
            findings.safely(partial(self._event, position, commit))
        findings.position = 0 if self._events else None
        detail = self._events[0].detail if self._events else {}
        found = str(detail.get("session", ""))
        if session is not None and found != session:
            findings.add("session", findings.position, f"it is the record of the session {found!r}, not of {session!r}")
        if pinned is not None and self._events and not self._chain.vouched(pinned):
            keys = ", ".join(link.key.id for link in self._chain.links) or "none"
            findings.add("key", 0, f"the key given, {pinned.id}, did not sign it; its keys are {keys}")
        elif pinned is not None and (later := self._chain.stands_for_less(pinned)) is not None:
            since = (
                f"from event {later.position} on it is signed by {later.key.id}, a key for sessions without isolation"
            )
            findings.add(ISOLATION, later.position, f"the key given, {pinned.id}, does not vouch for it: {since}")
        findings.position = None
        if known_event is not None and known_event not in {event.digest for event in self._events}:
            what = f"the event {known_event}, known from before, is not in it: it was cut off or made again"
            findings.add("log", None, what)
        findings.safely(lambda: self._refs.check(dict(zip(self._positions, self._events, strict=True))))
        if gate is not None:
            findings.safely(lambda: self._gate(gate))
        last_good, first_bad = self._reliable()
        return AuditReport(
            session=found,
            task=str(self._events[0].arguments.get("task", "")) if self._events else "",
            task_digest=task_in_force(self._events) if self._events else "",
            tasks=tuple(self._tasks),
            key=self._chain.key.id if self._chain.key else "",
            keys=tuple(
                {"id": link.key.id, "from": link.position, "isolated": link.isolated} for link in self._chain.links
            ),
            isolated=self._isolation.isolated,
            pinned=pinned is not None,
            events=len(self._events),
            last_event=self._events[-1].digest if self._events else "",
            rows=tuple(self._commits.rows),
            problems=tuple(findings.problems),
            last_good=last_good,
            first_bad=first_bad,
            gate=None if gate is None else gate.to_json(),
        )

    def _log(self) -> list[str]:
        """The commits of the log, oldest first; empty, which is noted, where they cannot be followed to the first."""
        head = self._store.refs().get(EVENTS)
        if head is None:
            self._findings.add("log", None, f"there is no {EVENTS}: clone with --mirror, or fetch '+refs/*:refs/*'")
            return []
        try:
            return event_commits(self._store, head)
        except RecordError as error:
            self._findings.add("log", None, f"the log cannot be followed to its start: {error.what}")
            return []

    def _gate(self, gate: Gate) -> None:
        for what in gate.objections(self._store, self._commits.rows, stating_task(self._events)):
            self._findings.add("gate", None, what)

    def _reliable(self) -> tuple[str | None, str | None]:
        """The newest commit that can be relied on, and the first that cannot."""
        broken = min((p.seq for p in self._findings.problems if p.seq is not None), default=None)
        good: list[str] = []
        bad: list[str] = []
        for position, event in zip(self._positions, self._events, strict=True):
            if event.commit:
                (good if broken is None or position < broken else bad).append(event.commit)
        if self._refs.strayed is None:
            return (good[-1] if good else None), (bad[0] if bad else None)
        fork, first = self._refs.strayed
        if fork is not None and fork not in good:  # what was verified is broken before `main` leaves it
            return (good[-1] if good else None), (bad[0] if bad else first)
        return fork, first

    # One event

    def _event(self, position: int, commit: str) -> None:
        findings, require = self._findings, self._findings.require
        content = event_file(self._store, commit, EVENT_FILE)
        event = Event.decode(content, commit)
        before = self._events[-1] if self._events else None
        self._events.append(event)
        self._positions.append(position)
        if event.seq != position:
            findings.add("order", position, f"event {event.seq} stands at place {position}: the log was rearranged")
        digest = before.digest if before else ""
        require(event.previous == digest, "chain", event, "it does not follow the event that stands before it")
        require((event.kind == START) == (before is None), "order", event, "a start belongs at the beginning only")
        # A specification has no verdict: what freezes it is held to rules of its own.
        verifies = event.commit is None or event.kind in (VERDICT, FROZEN)
        require(verifies, "ancestry", event, "only a verdict can verify a commit")
        # One by one, so that what is damaged hides nothing of the rest.
        key = self._chain.key
        findings.safely(lambda: self._check_signature(event, content, before))
        if event.kind in (START, ROTATED):
            findings.safely(lambda: self._isolation.take(event, appointed(event)))
        if before is None:
            findings.safely(lambda: self._begin(event))
        findings.safely(lambda: self._check_contents(event, before))
        findings.safely(lambda: self._commits.count(event))
        if event.kind == ATTEMPT:
            findings.safely(lambda: self._attempt(event))
        elif event.kind == VERDICT:
            findings.safely(lambda: self._verdict(event, key))
        elif event.kind == INTERRUPTED:
            self._pending = None
        elif event.kind == TASK_UPDATED:
            findings.safely(lambda: self._task_update(event))
        findings.safely(lambda: self._certificates.check(event, self._events[:-1], key))
        findings.safely(lambda: self._specifications.check(event, self._events[:-1], key))

    def _begin(self, event: Event) -> None:
        files, _ = self._workspace(event)
        self._trusted = trusted_part(files)
        found, stated = task_digest(self._store, self._trusted), event.detail["task_digest"]
        self._findings.require(found == stated, "trusted", event, f"the task's digest is {found}, stated is {stated}")
        self._tasks.append({"digest": found, "from": event.seq})

    def _task_update(self, event: Event) -> None:
        """A changed task is stated as the first one is, by a person where the session has a key for that."""
        require, before = self._findings.require, self._trusted
        require(self._pending is None, "order", event, "the attempt before has no verdict")
        self._begin(event)
        gone = {path for path in before.keys() - self._trusted.keys() if path.startswith(f"{CASES_DIRECTORY}/")}
        hidden = ", ".join(sorted(gone - {*event.detail["dropped"], *event.detail["changes"]["deleted"]}))
        require(not hidden, "trusted", event, f"known cases are gone, and it does not say so: {hidden}")
        for what in objections(self._store, self._events[:-1], event):
            require(False, "trusted", event, what)

    def _check_signature(self, event: Event, content: bytes, before: Event | None) -> None:
        signature = event_file(self._store, event.id, SIGNATURE_FILE)
        self._chain.take(event, content, signature, starts=before is None, rotates=event.kind == ROTATED)

    def _check_contents(self, event: Event, before: Event | None) -> None:
        require = self._findings.require
        workspace, files = event_contents(self._store, event)
        stated = event.workspace or {}
        require(workspace == stated.get("gitTree"), "contents", event, "its workspace is not the one it states")
        if workspace is not None:
            _, found = self._tree(workspace)
            require(found == stated["dirHash"], "contents", event, "its workspace has another SHA-256")
        held = {path: digest for path, digest in files.items() if path not in (EVENT_FILE, SIGNATURE_FILE)}
        for path in sorted(held.keys() | event.attached.keys()):
            require(held.get(path) == event.attached.get(path), "contents", event, f"{path} is not what it states")
        commit = self._store.commit(event.id)
        expected = event_commit(event, commit.tree, before.id if before else None)
        if commit.parents != expected.parents:
            require(False, "ancestry", event, "its parents are not as stated")
        else:
            same = object_id("commit", encode_commit(expected)) == event.id
            require(same, "contents", event, "its commit says something else than the event in it")

    def _attempt(self, event: Event) -> None:
        require = self._findings.require
        require(self._pending is None, "order", event, "the attempt before has no verdict")
        self._pending = event
        files, tree = self._workspace(event)
        # An interrupted attempt may go on with its seed, but a seed that is known must judge no other tree.
        seed, drawn = event.seeds.get("run", -1), event.detail.get("drawn", True)
        same = not drawn or self._seeds.setdefault(seed, tree) == tree
        require(same, "seed", event, f"the seed {seed} had been drawn for another tree")
        changes = trusted_changes(files, self._trusted)
        require(not changes, "trusted", event, f"task or tests are not the session's: {changes}")

    def _verdict(self, event: Event, key: PublicKey | None) -> None:
        require, start = self._findings.require, self._events[0]
        attempt, self._pending = self._pending, None
        verdict = json_of(event_file(self._store, event.id, VERDICT_FILE))
        require(attempt is not None, "order", event, "there is no attempt that it could be the verdict of")
        if attempt is not None:
            require(attempt.arguments == event.arguments, "order", event, "it answers another attempt")
            require(attempt.workspace == event.workspace, "tree", event, "it judged another tree than was taken")
            require(attempt.seeds.get("run") == verdict["seed"], "seed", event, "its seed is not the attempt's")
        require(verdict["outcome"] == event.outcome, "contents", event, "its outcome is not its verdict's")
        same_task = verdict["task_digest"] == task_in_force(self._events)
        require(same_task, "trusted", event, "it judged by another task")
        self._findings.safely(lambda: self._isolation.check(event, verdict["sandbox"]))
        if event.commit is not None:
            if key is None:
                raise RecordError("there is no key to check attestations with")
            cases = sum(path.startswith(f"{CASES_DIRECTORY}/") for path in self._trusted)
            self._commits.check(event, verdict, start, key, cases)
        added = cases_added(self._store, event)
        replaced = sorted(path for path in added if self._trusted.get(path, added[path]) != added[path])
        require(not replaced, "trusted", event, f"it replaces known cases: {', '.join(replaced)}")
        self._trusted |= added

    def _workspace(self, event: Event) -> tuple[Mapping[str, Entry], str]:
        """The files and the tree of the workspace that an event states."""
        if event.workspace is None:
            raise RecordError(f"a {event.kind} states no workspace")
        tree = event.workspace["gitTree"]
        return self._tree(tree)[0], tree

    def _tree(self, tree: str) -> tuple[Mapping[str, Entry], str]:
        """The files of a tree and their SHA-256; many events are about the same one."""
        if tree not in self._trees:
            files = self._store.files(tree)
            self._trees[tree] = (files, directory_hash(self._store, files))
        return self._trees[tree]
