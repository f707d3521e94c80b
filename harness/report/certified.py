"""The certificates of a record, as a report tells them: the short figures of each; its documents lie beside its event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.record.certificate import CERTIFIED, COVERAGE, SEED, SPEED, STRENGTH
from harness.record.event import Event
from harness.report import plain
from harness.report.reading import Reading
from harness.verdict import Outcome

Row = Mapping[str, Any]


def certificates(reading: Reading) -> list[Row]:
    """Every certification that came to its end, newest first."""
    return [_certificate(event) for event in reading.events if event.kind == CERTIFIED][::-1]


def _certificate(event: Event) -> Row:
    figures = plain.mapping(event.detail.get("figures"))
    reached, speed = plain.mapping(figures.get(COVERAGE)), plain.mapping(figures.get(SPEED))
    killed = plain.mapping(plain.mapping(figures.get(STRENGTH)).get("argued"))
    known = event.outcome in set(Outcome)
    return {
        "event": event.seq,
        "time": plain.line(event.time, 40),
        "commit": plain.commit_id(event.arguments.get("commit")),
        "outcome": event.outcome if known else str(Outcome.ERROR),
        "finding": plain.line(event.detail.get("finding"), 400),
        "seed": plain.whole(event.seeds.get(SEED)),
        "bound": plain.optional(figures.get("divergence_bound_95")),
        "lines": _share(reached.get("lines")),
        "branches": _share(reached.get("branches")),
        "killed": None if not killed else [plain.whole(killed.get("killed")), plain.whole(killed.get("total"))],
        "candidate": plain.optional(speed.get("candidate")),
        "reference": plain.optional(speed.get("reference")),
    }


def _share(described: object) -> list[int] | None:
    found = [plain.whole(each) for each in plain.listed(described)]
    return found if len(found) == 2 and found[1] else None
