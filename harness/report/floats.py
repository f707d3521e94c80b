"""How far floats were off at a level, as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.deviations import Deviation, OpenLoop, told
from harness.record.event import Event
from harness.report import plain
from harness.report.reading import Reading
from harness.support.document import Document

MOST = 40
"""So many leaves are shown; those that use most of their tolerance first."""
Row = dict[str, Any]


def floats(reading: Reading, event: Event, report: Mapping[str, Any]) -> Row:
    """What a level's report says of floats: `rows`, one for each leaf, `left_out` of them, and all in words under `told`."""

    def read() -> tuple[dict[str, Deviation], list[tuple[str, str]]]:
        document = Document(report, "level report")
        found = document.mapping("deviations", Deviation.from_json) if "deviations" in document.content else {}
        loop = document.read_or_none("open_loop", OpenLoop.from_json)
        return found, told(found, resynchronised=bool(document.flag_or_none("resynchronised")), open_loop=loop)

    found, said = reading.safely(f"event {event.seq}, how far floats were off", read, ({}, []))
    listed = sorted(found.items(), key=lambda each: -(each[1].share or 0.0))[:MOST]
    return {
        "told": [[name, plain.line(line, 600)] for name, line in said],
        "rows": [{"leaf": plain.line(path, 120), **deviation.to_json()} for path, deviation in listed],
        "left_out": len(found) - len(listed),
    }
