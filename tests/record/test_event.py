"""An event is the same after it was written; whatever else is read names what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from harness.errors import RecordError
from harness.record.event import EVENT_FILE, MOST, Event
from harness.record.log import event_file, read_events
from harness.record.received import opened
from harness.support.document import DocumentError
from tests.paths import RECORDED_SESSIONS

WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBERS = st.integers(0, 1 << 40) | st.floats(0, 1e9)
VALUES = st.recursive(
    st.none() | st.booleans() | WORDS | NUMBERS, lambda inner: st.lists(inner, max_size=2), max_leaves=3
)
EVENTS = st.builds(
    Event, seq=st.integers(0, 1 << 30), time=WORDS, kind=WORDS, arguments=st.dictionaries(WORDS, VALUES, max_size=2),
    outcome=WORDS, detail=st.dictionaries(WORDS, VALUES, max_size=2),
    seeds=st.dictionaries(WORDS, st.integers(0, 1 << 62), max_size=2), duration_s=NUMBERS,
    usage=st.dictionaries(WORDS, NUMBERS, max_size=2),
    workspace=st.none() | st.fixed_dictionaries({"gitTree": WORDS, "dirHash": WORDS}), commit=st.none() | WORDS,
    attached=st.dictionaries(WORDS, WORDS, max_size=2), previous=WORDS, id=st.just(""), digest=st.just(""),
)  # fmt: skip


@given(EVENTS)
def test_an_event_is_the_same_after_it_was_written(event: Event) -> None:
    assert Event.from_json(json.loads(json.dumps(event.to_json(), allow_nan=False))) == event
    assert Event.decode(event.encode(), "c0").encode() == event.encode()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"schema": 2}, r"event\.schema is 2; expected 1"),
        ({"seq": True}, r"event\.seq is True; expected a whole number"),
        ({"time": 3}, r"event\.time is 3; expected a text"),
        ({"seeds": {"run": 1.5}}, r"event\.seeds\.run is 1\.5; expected a whole number"),
        ({"usage": {"dollars": "1"}}, r"event\.usage\.dollars is not a number that could have been counted"),
        (
            {"duration_s": MOST},
            r"event\.duration_s is not a number that could have been counted; expected one below 1e\+15",
        ),
        ({"duration_s": float("nan")}, r"event\.duration_s is not a number that could have been counted"),
        ({"workspace": {"gitTree": "a"}}, r"event\.workspace has no 'dirHash'"),
        ({"workspace": []}, r"event\.workspace is \[\]; expected an object"),
        ({"attached": {"a": None}}, r"event\.attached\.a is None; expected a text"),
        ({"more": 1}, r"event has 'more'; expected only schema, seq"),
    ],
)
def test_a_malformed_event_names_field_and_form(changed: dict[str, Any], words: str) -> None:
    document = Event(0, "2026-01-02T03:04:05.678+00:00", "start").to_json() | changed
    with pytest.raises(DocumentError, match=words):
        Event.from_json(document)
    with pytest.raises(RecordError, match=r"an event is malformed") as caught:
        Event.decode(json.dumps(document).encode(), "c0")
    assert caught.value.where == "event commit c0"


@pytest.mark.parametrize("field", list(Event(0, "", "start").to_json()))
def test_an_event_without_a_field_is_none(field: str) -> None:
    document = {name: value for name, value in Event(0, "", "start").to_json().items() if name != field}
    with pytest.raises(DocumentError, match=rf"event has no '{field}'"):
        Event.from_json(document)


def test_recorded_events_read_and_write_to_the_very_same_bytes() -> None:
    read = 0
    for bundle in sorted(RECORDED_SESSIONS.glob("*.bundle")):
        with opened(bundle) as store:
            for event in read_events(store):
                assert event.encode() == event_file(store, event.id, EVENT_FILE)
                read += 1
    assert read > 20
