"""What the record of a specification holds: the kinds of its events, and what follows from them.

What judges leaves two events. The first states the files and the seed, which is drawn once these are fixed; the second
carries the document that it came to. A freeze that came to an end has a commit and a statement about it, as a verified
commit of any other session has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from harness.record.event import Event
from harness.verdict import LevelReport, Outcome

NUMBERED, CHECKED, PLAYED, RULED, STRENGTH = "spec_number", "spec_check", "spec_play", "spec_rule", "spec_strength"
COMPARING, COMPARED = "spec_comparing", "spec_compare"
FREEZING, FROZEN = "spec_freezing", "spec_freeze"
ENDS = {COMPARED: COMPARING, FROZEN: FREEZING}
"""What judges, and the kind of the event with which it begins."""
KINDS = (NUMBERED, CHECKED, PLAYED, RULED, STRENGTH, COMPARING, COMPARED, FREEZING, FROZEN)
WORKFLOW = "create"
"""In the detail of a start, under `workflow`."""
SEED = "run"
DRAWN = "drawn"
"""In the detail of an event with which something begins: whether its seed was drawn by the harness."""
DIRECTORY = "specification"
"""In a frozen commit, what the workspace of its session holds; below an event its documents."""
PREDICATE = "https://lockstep.invalid/specification/v0.1"
FROZEN_FILE = "frozen.json"
LEVELS = (1, 2, 3)
"""What two readings are held against each other by."""
TABLES = "data"
"""Where the tables lie that belong to the rules: a copy of them lies beside each reading that plays."""
PARTS = ("first", "second")
"""The readings: a session on one of them sees neither the other nor the scenarios."""

PART = "part"
"""The argument with which a call of a host speaks of one reading."""


def document_of(step: str) -> str:
    """Where the document of a step lies below its event."""
    return f"{DIRECTORY}/{step}.json"


def begun(events: Sequence[Event], kind: str, arguments: Mapping[str, Any]) -> Event | None:
    """The event with which this began and has not ended: interrupted, it goes on from its own seed."""
    for event in reversed(events):
        if event.kind == kind and dict(event.arguments) == dict(arguments):
            return None
        if event.kind == ENDS[kind] and dict(event.arguments) == dict(arguments):
            return event
    return None


def last_frozen(events: Sequence[Event]) -> Event | None:
    """The event that made the newest frozen commit."""
    return next((event for event in reversed(events) if event.kind == FROZEN and event.commit), None)


def outcome_of(reports: Sequence[LevelReport], missed: Mapping[str, Sequence[Any]]) -> Outcome:
    """What a comparison of two readings came to.

    Args:
        reports: the levels that ran.
        missed: for each reading the scenarios in which it does otherwise than stated.
    """
    worst = Outcome.worst([report.outcome for report in reports])
    if worst is Outcome.PASS and (any(missed.values()) or len(reports) < len(LEVELS)):
        return Outcome.FAIL
    return worst


def digest_of(files: Iterable[tuple[PurePath, bytes]]) -> str:
    """SHA-256 over names and contents of files, such as a reading's."""
    sha = hashlib.sha256()
    for path, content in sorted(files):
        sha.update(f"{path.as_posix()}\0{len(content)}\0".encode())
        sha.update(content)
    return sha.hexdigest()


def handle(session: str, part: str) -> str:
    """By what the session on one reading is called."""
    return f"{session}.{part}"


def split(named: str) -> tuple[str, str]:
    """The session, and the reading that its handle speaks of; empty where it is all of the session."""
    session, _, part = named.rpartition(".")
    return (session, part) if session and part in PARTS else (named, "")
