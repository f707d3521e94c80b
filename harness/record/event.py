"""An event: one thing that happened in a session, as the record holds it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from harness.errors import RecordError
from harness.support.document import Document, DocumentError, text, whole
from harness.support.foreign import json_of
from harness.support.text import encodable

SCHEMA = 1
MOST = 1e15
"""Above any duration in seconds, any sum of money and any number of tokens."""
PAYLOAD_TYPE = "application/vnd.lockstep.event+json"
EVENT_FILE = "event.json"
SIGNATURE_FILE = "event.sig"
VERDICT_FILE = "verdict.json"
CONDITIONS = "conditions"
"""In the detail of a verdict: the machine and the software that it was reached with (`machine.conditions`)."""
WORKSPACE = "workspace"
START = "start"
"""The kind of the first event, and of no other."""
ISOLATED = "isolated"
"""In the detail of a start, and of a hand-over to another key: whether the sandboxes of the session isolate."""
SSH_KEY = "ssh_key"
"""In the detail of a start: the public SSH key that signs verified commits, where one does."""
UNSIGNED = "unsigned"
"""In the detail of a verdict: why its commit does not carry that key's signature."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a session.

    Attributes:
        seq: its place in the log, from 0.
        time: when it was recorded, ISO 8601 in UTC.
        kind: `start`, `attempt`, `verdict`, `interrupted`, `refused`, `usage`, `resumed`, `rotated`, `task_updated`, or
            the name of a tool.
        arguments: what was asked.
        outcome: how it ended (for a verdict PASS, FAIL, ERROR or INCONCLUSIVE), or empty.
        detail: what else is worth keeping of the result, small.
        seeds: by name, every seed that was drawn for it.
        duration_s: how long it took.
        usage: what it cost (`dollars`, tokens).
        workspace: `gitTree` and `dirHash` of the workspace at that time, or None.
        commit: the commit that it verified, or None.
        attached: SHA-256 of each file in its tree, by path.
        previous: SHA-256 of the previous event's `event.json`; empty for the first.
        id: the commit of the log that holds it (not part of `event.json`); `digest`: SHA-256 of its `event.json`.
    """

    seq: int
    time: str
    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    outcome: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    duration_s: float = 0.0
    usage: Mapping[str, float] = field(default_factory=dict)
    workspace: Mapping[str, str] | None = None
    commit: str | None = None
    attached: Mapping[str, str] = field(default_factory=dict)
    previous: str = ""
    id: str = ""
    digest: str = ""

    def to_json(self) -> dict[str, Any]:
        """What `event.json` holds: all but `id` and `digest`."""
        return {"schema": SCHEMA} | {name: getattr(self, name) for name in _STORED}

    @classmethod
    def from_json(cls, described: object, kind: str = "event") -> Event:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        if document.whole("schema") != SCHEMA:
            raise DocumentError(f"{kind}.schema is {document.content['schema']}; expected {SCHEMA}")
        document.exactly("schema", *_STORED)
        workspace = None
        if document.content["workspace"] is not None:
            document.object("workspace").exactly("gitTree", "dirHash")
            workspace = document.mapping("workspace", text)
        return cls(
            seq=document.whole("seq"),
            time=document.text("time"),
            kind=document.text("kind"),
            arguments=document.object("arguments").content,
            outcome=document.text("outcome"),
            detail=document.object("detail").content,
            seeds=document.mapping("seeds", whole),
            duration_s=_counted(document.content["duration_s"], f"{kind}.duration_s"),
            usage=document.mapping("usage", _counted),
            workspace=workspace,
            commit=document.text_or_none("commit"),
            attached=document.mapping("attached", text),
            previous=document.text("previous"),
        )

    def encode(self) -> bytes:
        """The content of `event.json`."""
        text = json.dumps(self.to_json(), sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False)
        return encodable(text).encode() + b"\n"

    @staticmethod
    def decode(content: bytes, identifier: str) -> Event:
        """The event in an `event.json` of the log's commit `identifier`.

        Raises:
            RecordError: the content is not an event.
        """
        try:
            event = Event.from_json(json_of(content))
        except ValueError as error:
            raise RecordError(f"an event is malformed: {error}", where=f"event commit {identifier}") from error
        return dataclasses.replace(event, id=identifier, digest=sha256(content).hexdigest())


def _counted(value: Any, name: str) -> float:
    """A duration, a sum of money or a number of tokens, as it stands: whole numbers stay whole."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST:  # NaN is not below it
        raise DocumentError(f"{name} is not a number that could have been counted; expected one below {MOST:g}")
    return value


_STORED = tuple(f.name for f in dataclasses.fields(Event) if f.name not in ("id", "digest"))


def now() -> str:
    """The present time as events state it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def seconds(time: str) -> int:
    """Whole seconds since 1970 of an event's time."""
    return int(datetime.fromisoformat(time).timestamp())
