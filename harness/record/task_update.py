"""The task in force: the one with which a session began, until a person brings a changed one into it.

The event `task_updated` holds the workspace as it is with the new task, so that a record goes on telling what judged. A
statement in it names the digests of both tasks and the event before; where the session has an SSH key, its owner signs that
statement, for nothing but this one event.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.record import ssh
from harness.record.event import SSH_KEY, START, Event
from harness.record.log import cases_added, event_file
from harness.record.objects import Entry
from harness.record.snapshot import trusted_part
from harness.record.store import Store

TASK_UPDATED = "task_updated"
STATEMENT = "task_update/statement.json"
SSH_SIGNATURE = "task_update/statement.json.sig"
NAMESPACE = "lockstep-task-update"
"""What is signed under it is a statement of this kind and can never be taken for a commit."""


def stating_task(events: Sequence[Event]) -> Event:
    """The event that brought the task in force: the newest update, or the start."""
    return next((event for event in reversed(events) if event.kind == TASK_UPDATED), events[0])


def task_in_force(events: Sequence[Event]) -> str:
    """The digest of the task by which a verdict after these events must judge; empty in a log that states none."""
    return str(stating_task(events).detail.get("task_digest", ""))


def tasks_of(events: Sequence[Event]) -> tuple[str, ...]:
    """The digests of all tasks that were in force, oldest first."""
    return tuple(str(event.detail.get("task_digest", "")) for event in events if event.kind in (START, TASK_UPDATED))


def trusted_files(store: Store, events: Sequence[Event]) -> dict[str, Entry]:
    """Every trusted file after these events, by path, with the cases found so far.

    Raises:
        RecordError: something of the record is missing or damaged.
    """
    trusted: dict[str, Entry] = {}
    for event in events:
        if event.kind in (START, TASK_UPDATED):
            trusted = trusted_part(store.files((event.workspace or {})["gitTree"]))
        else:
            trusted |= cases_added(store, event)
    return trusted


def statement(events: Sequence[Event], digest: str, reason: str) -> bytes:
    """What a person says who brings the task with this digest into the session whose log these events are."""
    return json.dumps(
        {
            "session": events[0].detail["session"],
            "after": events[-1].digest,
            "from": task_in_force(events),
            "to": digest,
            "reason": reason,
        },
        indent=1,
        sort_keys=True,
    ).encode()


def check_signature(said: bytes, events: Sequence[Event], key: str) -> None:
    """Check the SSH signature of a statement, where the session has an SSH key.

    Args:
        key: the armoured signature.

    Raises:
        RecordError: it is not by the session's key, or over something else.
    """
    ssh.check(key, said, events[0].detail[SSH_KEY], NAMESPACE)


def objections(store: Store, before: Sequence[Event], event: Event) -> list[str]:
    """What is wrong with the statement of an update; `before` are the events that precede it.

    Raises:
        RecordError: it is missing, or the session's SSH key did not sign it.
    """
    said = event_file(store, event.id, STATEMENT)
    wanted = statement(before, str(event.detail.get("task_digest", "")), str(event.arguments.get("reason", "")))
    if before[0].detail.get(SSH_KEY) is not None:
        check_signature(said, before, event_file(store, event.id, SSH_SIGNATURE).decode(errors="replace"))
    return [] if said == wanted else ["its statement is about another update"]
