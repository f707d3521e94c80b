"""Reading a record that may be damaged: whatever can still be read is, and what cannot is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from harness.errors import LockstepError, RecordError
from harness.record.event import EVENT_FILE, START, VERDICT_FILE, Event
from harness.record.log import EVENTS, event_file, read_events
from harness.record.store import Store
from harness.session import recipe
from harness.session.recipe import Plan, State
from harness.support.foreign import json_of

T = TypeVar("T")
_UNREADABLE = (
    LockstepError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    ArithmeticError,
    RecursionError,
)
"""What reading values of the wrong form can raise."""


@dataclass
class Reading:
    """A log as far as it can be read.

    Attributes:
        events: oldest first.
        stamp: the id of the newest event, by which one sees that something was added.
        damage: what could not be read, in words.
    """

    store: Store
    stamp: str
    events: list[Event] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)

    def safely(self, what: str, read: Callable[[], T], otherwise: T) -> T:
        """What `read` gives; where the record is not of the form that it needs, `otherwise`, which is noted."""
        try:
            return read()
        except _UNREADABLE as error:
            reason = error.what if isinstance(error, LockstepError) else f"{type(error).__name__}: {error}"
            self.damage.append(f"{what}: {reason}")
            return otherwise

    @property
    def start(self) -> Event | None:
        """The first event, where it is there."""
        return self.events[0] if self.events and self.events[0].kind == START else None

    def verdict(self, event: Event) -> Mapping[str, Any]:
        """The verdict that an event holds; empty where it cannot be read."""

        def read() -> Mapping[str, Any]:
            found = json_of(event_file(self.store, event.id, VERDICT_FILE))
            if not isinstance(found, dict):
                raise RecordError("the verdict is not a JSON object")
            return found

        return self.safely(f"event {event.seq}, {VERDICT_FILE}", read, {})

    def attached(self, event: Event, path: str) -> bytes | None:
        """A file of an event, None where it is not there or cannot be read."""
        if path not in event.attached:
            return None
        return self.safely(f"event {event.seq}, {path}", lambda: event_file(self.store, event.id, path), None)

    def state(self) -> State | None:
        """Where the recipe stands, None where the log does not say."""

        def fold() -> State:
            if self.start is None:
                raise RecordError("there is no start of a session")
            return recipe.fold(Plan.from_json(self.start.detail["plan"]), self.events)

        return self.safely("the recipe's state", fold, None)


def read(store: Store) -> Reading:
    """Read a record's log.

    Raises:
        RecordError: there is no log at all.
    """
    stamp = store.refs().get(EVENTS)
    if stamp is None:
        read_events(store)  # which says what is missing, and what to do
    reading = Reading(store, str(stamp))
    for position, commit in enumerate(_commits(reading)):
        content = reading.safely(f"event {position}", lambda commit=commit: event_file(store, commit, EVENT_FILE), b"")
        if content:
            event = reading.safely(
                f"event {position}", lambda content=content, commit=commit: Event.decode(content, commit), None
            )
            # Anchors are made of these numbers: in a log that was rearranged the place is what is left of them.
            reading.events += [] if event is None else [replace(event, seq=position)]
    return reading


def _commits(reading: Reading) -> list[str]:
    """The commits of the log, oldest first, as far back as it can be followed."""
    found = [reading.stamp]
    while parents := reading.safely("the log", lambda: reading.store.commit(found[-1]).parents, ()):
        found.append(parents[0])
    return found[::-1]
