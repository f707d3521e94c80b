"""The page: the document through the templates, with a policy that lets nothing else in."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.calls import ShellCalls
from harness.measure.profile.text import figure
from harness.measure.strength.text import share
from harness.report import charts, detection
from harness.report.document import BROKEN
from harness.report.svg import Drawing
from harness.session.coverage import count
from harness.support.text import visible
from harness.verdict import LEVEL_NAMES

TEMPLATES = Path(__file__).parent / "templates"
SECTIONS = (
    ("summary", "Summary"),
    ("timeline", "Timeline"),
    ("commits", "Commits"),
    ("divergences", "Divergences"),
    ("speed", "Speed"),
    ("transfer", "Transfer"),
    ("coverage", "Coverage"),
    ("cost", "Cost and time"),
    ("attempts", "All attempts"),
)
SPECIFICATION = ("specification", "Specification")
DRAWN_PROFILES = 10
"""So many of the newest profiles are drawn; the others have their tables."""
LISTED_ATTEMPTS = 100
"""On a page of at most so many attempts every check has a row of its own."""
NARROWEST_FRAME = 192
"""Pixels across that the style sheet gives a picture at least."""
_CELL = re.compile(r"\[ *[-+.0-9A-Za-z]+\]")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Headline:
    """The verdict: the `tone` that colours it, a word, and sentences that say what it means."""

    tone: str
    label: str
    sentences: tuple[str, ...]


def render(document: Row, *, live: bool = False) -> str:
    """The page of a document (`harness.report.document.collect`) as HTML that needs nothing else.

    `live` adds the script that asks the server of `lockstep view` for news, and the permission for it.
    """
    css = _asset("report.css")
    scripts = [_asset("report.js")] + ([_asset("live.js")] if live else [])
    drawn = document["profiles"][:DRAWN_PROFILES]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            doc=document,
            calls=ShellCalls(document["session"]),
            live=live,
            policy=policy(live=live),
            css=Markup(css),
            scripts=[Markup(script) for script in scripts],
            sections=SECTIONS if document["specification"] is None else (SECTIONS[0], SPECIFICATION, *SECTIONS[1:]),
            headline=headline(document),
            filters=_filters(document["attempts"]),
            features=_features(document["coverage"]),
            charts={
                "timeline": charts.timeline(document),
                "speed": {profile["event"]: charts.speed(profile) for profile in drawn},
                "transfer": charts.transfer(document["transfers"][0]) if document["transfers"] else None,
                "detection": detection.chart(document["detection"][0]) if document["detection"] else None,
            },
        )
    )


def policy(*, live: bool) -> str:
    """The Content-Security-Policy of a page: its own script and style, by their digests, and pictures that are in it."""
    scripts = [_asset("report.js")] + ([_asset("live.js")] if live else [])
    parts = [
        "default-src 'none'",
        f"script-src {' '.join(_digest(script) for script in scripts)}",
        f"style-src {_digest(_asset('report.css'))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*parts, "connect-src 'self'"] if live else parts)


def headline(document: Row) -> Headline:
    """The verdict in words."""
    session_summary, checked = document["summary"], document["audit"]
    bounded, level = session_summary["bounded"], session_summary["highest_level"]
    so_far = (_so_far(level, session_summary["proved"]),)
    if session_summary["state"] == BROKEN:
        first = checked["problems"][0]["what"] if checked["problems"] else ""
        return Headline("fail", "Not to be relied on", (f"The audit found {checked['count']}: {first}",))
    if document["specification"] is not None:
        return _of_specification(document["specification"])
    if session_summary["state"] == "done":
        sentences = [f"Every step of the recipe has passed, up to level {level}."]
        if bounded:
            sentences.append(
                f"In {bounded['episodes']:,} whole episodes ({bounded['steps']:,} steps) nothing differed. "
                f"With 95% confidence at most {_percent(bounded['bound'])} of episodes diverge."
            )
        return Headline("pass", "Verified", tuple(sentences))
    if session_summary["state"] == "needs_human":
        return Headline("undecided", "Needs a person", (f"{'; '.join(session_summary['because'])}.", *so_far))
    if session_summary["state"] == "working":
        return Headline("working", "In progress", (f"Next is {session_summary['next']}.", *so_far))
    return Headline("undecided", "Unclear", ("The record does not say where the recipe stands.",))


def _of_specification(told: Row) -> Headline:
    uncovered = sum(not one["scenarios"] and not one["without"] for one in told["statements"])
    rules = f"{len(told['statements'])} statements, {len(told['rulings'])} rulings."
    if told["frozen"] is not None:
        agreed = "Both readings agree over levels 1 to 3 and do as every scenario says."
        return Headline("pass", "Frozen", (rules, agreed, f"The {told['frozen']['which']} one is the reference."))
    return Headline("working", "In progress", (rules, f"{uncovered} statements have no scenario yet."))


def _so_far(level: int | None, proved: Row | None) -> str:
    """Where the recipe stands, and what a commit proves beyond that: what comes after it may fail."""
    if proved is not None and proved["level"] > (level or 0):
        now = f"only level {level} has" if level else "no level has"
        return f"Level {proved['level']} passed in commit {proved['commit'][:12]}; in what was tried since, {now}."
    return f"So far level {level} has passed." if level else "No level has passed yet."


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_filtered,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "bar": _bar,
        "count": lambda value: f"{value:,}",
        "cut": lambda text, limit: text if len(text) <= limit else text[: limit - 1] + "…",
        "coarse": _coarse,
        "course": charts.course,
        "diff": _diff,
        "dollars": lambda value: f"${value:,.2f}",
        "duration": _duration,
        "ended": _ended,
        "g": lambda value: "" if value is None else f"{value:.4g}",
        "level_name": lambda level: LEVEL_NAMES.get(level, "unknown"),
        "marked": _marked,
        "moment": _moment,
        "outcomes": lambda outcomes: ", ".join(f"{count:,} {name}" for name, count in outcomes.items()),
        "percent": _percent,
        "rate": figure,
        "rates": _rates,
        "reached": lambda reached: count((reached[0], reached[1])),
        "shape": charts.shape_of,
        "share": share,
        "signed": lambda value: f"{value:+.4g}",
        "symbol": charts.symbol,
        "check_rows": _check_rows,
    }
    return made


def _filtered(value: Any) -> Any:
    """What a template puts into the page: text as a reader may see it; markup is made of such already."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(content.encode()).digest()).decode()}'"


def _filters(rows: Sequence[Row]) -> dict[str, list[Any]]:
    return {
        "level": sorted({row["level"] for row in rows}),
        "outcome": sorted({row["outcome"] for row in rows}),
        "module": list(dict.fromkeys(row["module"] for row in rows if row["module"])),
    }


def _features(coverage: Sequence[Row]) -> dict[str, Any]:
    """The levels that count features, and of each feature its count at each of them (None where it is not counted).

    `unreached` are those that no level reached.
    """
    counted = [each for each in coverage if each["features"]]
    names = dict.fromkeys(name for each in counted for name in each["features"])
    rows = [(name, [each["features"].get(name) for each in counted]) for name in names]
    return {
        "levels": [each["level"] for each in counted],
        "rows": rows,
        "unreached": [name for name, counts in rows if not any(counts)],
    }


def _rates(profile: Row) -> dict[str, Any]:
    """A profile's figures as a table: a row for each contender and kind of run, a column for each batch size.

    `reference` are the reference's own, which have a number of workers instead.
    """
    batched = [each for each in profile["figures"] if each["kind"] not in charts.REFERENCE_ALONE]
    batches = sorted({each["batch"] for each in batched})
    kinds = list(dict.fromkeys(each["kind"] for each in batched))
    batched.sort(key=lambda each: kinds.index(each["kind"]))
    rows = {(each["kind"], each["contender"]): {batch: [] for batch in batches} for each in batched}
    for each in batched:
        rows[each["kind"], each["contender"]][each["batch"]].append(each)
    return {
        "batches": batches,
        "rows": [(*named, list(cells.values())) for named, cells in rows.items()],
        "reference": [each for each in profile["figures"] if each["kind"] in charts.REFERENCE_ALONE],
    }


def _moment(time: str) -> str:
    """An event's time to the second, in UTC; what is no time as it stands there."""
    try:
        return f"{datetime.fromisoformat(time).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError):
        return time or "unknown time"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:,.0f} h {seconds % 3600 // 60:.0f} min"


_ENDED = {
    "FAIL": "fails",
    "INCONCLUSIVE": "is undecided",
    "ERROR": "could not be judged",
    "interrupted": "was interrupted",
    "running": "is being verified",
}


def _ended(attempt: Row) -> str:
    """What became of an attempt that has not passed. What whoever asked for it meant it to be is no title for it."""
    failed = attempt["failed_level"]
    at = f" at level {failed}" if failed and failed != attempt["level"] else ""
    return f"{attempt['step'].capitalize()} {_ENDED.get(attempt['outcome'], 'has not passed')}{at}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%"


def _coarse(picture: str) -> bool:
    """Whether a picture (a PNG as a data URL) has so few pixels that it is never shown smaller than it is.

    Such a one is shown with sharp pixels. In a larger one that would drop whole lines, and show differences where there are
    none.
    """
    header = base64.b64decode(picture.partition(",")[2][:32])
    return int.from_bytes(header[16:20]) <= NARROWEST_FRAME


def _check_rows(checks: Sequence[Row], attempts: int) -> list[Row]:
    """The rows of a level's table: checks that did not pass first, each in the order in which it ran.

    On a page of very many attempts those that passed without a remark share a row, or it would take megabytes.
    """
    rows = sorted(checks, key=lambda check: check["outcome"] == "PASS")
    if attempts <= LISTED_ATTEMPTS:
        return rows
    plain_passes = [row for row in rows if row["outcome"] == "PASS" and not row["detail"]]
    names = ", ".join(row["name"] for row in plain_passes)
    shared = {"name": names, "module": None, "detail": "", "outcome": "PASS"}
    together = [shared | {"examples": sum(row["examples"] for row in plain_passes)}] if plain_passes else []
    return [row for row in rows if row not in plain_passes] + together


def _diff(text: str) -> Markup:
    """A diff whose lines stand out by what became of them."""
    kinds = {"+": "ins", "-": "del"}
    lines = [(kinds.get(line[:1], ""), escape(visible(line))) for line in text.split("\n")]
    return Markup("\n").join(Markup(f"<{kind}>{line}</{kind}>" if kind else line) for kind, line in lines)


def _marked(grid: str) -> Markup:
    """A grid's text with the elements that differ (in brackets) standing out."""
    return Markup(_CELL.sub(r"<mark>\g<0></mark>", str(escape(visible(grid)))))


def _bar(value: float, among: Sequence[tuple[Any, float]]) -> Markup:
    """A bar of a value's share of the largest."""
    largest = max((each[1] for each in among), default=0.0)
    drawing = Drawing("", 100, 5, kind="bar")
    drawing.root.set("preserveAspectRatio", "none")
    drawing.add("rect", x=0, y=0, height=5, width=100 * value / largest if largest > 0 else 0.0)
    return drawing.markup()
