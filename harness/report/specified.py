"""A specification as a report tells it: statements with scenarios and strength, rulings, and where readings differed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from harness.record.event import Event
from harness.record.log import snapshot_of
from harness.record.specification import (
    COMPARED,
    FROZEN,
    RULED,
    SEED,
    STRENGTH,
    WORKFLOW,
    document_of,
    last_frozen,
)
from harness.report import plain
from harness.report.reading import Reading
from harness.specification.statements import read_statements
from harness.support.foreign import json_of, toml_of
from harness.verdict import Outcome

Row = dict[str, Any]
MAX_STATEMENTS = 2000
RULES, SCENARIOS = "RULES.md", "scenarios/"


def specification(reading: Reading) -> Row | None:
    """What a record tells of its specification; None where it is of none."""
    start = reading.start
    if start is None or plain.mapping(start.detail).get("workflow") != WORKFLOW:
        return None
    comparisons = [_comparison(reading, event) for event in reading.events if event.kind in (COMPARED, FROZEN)]
    measured = next((event for event in reversed(reading.events) if event.kind == STRENGTH), None)
    strength = {} if measured is None else _document(reading, measured, "strength")
    frozen = last_frozen(reading.events)
    return {
        "statements": reading.safely("the rules", lambda: _statements(reading, strength), []),
        "rulings": [_ruling(event) for event in reading.events if event.kind == RULED],
        "comparisons": comparisons[::-1][: plain.MAX_ITEMS],
        "strength": None
        if measured is None
        else {
            "event": measured.seq,
            "reading": plain.line(strength.get("reading"), 20),
            "planted": plain.whole(strength.get("planted")),
            "survived": plain.whole(strength.get("survived")),
            "elsewhere": sum(
                len(plain.listed(row.get("survived")))
                for row in plain.objects(strength.get("by_statement"))
                if row.get("statement") is None
            ),
        },
        "frozen": None
        if frozen is None
        else {
            "event": frozen.seq,
            "commit": plain.commit_id(frozen.commit),
            "which": plain.line(frozen.arguments.get("which"), 20),
        },
    }


def _statements(reading: Reading, strength: Mapping[str, Any]) -> list[Row]:
    """Each statement of the newest files, with the scenarios that cite it and the faults beside it that none notices."""
    files = reading.store.files(snapshot_of(reading.events))
    rules = reading.store.blob(files[RULES].id).decode("utf-8", "replace")
    cited: dict[int, list[str]] = {}
    without: dict[int, str] = {}
    for path in sorted(files):
        if path.startswith(SCENARIOS) and path.endswith(".toml"):
            tables = reading.safely(path, lambda path=path: _tables(reading, files[path].id), {})
            for one in plain.objects(tables.get("scenario")):
                for number in plain.listed(one.get("cites")):
                    cited.setdefault(plain.whole(number), []).append(plain.line(one.get("name"), 200))
            for one in plain.objects(tables.get("without")):
                without[plain.whole(one.get("statement"))] = plain.line(one.get("because"))
    unnoticed = {
        plain.whole(row.get("statement")): len(plain.listed(row.get("survived")))
        for row in plain.objects(strength.get("by_statement"))
    }
    return [
        {
            "number": one.number,
            "text": plain.line(one.text, 600),
            "section": plain.line(one.section, 120),
            "rules_on": list(one.rules_on)[: plain.MAX_ITEMS],
            "scenarios": cited.get(one.number, [])[: plain.MAX_ITEMS],
            "without": without.get(one.number, ""),
            "unnoticed": unnoticed.get(one.number, 0) if strength else None,
        }
        for one in read_statements(rules, RULES)[:MAX_STATEMENTS]
    ]


def _tables(reading: Reading, blob: str) -> Mapping[str, Any]:
    try:
        return toml_of(reading.store.blob(blob).decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from error


def _ruling(event: Event) -> Row:
    return {
        "event": event.seq,
        "time": plain.line(event.time, 40),
        "statement": plain.whole(event.detail.get("statement")),
        "on": [plain.whole(number) for number in plain.listed(event.arguments.get("on"))],
        "text": plain.line(event.arguments.get("ruling"), 600),
        "client": plain.line(event.detail.get("client"), 80),
    }


def _comparison(reading: Reading, event: Event) -> Row:
    """A comparison of the two readings, by itself or before they were frozen."""
    document = _document(reading, event, "compare")
    found = [
        each
        for level in plain.objects(document.get("levels"))
        for check in plain.objects(level.get("checks"))
        for each in plain.objects(check.get("divergences"))
    ]
    missed = plain.mapping(document.get("missed"))
    return {
        "event": event.seq,
        "time": plain.line(event.time, 40),
        "freezes": event.kind == FROZEN,
        "outcome": event.outcome if event.outcome in set(Outcome) else str(Outcome.ERROR),
        "seed": plain.whole(event.seeds.get(SEED)),
        "finding": plain.line(plain.mapping(event.detail).get("finding"), 700),
        "missed": [
            {"reading": which, "scenario": plain.line(one.get("scenario"), 200)}
            for which in ("first", "second")
            for one in plain.objects(missed.get(which))
        ],
        "divergences": [
            {
                "level": plain.whole(each.get("level")),
                "check": plain.line(each.get("check"), 120),
                "address": plain.line(each.get("address"), 200),
                "step": plain.whole(each.get("step")),
                "first": plain.line(each.get("expected"), 200),
                "second": plain.line(each.get("actual"), 200),
                "cause": plain.line(each.get("cause"), 600),
            }
            for each in found
        ],
    }


def _document(reading: Reading, event: Event, step: str) -> Mapping[str, Any]:
    content = reading.attached(event, document_of(step))
    if content is None:
        return {}
    return plain.mapping(reading.safely(f"event {event.seq}, {document_of(step)}", lambda: json_of(content), {}))
