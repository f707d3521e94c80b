"""What a PASS means: which faults in rare states are caught, as a report tells and draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from harness.measure.strength.rare.text import explored, frequency
from harness.measure.strength.text import share
from harness.record.certificate import CERTIFIED, DETECTION
from harness.record.event import Event
from harness.report import plain
from harness.report.reading import Reading
from harness.report.svg import Drawing, Scale

Row = Mapping[str, Any]
TITLE = "What a PASS means"
MOST_POINTS, MOST_SERIES = 12, 4
RAREST = 1e-12
SERIES = ("s-reference", "s-candidate", "s-peer-0", "s-peer-1")
LEFT, RIGHT, TOP, BOTTOM = 58, 470, 34, 234
APART = 7
"""Pixels between the marks of one point, so that bars do not lie on each other."""


def detection(reading: Reading) -> list[Row]:
    """Every detection curve of a record, measured by itself or for a certificate, newest first."""
    found = []
    for event in reading.events:
        figures = plain.mapping(event.detail.get("figures"))
        if event.kind == CERTIFIED:
            figures = plain.mapping(figures.get(DETECTION))
        elif event.kind != DETECTION:
            continue
        row = _row(event, figures)
        if row["points"]:
            found.append(row)
    return found[::-1]


def chart(curve: Row) -> Markup:
    """The share that is caught, by how rarely the fault shows, with its interval; a line for each exploration."""
    points, explorings = curve["points"], curve["explorings"]
    told = "; ".join(
        f"{frequency(point['share'])}: "
        + ", ".join(f"{share(each['rate'])} {each['name']}" for each in point["caught"])
        for point in points
    )
    drawing = Drawing(
        f"detection-{curve['event']}", 640, BOTTOM + 44, title=TITLE, kind="speed",
        description=f"Caught of faults that show in one of so many steps of random play. {told}. The table has the numbers.",
    )  # fmt: skip
    rarest, commonest = points[-1]["share"], points[0]["share"]
    x, y = Scale(rarest, commonest, RIGHT - 24, LEFT + 24, log=True), Scale(0.0, 1.0, BOTTOM, TOP)
    drawing.text(0, 14, TITLE, "heading")
    drawing.text(640, 14, "caught, with 95% intervals", "tick", "end")
    for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawing.line(LEFT, y(mark), RIGHT, y(mark), "grid")
        drawing.text(LEFT - 6, y(mark) + 4, f"{mark:.0%}", "tick", "end")
    drawing.line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    for point in points:
        drawing.line(x(point["share"]), BOTTOM, x(point["share"]), BOTTOM + 5, "axis")
        drawing.text(x(point["share"]), BOTTOM + 19, f"{point['share']:.0e}".replace("e-0", "e-"), "tick", "middle")
    drawing.text(
        (LEFT + RIGHT) / 2, BOTTOM + 38, "share of random play's steps in which the fault shows", "tick", "middle"
    )
    for place in range(len(explorings)):
        series, aside = SERIES[place], (place - (len(explorings) - 1) / 2) * APART
        marks = [(x(point["share"]) + aside, point["caught"][place]) for point in points]
        drawing.path([(across, y(each["rate"])) for across, each in marks], f"series {series}")
        for (across, each), point in zip(marks, points, strict=True):
            low, high = each["interval"]
            drawing.line(across, y(low), across, y(high), f"spread {series}")
            hover = f"{frequency(point['share'])}, {each['name']}: {each['killed']} of {each['total']} caught"
            drawing.add("circle", f"point {series}", cx=across, cy=y(each["rate"]), r=4, hover=hover)
        drawing.line(RIGHT + 14, TOP + 8 + 20 * place, RIGHT + 34, TOP + 8 + 20 * place, f"series {series}")
        drawing.text(RIGHT + 40, TOP + 12 + 20 * place, explored(explorings[place]), f"label {series}")
    return drawing.markup()


def _row(event: Event, figures: Row) -> Row:
    described = [each for each in plain.objects(figures.get("curve")) if RAREST < plain.number(each.get("share")) < 1]
    names = plain.mapping(described[0].get("caught")) if described else {}
    explorings = sorted(int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < 6)
    explorings = explorings[:MOST_SERIES]
    points = [
        {
            "share": plain.number(each.get("share")),
            "frequency": frequency(plain.number(each.get("share"))),
            "caught": [_caught(plain.mapping(each.get("caught")), exploring) for exploring in explorings],
        }
        for each in described[:MOST_POINTS]
    ]
    return {
        "event": event.seq,
        "time": plain.line(event.time, 40),
        "commit": plain.commit_id(event.arguments.get("commit")),
        "certified": event.kind == CERTIFIED,
        "played": plain.whole(figures.get("played")),
        "seed": plain.whole(figures.get("seed")),
        "explorings": explorings,
        "names": [explored(exploring) for exploring in explorings],
        "points": sorted(points, key=lambda point: -point["share"]) if explorings else [],
    }


def _caught(described: Row, exploring: int) -> Row:
    each = plain.mapping(described.get(str(exploring)))
    rate = min(1.0, max(0.0, plain.number(each.get("rate"))))
    low, high = (*(min(1.0, max(0.0, plain.number(end))) for end in plain.listed(each.get("interval_95"))), 0.0, 1.0)[
        :2
    ]
    return {
        "name": explored(exploring),
        "killed": plain.whole(each.get("killed")),
        "total": plain.whole(each.get("total")),
        "rate": rate,
        "interval": [low, high],
    }
