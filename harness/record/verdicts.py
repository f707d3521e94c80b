"""The verdicts that a record holds."""

from __future__ import annotations

from harness.errors import RecordError
from harness.record.event import VERDICT_FILE, Event
from harness.record.log import event_file
from harness.record.store import Store
from harness.support.document import DocumentError
from harness.support.foreign import json_of
from harness.verdict import Verdict


def verdict_of(store: Store, event: Event) -> Verdict:
    """The verdict of an event.

    Raises:
        RecordError: it is missing or damaged.
    """
    where = f"event {event.seq}, {VERDICT_FILE}"
    try:
        return Verdict.from_json(json_of(event_file(store, event.id, VERDICT_FILE)))
    except DocumentError as error:
        raise RecordError(f"the verdict is malformed: {error}", where=where) from error
    except ValueError as error:
        raise RecordError(f"the verdict is not JSON: {error}", where=where) from error
