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
from harness.support.foreign import json_of

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
SSH_KEY = "ssh_key"
"""In the detail of a start: the public SSH key that signs verified commits, where one does."""
UNSIGNED = "unsigned"
"""In the detail of a verdict: why its commit does not carry that key's signature."""


@dataclass(frozen=True)
class Event:
    """One thing that happened in a session.

    Attributes:
        seq: its place in the log, from 0.
        time: when it was recorded, ISO 8601 in UTC.
        kind: `start`, `attempt`, `verdict`, `interrupted`, `refused`, `usage`, `resumed`, `rotated`, or the name of a tool.
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

    def encode(self) -> bytes:
        """The content of `event.json`."""
        described = {"schema": SCHEMA} | {name: getattr(self, name) for name in _STORED}
        return json.dumps(described, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False).encode() + b"\n"

    @staticmethod
    def decode(content: bytes, identifier: str) -> Event:
        """The event in an `event.json` of the log's commit `identifier`.

        Raises:
            RecordError: the content is no event.
        """
        try:
            described = json_of(content)
            if described.pop("schema") != SCHEMA or set(described) != set(_STORED):
                raise ValueError(f"its fields are not those of schema {SCHEMA}")
            kinds = {"seq": int, "time": str, "kind": str, "outcome": str, "previous": str, "duration_s": (int, float)}
            kinds |= dict.fromkeys(("arguments", "detail", "seeds", "usage", "attached"), dict)
            kinds |= {"workspace": (dict, type(None)), "commit": (str, type(None))}
            for name, kind in kinds.items():
                if not isinstance(described[name], kind):
                    raise ValueError(f"`{name}` is a {type(described[name]).__name__}")
            inside = {"seeds": int, "usage": (int, float), "attached": str, "workspace": str}
            for name, kind in inside.items():
                if not all(isinstance(value, kind) for value in (described[name] or {}).values()):
                    raise ValueError(f"`{name}` holds something else than it should")
            numbers = [described["duration_s"], *described["usage"].values()]
            if not all(abs(number) < MOST for number in numbers):  # which NaN is not either
                raise ValueError("a duration or a sum is no number that could have been counted")
            if described["workspace"] is not None and described["workspace"].keys() != {"gitTree", "dirHash"}:
                raise ValueError("`workspace` does not name a tree and its digest")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"an event is malformed: {error}", where=f"event commit {identifier}") from error
        return Event(**described, id=identifier, digest=sha256(content).hexdigest())


_STORED = tuple(f.name for f in dataclasses.fields(Event) if f.name not in ("id", "digest"))


def now() -> str:
    """The present time as events state it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def seconds(time: str) -> int:
    """Whole seconds since 1970 of an event's time."""
    return int(datetime.fromisoformat(time).timestamp())
