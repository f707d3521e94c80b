"""Records: git objects, signed envelopes, whole logs. Whoever is handed one reads what somebody else wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.assurance.audit import Gate, audit
from harness.cli import show_replay
from harness.errors import RecordError
from harness.operations import replaying
from harness.record import attest, log
from harness.record import objects as git
from harness.record.event import START
from harness.record.keys import PublicKey, SigningKey, load_or_create
from harness.record.received import opened
from harness.record.store import Store
from harness.report.document import collect
from harness.report.page import render
from harness.session.history import History
from harness.support.foreign import json_of
from tests.fuzz.mutate import as_bytes, as_text, either, json_text, of_bytes, of_json
from tests.fuzz.target import Target, Wrong, each
from tests.paths import RECORDED_SESSIONS

RECORDED = RECORDED_SESSIONS / "cartpole.bundle"
EVENTS = 7
"""So many events of the recorded session: a start, calls, a failure with its repair, and a verified commit."""
_WHO = git.identity(log.HARNESS, 1_700_000_000)


def objects(directory: Path) -> Target:
    """The content of trees and commits, and events; whatever is read is what its bytes say."""
    commit = git.Commit(
        "a" * 40, ("b" * 40,), _WHO, _WHO, "Words\n\nLockstep-Level: 1 passed\n", "-----BEGIN\n x\n-----END"
    )
    tree = git.encode_tree({"a.py": git.Entry(git.FILE, "c" * 40), "dir": git.Entry(git.TREE, "d" * 40)})
    event = log.Event(3, "2026-01-02T03:04:05.678+00:00", "verdict", outcome="PASS", workspace={"gitTree": "a" * 40})

    def run(data: bytes) -> None:
        reads = (_tree, git.decode_commit, lambda data: log.Event.decode(data, "0" * 40))
        each(*(partial(read, data) for read in reads), allowed=RecordError)

    return Target("objects", [git.encode_commit(commit), tree, event.encode()], run, either(of_bytes, of_json))


def _tree(data: bytes) -> None:
    entries = git.decode_tree(data)
    if git.decode_tree(git.encode_tree(entries)) != entries:
        raise Wrong("a tree that was read is written as another one")


def envelope(directory: Path) -> Target:
    """Signed envelopes, detached signatures, their payloads, and public keys in both forms."""
    key = load_or_create(directory / "home")
    statement = {
        "_type": attest.STATEMENT,
        "subject": [{"digest": {}}],
        "predicateType": attest.SUMMARY,
        "predicate": {},
    }
    payload = json.dumps(statement).encode()
    content = log.Event(0, "2026-01-02T03:04:05.678+00:00", "start").encode()
    seeds = [key.seal(payload, attest.PAYLOAD_TYPE), payload, key.sign(content, log.PAYLOAD_TYPE), key.public.to_pem()]
    seeds.append(json.dumps(key.public.to_json()).encode())
    file = directory / "key.pem"

    def run(data: bytes) -> None:
        if key.public.verifies(content + b" ", log.PAYLOAD_TYPE, data):
            raise Wrong("a signature that nobody made verifies")
        file.write_bytes(data)
        each(
            lambda: attest.unseal(data, key.public),
            lambda: attest.unseal(key.seal(data, attest.PAYLOAD_TYPE), key.public),
            lambda: PublicKey.from_json(_value(data)),
            lambda: PublicKey.read(file),
            allowed=RecordError,
        )

    return Target("envelope", seeds, run, either(of_json, of_bytes))


def _value(data: bytes) -> Any:
    try:
        return json_of(data)
    except ValueError:  # a description of a key comes out of an event, which was JSON
        return None


class Memory(Store):
    """A store whose objects and refs are in memory, each under the id that its content has."""

    def __init__(self, objects: Mapping[str, bytes], refs: Mapping[str, str]) -> None:
        self.path = Path("memory")
        self._objects, self._refs = dict(objects), dict(refs)
        self._sha256: dict[str, str] = {}
        self._commits: dict[str, git.Commit] = {}

    def add(self, kind: str, content: bytes) -> str:
        """Keep an object."""
        identifier = git.object_id(kind, content)
        self._objects[f"{kind} {identifier}"] = content
        return identifier

    def put(self, kind: str, content: bytes) -> str:
        return self.add(kind, content)

    def read(self, kind: str, identifier: str) -> bytes:
        found = self._objects.get(f"{kind} {identifier}")
        if found is None:
            raise RecordError(f"the {kind} {identifier} is missing or damaged", where=str(self.path))
        return found

    def refs(self) -> dict[str, str]:
        return dict(self._refs)

    def point(self, name: str, identifier: str) -> None:
        """Put a ref somewhere."""
        self._refs[name] = identifier

    def close(self) -> None:
        """Nothing is held."""


def whole_log(directory: Path) -> Target:
    """A whole log: its audit, its report, and going through it; each event is signed with the key that the start names.

    An input describes events and their files as JSON. Ids, digests and signatures are made from it, so that what is changed
    is read, not refused for its signature.
    """
    key = load_or_create(directory / "home")
    objects, described = _recorded(key)
    seeds = [
        json_text(described),
        json_text({"events": described["events"][:1]}),
        json_text({"events": described["events"][:3]}),
    ]

    def run(data: bytes) -> None:
        try:
            given = json.loads(data)
            store = _built(objects, given["events"], key)
        except Exception:  # the description is ours: what cannot be built is nobody's record
            return
        each(*(partial(_read, store, step) for step in (0, 1, 2)))

    return Target("record", seeds, run, of_json, cpu_s=20.0, share=2.0)


def _read(store: Store, step: int) -> None:
    if step == 0:
        audit(store, gate=Gate(level=3)).to_json()
    elif step == 1:
        document = collect(store)
        render(document)
        json.dumps(document, allow_nan=False)
    else:
        events = log.read_events(store)
        each(
            lambda: History(events),
            lambda: show_replay.listing(replaying.listing(store, events)),
            *(
                lambda event=event: show_replay.step(replaying.step(store, events, event), len(events))
                for event in events
            ),
        )


def _recorded(key: SigningKey) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The beginning of a real session: its git objects, and its events with their files, signed anew by `key`."""
    objects: dict[str, bytes] = {}
    rows = []
    with opened(RECORDED) as store:
        for event in log.read_events(store)[:EVENTS]:
            fields = {
                name: value
                for name, value in json.loads(event.encode()).items()
                if name not in ("attached", "previous")
            }
            if event.kind == START:
                fields["detail"]["key"] = key.public.to_json()
            files = {path: as_text(log.event_file(store, event.id, path)) for path in event.attached}
            for path, content in files.items():
                if path.startswith(f"{attest.DIRECTORY}/"):
                    files[path] = {"sealed": json.loads(_payload(as_bytes(content)))}
            rows.append({"event": fields, "files": files})
            if event.workspace is not None:
                _copy(store, "tree", event.workspace["gitTree"], objects)
            if event.commit is not None:
                _copy(store, "commit", event.commit, objects)
    return objects, {"events": rows}


def _payload(sealed: bytes) -> bytes:
    import base64

    return base64.b64decode(json.loads(sealed)["payload"])


def _copy(store: Store, kind: str, identifier: str, into: dict[str, bytes]) -> None:
    if f"{kind} {identifier}" in into:
        return
    into[f"{kind} {identifier}"] = content = store.read(kind, identifier)
    if kind == "commit":
        commit = git.decode_commit(content)
        _copy(store, "tree", commit.tree, into)
        for parent in commit.parents:
            _copy(store, "commit", parent, into)
    elif kind == "tree":
        for entry in git.decode_tree(content).values():
            _copy(store, "tree" if entry.mode == git.TREE else "blob", entry.id, into)


def _built(objects: Mapping[str, bytes], rows: list[Any], key: SigningKey) -> Store:
    """A store with these events, as far as they can be made."""
    store = Memory(objects, {})
    before, previous = None, ""
    for row in rows:
        files = {path: _file(content, key) for path, content in row.get("files", {}).items()}
        attached = {path: sha256(content).hexdigest() for path, content in files.items()}
        fields = row["event"]
        if isinstance(fields, dict):
            content = json_text({"attached": attached, "previous": previous} | fields)
        else:
            content = as_bytes(fields)
        files |= {log.EVENT_FILE: content, log.SIGNATURE_FILE: key.sign(content, log.PAYLOAD_TYPE)}
        entries = {path: git.Entry(git.FILE, store.add("blob", content)) for path, content in files.items()}
        place = fields.get("workspace") if isinstance(fields, dict) else None
        if isinstance(place, dict) and isinstance(place.get("gitTree"), str) and len(place["gitTree"]) == 40:
            entries[log.WORKSPACE] = git.Entry(git.TREE, place["gitTree"])
        tree = store.put_tree(entries)
        try:
            commit = log.event_commit(log.Event.decode(content, ""), tree, before)
        except Exception:  # an event of which no commit follows still lies in one
            commit = git.Commit(tree, (before,) if before else (), _WHO, _WHO, "an event\n")
        before, previous = store.put_commit(commit), sha256(content).hexdigest()
        store.point(log.EVENTS, before)
        if isinstance(fields, dict) and isinstance(fields.get("commit"), str):
            store.point(log.MAIN, fields["commit"])
            store.point(log.ATTESTATIONS + fields["commit"], before)
    return store


def _file(described: Any, key: SigningKey) -> bytes:
    """A file of an event; `{"sealed": ...}` is signed by the key."""
    if isinstance(described, dict) and "sealed" in described:
        return key.seal(json_text(described["sealed"]), attest.PAYLOAD_TYPE)
    return as_bytes(described)
