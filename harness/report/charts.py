"""The report's charts: the way through the recipe, speed by batch size, and intervals against the margin.

Each is one picture that says in words what it shows; the page has the same numbers in a table. What tells marks apart is
shape and line as well as colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from harness.measure.profile.text import figure
from harness.report.svg import Drawing, Scale, apart, decades, ticks
from harness.verdict import LEVEL_NAMES

Row = Mapping[str, Any]
SHAPES = {
    "PASS": "pass",
    "FAIL": "fail",
    "ERROR": "error",
    "INCONCLUSIVE": "undecided",
    "interrupted": "interrupted",
    "running": "running",
}
"""The class of an outcome's mark; whatever else an outcome says gets `other`."""
DECISIONS = {"equivalent": "pass", "different": "fail", "undecided": "undecided"}
EPISODES, TRAIN = "episodes", "train"
REFERENCE_ALONE = ("bare", "adapter", EPISODES)
"""Kinds of runs of a reference, which have no batch: alone, through its adapter, with all its workers."""
KINDS = {"step": "Stepped one by one", "scan": "Scanned: all steps in one call", TRAIN: "Training with PPO"}
"""What is drawn, by its kind; `episodes` are those that the reference plays on its own."""
STEP_HEIGHT = 32
LETTER = 7.4
"""Pixels that a bold letter of a step's name takes at most."""
MAX_LABEL = 24
MAX_SERIES = 8


def shape_of(outcome: str) -> str:
    """The class of an outcome's mark."""
    return SHAPES.get(outcome, "other")


def symbol(outcome: str, commit: bool = False) -> Markup:
    """An outcome's mark alone, beside words that say what it means."""
    drawing = Drawing("", 22, 22, kind="symbol")
    _mark(drawing, 11, 11, 5, outcome, commit)
    return drawing.markup()


def timeline(document: Row) -> Markup | None:
    """Attempts from left to right, on a line for each step of the recipe; None where there is no attempt."""
    recipe_steps, rows = document["recipe_steps"], document["attempts"]
    if not rows or not recipe_steps:
        return None
    names = [_short(_step_name(recipe_step)) for recipe_step in recipe_steps]
    left = LETTER * max(len(name) for name in names) + 20
    step = min(max((940 - left) / len(rows), 8.0), 56.0)
    width = left + step * len(rows) + 16
    height = 4 + STEP_HEIGHT * len(recipe_steps) + 30
    counts = ", ".join(f"{count} {outcome}" for outcome, count in document["summary"]["outcomes"].items())
    drawing = Drawing(
        "timeline-chart", width, height, title="Attempts by step of the recipe", kind="timeline",
        description=f"{len(rows)} attempts in {len(recipe_steps)} steps of the recipe: {counts}. The list has each of them.",
    )  # fmt: skip
    drawing.root.set("width", f"{width:.0f}")
    position = {
        recipe_step["recipe_step"]: 4 + STEP_HEIGHT * (number + 0.5) for number, recipe_step in enumerate(recipe_steps)
    }
    for recipe_step, name in zip(recipe_steps, names, strict=True):
        y = position[recipe_step["recipe_step"]]
        if recipe_step["level"] % 2:
            drawing.add("rect", "level", x=0, y=y - STEP_HEIGHT / 2, width=width, height=STEP_HEIGHT)
        drawing.line(left - 8, y, width - 8, y, "recipe-step")
        drawing.text(8, y + 4.5, name, "label strong" if recipe_step["passed"] else "label open")
    points = [(left + step * (row["number"] - 0.5), position[row["recipe_step"]]) for row in rows]
    drawing.path(points, "way")
    radius = min(6.0, step * 0.4)
    for row, (x, y) in zip(rows, points, strict=True):
        hover = f"Attempt {row['number']}, {row['step']}: {row['outcome']}. {row['finding'] or row['message']}"
        _mark(drawing, x, y, radius, row["outcome"], bool(row["commit"]), hover, f"event-{row['event']}")
    for number in ticks(1, len(rows), 8):
        if number == int(number):
            x = left + step * (number - 0.5)
            drawing.text(x, height - 8, f"{number:.0f}", "tick", "middle")
    drawing.text(8, height - 8, "attempt", "tick")
    return drawing.markup()


def speed(profile: Row) -> list[Markup]:
    """Steps per second by batch size, both by their logarithm: a picture for each kind of run that has batches."""
    figures = [each for each in profile["figures"] if each["steps_per_s"] > 0 and each["batch"] > 0]
    references = [each for each in figures if each["role"] == "reference" and each["kind"] == EPISODES]
    rest = [each for each in figures if each["kind"] not in REFERENCE_ALONE]
    peers = list(dict.fromkeys(each["contender"] for each in rest if each["role"] == "peer"))
    stepping = [value for each in figures if each["kind"] != TRAIN for value in _range(each)]
    drawn = []
    for kind in dict.fromkeys(each["kind"] for each in rest):
        mine = [each for each in rest if each["kind"] == kind]
        if kind == TRAIN:  # which does more than step: the reference's own episodes are no measure for it
            drawn.append(_speed_of(profile, kind, mine, [], peers, [value for each in mine for value in _range(each)]))
        else:
            drawn.append(_speed_of(profile, kind, mine, references, peers, stepping))
    return drawn


def _speed_of(
    profile: Row,
    kind: str,
    figures: Sequence[Row],
    references: Sequence[Row],
    peers: Sequence[str],
    rates: Sequence[float],
) -> Markup:
    """The picture of one kind of run; `rates` are those that the axis reaches over."""
    title, batches = KINDS.get(kind, kind), sorted({each["batch"] for each in figures})
    bottom = 274 if len(batches) > 1 else 150
    drawing = Drawing(
        f"speed-{profile['event']}-{_name(kind)}", 640, bottom + 40, title=f"{title}: steps per second by batch size",
        description="Both axes are logarithmic; bars run from the lowest to the highest reading. The table has the numbers.",
        kind="speed",
    )  # fmt: skip
    low, high = min(rates) / 1.3, max(rates) * 1.3
    marks = [mark for mark in decades(low, high) if low <= mark <= high]
    if len(marks) < 2:
        marks = decades(low, high)
        low, high = marks[0], marks[-1]
    y = Scale(low, high, bottom, 30, log=True)
    x = Scale(batches[0], batches[-1], 72, 468, log=True)
    drawing.text(0, 14, title, "heading")
    drawing.text(640, 14, "steps per second, low to high", "tick", "end")
    for mark in marks:
        drawing.line(58, y(mark), 482, y(mark), "grid")
        drawing.text(52, y(mark) + 4, figure(mark), "tick", "end")
    drawing.line(58, bottom, 482, bottom, "axis")
    for batch in batches:
        drawing.line(x(batch), bottom, x(batch), bottom + 5, "axis")
        drawing.text(x(batch), bottom + 19, f"{batch:,}", "tick", "middle")
    drawing.text(270, bottom + 36, "batch size", "tick", "middle")
    labels: list[tuple[float, str, str]] = []
    for each in references:
        least, most = _range(each)
        drawing.add("rect", "band s-reference", x=58, width=424, y=y(most), height=max(y(least) - y(most), 1.0))
        drawing.line(58, y(each["steps_per_s"]), 482, y(each["steps_per_s"]), "series s-reference")
        labels.append((y(each["steps_per_s"]), f"{each['contender']} ({each['batch']} workers)", "s-reference"))
    for contender in list(dict.fromkeys(each["contender"] for each in figures))[:MAX_SERIES]:
        mine = sorted((each for each in figures if each["contender"] == contender), key=lambda each: each["batch"])
        role = mine[0]["role"]
        # One contender looks the same in every picture of a profile.
        series = f"s-peer-{peers.index(contender) % 4}" if role == "peer" else f"s-{role}"
        drawing.path([(x(each["batch"]), y(each["steps_per_s"])) for each in mine], f"series {series}")
        for each in mine:
            _reading(drawing, x(each["batch"]), y, each, series)
        labels.append((y(mine[-1]["steps_per_s"]), contender, series))
    for (_, text, series), position in zip(labels, apart([each[0] for each in labels], 17, 34, bottom), strict=True):
        drawing.text(490, position + 4, _short(text), f"label {series}")
    return drawing.markup()


def _range(each: Row) -> tuple[float, float]:
    """A measurement's lowest and highest reading; where one is missing, the measurement itself."""
    return each["low"] if each["low"] > 0 else each["steps_per_s"], max(each["high"], each["steps_per_s"])


def _reading(drawing: Drawing, x: float, y: Scale, each: Row, series: str) -> None:
    """A measurement: its spread as a bar, its median as a mark of the series' shape."""
    least, most = _range(each)
    low, high, middle = y(least), y(most), y(each["steps_per_s"])
    drawing.line(x, low, x, high, f"spread {series}")
    for end in (low, high):
        drawing.line(x - 4, end, x + 4, end, f"spread {series}")
    hover = f"{each['contender']}, batch {each['batch']:,}: {each['steps_per_s']:,.0f} steps per second"
    hover += " (suspicious)" if each["suspicious"] else ""
    kind = f"point {series}" + (" suspicious" if each["suspicious"] else "")
    if series == "s-candidate":
        drawing.add("circle", kind, cx=x, cy=middle, r=4.5, hover=hover)
    elif series in ("s-peer-0", "s-peer-2"):
        drawing.add("rect", kind, x=x - 4, y=middle - 4, width=8, height=8, hover=hover)
    else:
        drawing.add("path", kind, d=_polygon(x, middle, 5.5, series != "s-peer-1"), hover=hover)


def course(divergence: Row, event: int) -> Markup:
    """The value that differs, on both sides, timestep by timestep up to the difference."""
    first, sides = divergence["course"]["first"], [divergence["course"][side] for side in ("expected", "actual")]
    last = first + len(sides[0]) - 1
    known = [value for side in sides for value in side if value is not None]
    drawing = Drawing(
        f"course-{event}-{divergence['index']}", 640, 190, kind="course", title=f"{divergence['address']}, step by step",
        description=f"Both sides from step {first} to step {last}, in which they differ: the reference has "
        f"{divergence['expected']}, the candidate {divergence['actual']}.",
    )  # fmt: skip
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    x, y = Scale(first, last, 72, 600), Scale(low, high, 140, 32)
    drawing.text(0, 14, _short(str(divergence["address"])), "heading")
    drawing.text(640, 14, "dashes: reference, line: candidate", "tick", "end")
    for mark in ticks(low, high, 4):
        drawing.line(66, y(mark), 606, y(mark), "grid")
        drawing.text(60, y(mark) + 4, f"{mark:.4g}", "tick", "end")
    for mark in sorted({round(mark) for mark in ticks(first, last)}):
        drawing.line(x(mark), 150, x(mark), 155, "axis")
        drawing.text(x(mark), 169, f"{mark:,}", "tick", "middle")
    drawing.line(66, 150, 606, 150, "axis")
    drawing.text(336, 186, "step", "tick", "middle")
    for side, name in zip(reversed(sides), ("s-candidate", "s-reference"), strict=True):
        for run in _runs(side):
            drawing.path([(x(first + place), y(value)) for place, value in run], f"series {name}")
        if side[-1] is not None:
            drawing.add("circle", f"point {name}", cx=x(last), cy=y(side[-1]), r=4)
    return drawing.markup()


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """The values with their places, parted where one is missing."""
    runs: list[list[tuple[int, float]]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((place, value))
    return runs


def transfer(measured: Row) -> Markup | None:
    """Each comparison's interval beside the margin and the noise floor; None where nothing was compared."""
    rows = measured["comparisons"]
    if not rows:
        return None
    margin, floor = measured["margin"], measured["noise_floor"]
    ends = [abs(value) for row in rows for value in row["interval"]] + [margin, floor["half_width"] if floor else 0.0]
    reach = (max(ends) or 1.0) * 1.15
    x = Scale(-reach, reach, 8, 552)
    height = 22 + 60 * len(rows) + 34
    counts = "; ".join(
        f"{row['name']}: {row['decision']}, interval {row['interval'][0]:.4g} to {row['interval'][1]:.4g}"
        for row in rows
    )
    drawing = Drawing(
        f"transfer-{measured['event']}", 560, height, title="Differences of mean returns against the margin",
        description=f"The margin is {margin:.4g} to either side of zero. {counts}.", kind="forest",
    )  # fmt: skip
    drawing.text(x(-margin), 13, f"{-margin:+.4g}", "tick", "middle")
    drawing.text(x(0), 13, "within the margin", "tick", "middle")
    drawing.text(x(margin), 13, f"{margin:+.4g}", "tick", "middle")
    for number, row in enumerate(rows):
        top, decided = 22 + 60 * number, DECISIONS.get(row["decision"], "other")
        said = "the same episodes in both" if row["identical"] else row["decision"]
        drawing.text(0, top + 14, f"{row['name']}: {said}", "label")
        # The margin is drawn beside each interval alone, so that no line runs through the words between them.
        band, y = top + 22, top + 37
        drawing.add("rect", "margin", x=x(-margin), y=band, width=x(margin) - x(-margin), height=30)
        drawing.line(x(0), band, x(0), band + 30, "axis")
        for end in (-margin, margin):
            drawing.line(x(end), band, x(end), band + 30, "limit")
        for end in (-floor["half_width"], floor["half_width"]) if floor else ():
            drawing.line(x(end), band, x(end), band + 30, "floor")
        low, high = row["interval"]
        drawing.line(x(low), y, x(high), y, f"interval d-{decided}")
        for end in (low, high):
            drawing.line(x(end), y - 6, x(end), y + 6, f"interval d-{decided}")
        hover = f"{row['difference']:+.4g} [{low:.4g}, {high:.4g}]"
        shape = {"pass": "PASS", "fail": "FAIL", "undecided": "INCONCLUSIVE"}.get(decided, "")
        _mark(drawing, x(row["difference"]), y, 6, shape, hover=hover)
    for mark in ticks(-reach, reach, 6):
        drawing.text(x(mark), height - 20, f"{mark:g}", "tick", "middle")
    drawing.text(280, height - 4, "difference of mean returns", "tick", "middle")
    return drawing.markup()


def _mark(
    drawing: Drawing, x: float, y: float, r: float, outcome: str, commit: bool = False, hover: str = "", goto: str = ""
) -> None:
    """An outcome's mark; one that made a commit has a ring around it."""
    shape = shape_of(outcome)
    kind, where = f"mark m-{shape}", {"data_goto": goto} if goto else {}
    if commit:
        drawing.add("circle", "ring", cx=x, cy=y, r=r + 3)
    if shape == "pass":
        drawing.add("circle", kind, cx=x, cy=y, r=r, hover=hover, **where)
    elif shape == "fail":
        cross = f"M{x - r:.1f} {y - r:.1f}L{x + r:.1f} {y + r:.1f}M{x - r:.1f} {y + r:.1f}L{x + r:.1f} {y - r:.1f}"
        drawing.add("path", kind, d=cross, hover=hover, **where)
    elif shape == "error":
        drawing.add("path", kind, d=_polygon(x, y, r + 1, False), hover=hover, **where)
    elif shape == "undecided":
        drawing.add("path", kind, d=_polygon(x, y, r + 1, True), hover=hover, **where)
    elif shape == "running":
        drawing.add("circle", kind, cx=x, cy=y, r=r, hover=hover, **where)
    else:
        drawing.add("rect", kind, x=x - r, y=y - r / 2, width=2 * r, height=r, hover=hover, **where)


def _polygon(x: float, y: float, r: float, diamond: bool) -> str:
    """A diamond, or a triangle that stands on its base."""
    if diamond:
        return f"M{x:.1f} {y - r:.1f}L{x + r:.1f} {y:.1f}L{x:.1f} {y + r:.1f}L{x - r:.1f} {y:.1f}Z"
    return f"M{x:.1f} {y - r:.1f}L{x + r:.1f} {y + r * 0.8:.1f}L{x - r:.1f} {y + r * 0.8:.1f}Z"


def _step_name(recipe_step: Row) -> str:
    """A step in few letters: its level, and its module or what that level is about."""
    about = recipe_step["module"] or (
        "all modules" if recipe_step["level"] == 1 else LEVEL_NAMES.get(recipe_step["level"], "")
    )
    return f"{recipe_step['level']} · {about}"


def _short(text: str) -> str:
    return text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"


def _name(text: str) -> str:
    """Part of an id."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text)
