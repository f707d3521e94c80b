"""Somebody with write access to a clone and without the key, who knows the format of a record as well as its makers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.errors import RecordError
from harness.record.attest import SUMMARY_FILE
from harness.record.event import EVENT_FILE, PAYLOAD_TYPE, SIGNATURE_FILE, VERDICT_FILE, WORKSPACE, Event
from harness.record.keys import SigningKey
from harness.record.log import ATTESTATIONS, EVENTS, MAIN, NOTES, event_commit, event_commits, event_file
from harness.record.objects import FILE, Commit, Entry, identity
from harness.record.snapshot import directory_hash
from harness.record.store import Store

WHO = identity("Somebody <s@example.invalid>", 1_700_000_000)


@dataclass
class Page:
    """One event of a log that is being written anew: the event, and the files of its tree by path."""

    event: Event
    files: dict[str, Entry] = field(default_factory=dict)

    @property
    def held(self) -> dict[str, Entry]:
        """What is attached to the event."""
        return {
            path: entry for path, entry in self.files.items() if path not in (EVENT_FILE, SIGNATURE_FILE, WORKSPACE)
        }


class Forger:
    """Reads a record into `pages`, in which anything may be changed, and publishes them as a log with all its refs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = Store(path)
        self.made = ""
        self.read()

    def read(self) -> None:
        """Read the log as it is now."""
        pages = []
        for commit in event_commits(self.store, self.refs[EVENTS]):
            event = Event.decode(event_file(self.store, commit, EVENT_FILE), commit)
            pages.append(Page(event, self._files(commit)))
        self.pages: list[Page] = pages

    @property
    def refs(self) -> dict[str, str]:
        return self.store.refs()

    @property
    def events(self) -> list[Event]:
        return [page.event for page in self.pages]

    @property
    def verified(self) -> list[Event]:
        return [event for event in self.events if event.commit]

    def git(self, *arguments: str) -> str:
        command = ["git", "--git-dir", str(self.path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def file(self, content: bytes) -> Entry:
        return Entry(FILE, self.store.put_file(content))

    def content(self, seq: int, path: str) -> bytes:
        return self.store.blob(self.pages[seq].files[path].id)

    # Changing pages

    def put(self, seq: int, path: str, content: bytes) -> None:
        """Put a file into an event's tree; the event goes on stating the old one."""
        self.pages[seq].files[path] = self.file(content)

    def edit(self, seq: int, **changes: Any) -> None:
        """Change an event's fields, and its event.json with them."""
        page = self.pages[seq]
        page.event = replace(page.event, **changes)
        page.files[EVENT_FILE] = self.file(page.event.encode())

    def edit_verdict(self, seq: int, change: Callable[[dict[str, Any]], None]) -> None:
        """Change a verdict's content."""
        verdict = json.loads(self.content(seq, VERDICT_FILE))
        change(verdict)
        self.put(seq, VERDICT_FILE, json.dumps(verdict, indent=1, sort_keys=True).encode() + b"\n")

    def edit_workspaces(self, path: str, change: Callable[[bytes], bytes], pages: Iterable[Page]) -> None:
        """Change a file in the workspaces of events, with everything that states them: digests, and commits."""
        commits: dict[str, str] = {}
        for page in pages:
            if page.event.workspace is None:
                continue
            files = self.store.files(page.event.workspace["gitTree"])
            files[path] = self.file(change(self.store.blob(files[path].id)))
            tree = self.store.put_tree(files)
            page.files[WORKSPACE] = Entry("40000", tree)
            changes: dict[str, Any] = {
                "workspace": {"gitTree": tree, "dirHash": directory_hash(self.store, files)},
            }
            if page.event.commit:
                found = self.store.commit(page.event.commit)
                parents = tuple(commits.get(parent, parent) for parent in found.parents)
                commits[page.event.commit] = self.store.put_commit(replace(found, tree=tree, parents=parents))
                changes["commit"] = commits[page.event.commit]
            page.event = replace(page.event, **changes)

    # Publishing

    def consistent(self, key: SigningKey | None = None, *, signed_from: int = 0) -> None:
        """Renumber and chain all events again, each stating what its tree holds; signed anew where there is a key."""
        previous = ""
        for seq, page in enumerate(self.pages):
            attached = {path: sha256(self.store.blob(entry.id)).hexdigest() for path, entry in page.held.items()}
            event = replace(page.event, seq=seq, previous=previous, attached=dict(sorted(attached.items())))
            content = event.encode()
            page.event = replace(event, digest=sha256(content).hexdigest())
            page.files[EVENT_FILE] = self.file(content)
            if key is not None and seq >= signed_from:
                page.files[SIGNATURE_FILE] = self.file(key.sign(content, PAYLOAD_TYPE))
            previous = page.event.digest

    def publish(self, *, titles: Mapping[int, str] | None = None) -> None:
        """Write the pages as a log, and move every ref that follows from it; `titles` are those of other commits."""
        parent, holders, notes = None, {}, {}
        for place, page in enumerate(self.pages):
            commit = event_commit(page.event, self.store.put_tree(page.files), parent)
            if titles and place in titles:
                commit = replace(commit, message=titles[place])
            parent = self.store.put_commit(commit)
            if page.event.commit:
                holders[page.event.commit] = parent
                notes[page.event.commit] = page.files.get(SUMMARY_FILE, self.file(b""))
        for name in self.refs:
            if name.startswith(ATTESTATIONS):
                self.git("update-ref", "-d", name)
        for commit, holder in holders.items():
            self.git("update-ref", f"{ATTESTATIONS}{commit}", holder)
        note = Commit(self.store.put_tree(notes), (), WHO, WHO, "Notes from the log\n")
        self.git("update-ref", NOTES, self.store.put_commit(note))
        self.git("update-ref", MAIN, list(holders)[-1])
        self.git("update-ref", EVENTS, str(parent))
        try:
            self.read()
        except RecordError:
            return  # garbage was put in place of an event

    def _files(self, commit: str) -> dict[str, Entry]:
        tree = self.store.commit(commit).tree
        top = self.store.tree(tree)
        whole = {WORKSPACE: top[WORKSPACE]} if WORKSPACE in top else {}
        return whole | {p: e for p, e in self.store.files(tree).items() if not p.startswith(f"{WORKSPACE}/")}
