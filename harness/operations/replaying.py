"""A recorded session gone through again: listed, and event by event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.assurance.replay.changes import changes, tree_before
from harness.record.event import VERDICT_FILE, Event
from harness.record.store import Store
from harness.record.verdicts import verdict_of
from harness.report.document import collect
from harness.session.recipe import ATTEMPT, INTERRUPTED, VERDICT
from harness.verify.explain import facts, first

_ATTEMPT = ("number", "event", "time", "step", "message", "client", "outcome", "finding", "seed", "tree", "commit")


def listing(store: Store, events: Sequence[Event], after: int = 0) -> dict[str, Any]:
    """A session in one document: its `rows` are attempts (with what they found and by which event that was repaired) and
    other calls in the order in which they ended, from the event `after` on.

    Raises:
        RecordError: there is no log.
    """
    described = collect(store)
    rows = [*_attempts(described["attempts"]), *_calls(events)]
    cost = described["cost"]
    return {
        "session": described["session"],
        "task": described["task"],
        "started": described["started"],
        "updated": described["updated"],
        "state": described["summary"]["state"],
        "events": len(events),
        "rows": [row for row in sorted(rows, key=lambda row: row["event"]) if row["event"] >= after],
        "commits": len(described["commits"]),
        "divergences": described["summary"]["divergences"],
        "repairs": sum(1 for row in described["attempts"] if row["divergences"] and row["divergences"][0]["repaired"]),
        "cost": {name: cost["total"].get(name) for name in ("dollars", "dollars_reported", "attempts")}
        | {"seconds_verifying": round(cost["seconds_verifying"], 3)},
        "audit": described["audit"],
        "damage": described["damage"],
    }


def step(store: Store, events: Sequence[Event], event: Event) -> dict[str, Any]:
    """One event with all that it tells: arguments, outcome, the first divergence, and the files that changed before it.

    Raises:
        RecordError: what it holds is missing or damaged.
    """
    described = None
    if VERDICT_FILE in event.attached:
        found = first(verdict_of(store, event).divergences)
        described = None if found is None else facts(found)
    changed = []
    if event.workspace is not None:
        changed = [each.to_json() for each in changes(store, tree_before(events, event), event.workspace["gitTree"])]
    return {
        "event": event.seq,
        "time": event.time,
        "kind": event.kind,
        "arguments": dict(event.arguments),
        "outcome": event.outcome,
        "finding": str(event.detail.get("finding", "")),
        "divergence": described,
        "seeds": dict(event.seeds),
        "commit": event.commit,
        "duration_s": event.duration_s,
        "usage": dict(event.usage),
        "changes": changed,
    }


def _attempts(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        found = row["divergences"]
        yield {name: row[name] for name in _ATTEMPT} | {
            "kind": ATTEMPT,
            "duration_s": row["duration_s"],
            "divergences": row["divergences_found"],
            "repaired": found[0]["repaired"] if found else None,
        }


def _calls(events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    for event in events:
        if event.kind not in (ATTEMPT, VERDICT, INTERRUPTED):
            yield {
                "kind": event.kind,
                "event": event.seq,
                "time": event.time,
                "client": event.detail.get("client", ""),
                "arguments": dict(event.arguments),
                "outcome": event.outcome,
                "finding": str(event.detail.get("finding", "")),
                "duration_s": event.duration_s,
                "usage": dict(event.usage),
            }
