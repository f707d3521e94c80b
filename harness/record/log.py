"""The event log: one signed commit for each thing that happened, and the refs that follow from it.

`refs/lockstep/events` points at the newest event; first parents lead back to the first. An event's tree holds
`event.json`, its detached signature `event.sig`, the snapshot `workspace/`, and what is attached (`verdict.json`,
`attestations/`, new `cases/`). The commit that an event verified is its second parent, so whoever has the log has
everything. Moving that one ref is the moment at which something has happened. `refs/heads/main`,
`refs/lockstep/attestations/<commit>` and the notes only repeat what the log says and are made again from it on opening.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from harness.errors import RecordError
from harness.record.attest import SUMMARY_FILE
from harness.record.bounds import MAX_EVENTS, too_large
from harness.record.event import EVENT_FILE, PAYLOAD_TYPE, SIGNATURE_FILE, WORKSPACE, Event, now, seconds
from harness.record.isolation import isolates
from harness.record.keyring import Keyring
from harness.record.names import objection
from harness.record.objects import FILE, TREE, Commit, Entry, encode_tree, identity
from harness.record.rotation import ROTATED, handing_over, key_in_force
from harness.record.snapshot import Snapshot
from harness.record.store import Store
from harness.task.contract import CASES_DIRECTORY

EVENTS = "refs/lockstep/events"
MAIN = "refs/heads/main"
NOTES = "refs/notes/lockstep"
ATTESTATIONS = "refs/lockstep/attestations/"

FULL = "begin another session from what this one committed (`lockstep export`)"
HARNESS = "Lockstep harness <harness@lockstep.invalid>"


def read_events(store: Store, head: str | None = None) -> list[Event]:
    """The whole log up to the event commit `head` (by default where the ref is), oldest first.

    Signatures are the audit's business.

    Raises:
        RecordError: there is no log, or it is damaged.
    """
    head = head or store.refs().get(EVENTS)
    if head is None:
        raise RecordError(
            f"there is no {EVENTS}",
            where=str(store.path),
            expected="the git directory of a session, or a clone of it with all its refs",
            next_step="clone with `git clone --mirror`, or fetch '+refs/lockstep/*:refs/lockstep/*'",
        )
    return [Event.decode(event_file(store, commit, EVENT_FILE), commit) for commit in event_commits(store, head)]


def event_commits(store: Store, head: str) -> list[str]:
    """The commits of the log up to `head`, oldest first.

    Raises:
        RecordError: one is missing or damaged.
    """
    found = [head]
    while parents := store.commit(found[-1]).parents:
        found.append(parents[0])
        if len(found) > MAX_EVENTS:
            raise too_large("the log is too long", MAX_EVENTS, "events", head)
    return found[::-1]


def event_entry(store: Store, commit: str, path: str) -> Entry:
    """The entry of a file in an event's tree.

    Raises:
        RecordError: it is missing or damaged, or its path has a part that no workspace may have, such as `..`.
    """
    tree = store.commit(commit).tree
    *parents, name = path.split("/")
    for part in (*parents, name):
        if reason := objection(part):
            raise RecordError(f"a recorded file {reason}", where=f"event commit {commit}, {path!r}")
    try:
        for parent in parents:
            tree = store.tree(tree)[parent].id
        return store.tree(tree)[name]
    except KeyError:
        raise RecordError(f"{path} is missing", where=f"event commit {commit}") from None


def snapshot_of(events: Sequence[Event]) -> str:
    """The tree of the newest snapshot in these events.

    Raises:
        RecordError: there is none.
    """
    for event in reversed(events):
        if event.workspace is not None:
            return event.workspace["gitTree"]
    raise RecordError("the log holds no snapshot of the workspace", expected="one in its first event")


def cases_added(store: Store, event: Event) -> dict[str, Entry]:
    """The cases that an event brought, keyed by their path in the workspace. Raises RecordError as `event_entry` does."""
    return {
        path: event_entry(store, event.id, path) for path in event.attached if path.startswith(f"{CASES_DIRECTORY}/")
    }


def event_contents(store: Store, event: Event) -> tuple[str | None, dict[str, str]]:
    """The workspace's tree and the SHA-256 of every other file that an event's commit really holds.

    Raises:
        RecordError: something of it is missing, damaged, or no plain file as the log writes them.
    """
    workspace, files = None, {}
    for name, entry in store.tree(store.commit(event.id).tree).items():
        if name == WORKSPACE and entry.mode == TREE:
            workspace = entry.id
        elif entry.mode == TREE:
            files |= {f"{name}/{path}": below for path, below in store.files(entry.id).items()}
        else:
            files[name] = entry
    for path, entry in files.items():
        if entry.mode != FILE:
            raise RecordError(f"{path} has mode {entry.mode}", where=f"event commit {event.id}", expected=FILE)
    return workspace, {path: store.sha256(entry.id) for path, entry in files.items()}


def event_commit(event: Event, tree: str, before: str | None) -> Commit:
    """The commit that holds an event: everything in it but the tree follows from the event and its predecessor's commit."""
    who = identity(HARNESS, seconds(event.time))
    parents = tuple(parent for parent in (before, event.commit) if parent)
    return Commit(tree, parents, who, who, f"{event.seq} {event.kind}{': ' + event.outcome if event.outcome else ''}\n")


def event_file(store: Store, commit: str, path: str) -> bytes:
    """The content of a file in an event's tree. Raises RecordError as `event_entry` does."""
    return store.blob(event_entry(store, commit, path).id)


class EventLog:
    """The log of a session that this process may write.

    One whose newest key was rotated away is handed over to the present key first: that is the event `rotated`, the last that
    the old key signs. Until it is written nothing has changed, so a process killed before it leaves that to the next. Which
    kind of key is the session's follows from the log (`isolation`); for a new one it is that of the keyring.

    Attributes:
        key: what signs events and attestations from now on.
        events: the whole log, oldest first; it grows with `append`.

    Raises:
        RecordError: the key that the session stands with is not in this home (nothing is written then), a ref is where the
            log never put it, or the log is damaged.
    """

    def __init__(self, store: Store, keyring: Keyring) -> None:
        self._store = store
        refs = store.refs()
        self.events: list[Event] = read_events(store, refs[EVENTS]) if EVENTS in refs else []
        if self.events:
            keyring = keyring.of(isolates(self.events))
        self.key = keyring.holding(key_in_force(self.events)) if self.events else keyring.present
        _derive_refs(store, refs, self.events)
        present = keyring.present
        if present.public != self.key.public:
            last = self.events[-1]
            detail = handing_over(present, last.seq + 1, last.digest, isolated=keyring.isolated)
            self.append(ROTATED, detail=detail)
            self.key = present

    def append(
        self,
        kind: str,
        *,
        time: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        outcome: str = "",
        detail: Mapping[str, Any] | None = None,
        seeds: Mapping[str, int] | None = None,
        duration_s: float = 0.0,
        usage: Mapping[str, float] | None = None,
        workspace: Snapshot | None = None,
        commit: str | None = None,
        attached: Mapping[str, bytes] | None = None,
    ) -> Event:
        """Record one event; when this returns it is durable, and the refs that follow from it are moved.

        Raises:
            RecordError: it could not be written, or the log is as long as one may be; then nothing has happened, except
                where the error came from moving a ref that only follows from the log, which the next opening moves.
        """
        store = self._store
        if len(self.events) >= MAX_EVENTS:  # nobody could read it any more
            raise RecordError(
                f"the log has {MAX_EVENTS} events, and cannot grow", where=str(store.path), next_step=FULL
            )
        last = self.events[-1] if self.events else None
        files = dict(attached or {})
        event = Event(
            seq=len(self.events),
            time=time or now(),
            kind=kind,
            arguments=dict(arguments or {}),
            outcome=outcome,
            detail=dict(detail or {}),
            seeds=dict(seeds or {}),
            duration_s=round(duration_s, 3),
            usage=dict(usage or {}),
            workspace=None if workspace is None else {"gitTree": workspace.tree, "dirHash": workspace.digest},
            commit=commit,
            attached={path: sha256(content).hexdigest() for path, content in sorted(files.items())},
            previous=last.digest if last else "",
        )
        content = event.encode()
        files |= {EVENT_FILE: content, SIGNATURE_FILE: self.key.sign(content, PAYLOAD_TYPE)}
        entries = {path: Entry(FILE, store.put_file(content)) for path, content in files.items()}
        if workspace is not None:
            entries[WORKSPACE] = Entry(TREE, workspace.tree)
        identifier = store.put_commit(event_commit(event, store.put_tree(entries), last.id if last else None))
        store.move_refs({EVENTS: (identifier, last.id if last else None)})
        event = dataclasses.replace(event, id=identifier, digest=sha256(content).hexdigest())
        self.events.append(event)
        if commit is not None:
            _derive_refs(store, store.refs(), self.events)
        return event


def verified(events: Sequence[Event]) -> list[Event]:
    """The events that verified a commit."""
    return [event for event in events if event.commit]


def stray_refs(refs: Mapping[str, str], events: Sequence[Event]) -> dict[str, str]:
    """What is wrong with the refs, by their names, as far as no crash can explain it."""
    holders = {event.commit: event.id for event in verified(events)}
    problems = {}
    for name, identifier in refs.items():
        if name == MAIN and identifier not in holders:
            problems[name] = f"{MAIN} is at {identifier}, which the log never verified"
        elif name.startswith(ATTESTATIONS) and holders.get(name.removeprefix(ATTESTATIONS)) != identifier:
            problems[name] = f"{name} is at {identifier}, which is not what the log says"
        elif name.startswith("refs/replace/"):
            problems[name] = f"{name} would show another object in place of a recorded one"
    return problems


def notes_entries(store: Store, done: Sequence[Event]) -> dict[str, Entry]:
    """The tree of the notes for `git log --notes=lockstep`: for each verified commit, its summary attestation."""
    return {str(event.commit): event_entry(store, event.id, SUMMARY_FILE) for event in done}


def _derive_refs(store: Store, refs: Mapping[str, str], events: Sequence[Event]) -> None:
    """Move every ref that follows from the log to where the log says.

    A crash can only leave such a ref behind the log, because the log moves first. So one that is anywhere else was moved
    by somebody, or the log was moved back: that is named, and nothing is touched.
    """
    if problems := stray_refs(refs, events):
        raise RecordError(
            "; ".join(problems.values()),
            where=str(store.path),
            expected="refs that only this harness moves",
            next_step="run the audit to see what is still valid; nothing was changed",
        )
    done = verified(events)
    if not done:
        return
    wanted = {f"{ATTESTATIONS}{event.commit}": event.id for event in done} | {MAIN: str(done[-1].commit)}
    notes, current = store.put("tree", encode_tree(notes_entries(store, done))), refs.get(NOTES)
    if current is None or store.commit(current).tree != notes:
        who = identity(HARNESS, seconds(done[-1].time))
        parents = () if current is None else (current,)
        wanted[NOTES] = store.put_commit(Commit(notes, parents, who, who, "Notes from the log\n"))
    store.move_refs({name: (new, refs.get(name)) for name, new in wanted.items() if refs.get(name) != new})
