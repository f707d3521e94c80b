"""Every verification of a session as a row: what was asked, how it ended, what it found, and what became of that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.calls import ShellCalls
from harness.grids import Grid, side_lines, vector_lines
from harness.occurrences import Occurrences, told
from harness.record.event import Event
from harness.report import plain
from harness.report.floats import floats
from harness.report.frames import Frames
from harness.report.reading import Reading
from harness.report.repairs import Repairs
from harness.session.recipe import ATTEMPT, INTERRUPTED, VERDICT, Step
from harness.task.contract import CASES_DIRECTORY
from harness.verdict import Divergence, Outcome
from harness.verify.explain import facts

RUNNING = "running"
SHOWN_DIVERGENCES = 12
"""So many divergences of one attempt are shown; all are counted."""
MAX_CAUSE = 1200
PHONE = 42
"""Characters of a line that fit on a narrow screen."""
SHOWN_ABOVE = ("found by", "address", "step", "expected", "actual", "rule", "cause")
"""Facts of a divergence that have a place of their own."""
Row = dict[str, Any]


def attempts(reading: Reading, frames: Frames) -> list[Row]:
    """One row for each attempt, oldest first (docs/report.md names its fields)."""
    rows: list[Row] = []
    pending: Event | None = None
    for event in reading.events:
        if event.kind == ATTEMPT:
            if pending is not None:
                rows.append(_row(reading, frames, len(rows), pending, None))
            pending = event
        elif event.kind in (VERDICT, INTERRUPTED):
            rows.append(_row(reading, frames, len(rows), pending or event, event))
            pending = None
    if pending is not None:
        rows.append(_row(reading, frames, len(rows), pending, None))
    _tell_repairs(rows, Repairs(reading))
    return rows


def recipe_step_of(level: int, module: str | None) -> str:
    """The recipe's step that an attempt was about, as a key."""
    return f"{level}/{module}" if module else str(level)


def _row(reading: Reading, frames: Frames, before: int, asked: Event, ended: Event | None) -> Row:
    """The row of an attempt and of the event that ended it (None while it runs, or where that is missing)."""
    event = ended or asked
    arguments, detail = plain.mapping(asked.arguments), plain.mapping(event.detail)
    level, module = plain.whole(arguments.get("level")), plain.line(arguments.get("module"), 80) or None
    verdict = reading.verdict(event) if event.kind == VERDICT else {}
    outcome = RUNNING if ended is None else INTERRUPTED if event.kind == INTERRUPTED else plain.line(event.outcome, 40)
    sandbox = plain.mapping(verdict.get("sandbox"))
    row: Row = {
        "number": before + 1,
        "event": event.seq,
        "asked": asked.seq,
        "time": plain.line(asked.time, 40),
        "level": level,
        "module": module,
        "recipe_step": recipe_step_of(level, module),
        "step": str(Step(level, module)),
        "message": plain.line(arguments.get("message")),
        "client": plain.line(plain.mapping(asked.detail).get("client"), 80),
        "outcome": outcome,
        "finding": plain.line(detail.get("finding"), 700),
        "failed_level": plain.whole(detail.get("failed_level")) or None,
        "seed": plain.whole(asked.seeds.get("run")),
        "drawn": plain.mapping(asked.detail).get("drawn") is not False,
        "tree": plain.commit_id(plain.mapping(asked.workspace).get("gitTree")),
        "commit": plain.commit_id(event.commit),
        "duration_s": plain.number(event.duration_s),
        "sandbox": {
            "driver": plain.line(sandbox.get("driver"), 80),
            "isolated": sandbox.get("isolated") is True,
            "image": plain.line(sandbox.get("image"), 100),
            "gpu": plain.line(sandbox.get("gpu"), 200),
        }
        if sandbox
        else None,
        "error": plain.block(verdict.get("error")),
        "levels": [_level(reading, event, each) for each in plain.objects(verdict.get("levels"))],
        "cases": [plain.line(path, 120) for path in event.attached if path.startswith(f"{CASES_DIRECTORY}/")],
    }
    found = [
        (check, each)
        for report in plain.objects(verdict.get("levels"))
        for check in plain.objects(report.get("checks"))
        for each in plain.objects(check.get("divergences"))
    ]
    row["divergences_found"] = len(found)
    row["divergences"] = [
        _divergence(reading, frames, event, index, check, each, row)
        for index, (check, each) in enumerate(found[:SHOWN_DIVERGENCES])
    ]
    return row


def _level(reading: Reading, event: Event, report: Mapping[str, Any]) -> Row:
    counted = plain.mapping(report.get("features"))
    features = {plain.line(name, 120): plain.whole(count) for name, count in counted.items()}
    described = report.get("occurred")
    occurred = (
        None
        if described is None
        else reading.safely(f"event {event.seq}, what occurred", lambda: Occurrences.from_json(described), None)
    )
    return {
        "level": plain.whole(report.get("level")),
        "module": plain.line(report.get("module"), 80) or None,
        "outcome": plain.line(report.get("outcome"), 40),
        "examples": plain.whole(report.get("examples")),
        "episodes": plain.whole(report.get("episodes")),
        "steps": plain.whole(report.get("steps")),
        "bound": plain.optional(report.get("divergence_bound_95")),
        "duration_s": plain.number(report.get("duration_s")),
        "features": features,
        "outcomes_told": [[name, plain.line(said, 900)] for name, said in told(occurred, features)],
        "floats": floats(reading, event, report),
        "notes": [plain.line(note, 600) for note in plain.listed(report.get("notes"))],
        "checks": [
            {
                "name": plain.line(check.get("name"), 200),
                "module": plain.line(check.get("module"), 80) or None,
                "outcome": plain.line(check.get("outcome"), 40),
                "examples": plain.whole(check.get("examples")),
                "detail": plain.line(check.get("detail"), 600),
            }
            for check in plain.objects(report.get("checks"))
        ],
    }


def _divergence(
    reading: Reading,
    frames: Frames,
    event: Event,
    index: int,
    check: Mapping[str, Any],
    described: Mapping[str, Any],
    row: Row,
) -> Row:
    """One divergence: its place and values, what is known of it, its frames, and how it is shown again."""
    parsed = reading.safely(f"event {event.seq}, divergence {index}", lambda: Divergence.from_json(described), None)
    known = {} if parsed is None else reading.safely("a divergence", lambda: dict(facts(parsed)), {})
    case = _case(event, parsed)
    return {
        "index": index,
        "level": plain.whole(described.get("level")),
        "check": plain.line(described.get("check"), 200),
        "module": plain.line(described.get("module") or check.get("module"), 80) or None,
        "address": plain.line(described.get("address")),
        "step": known.get("step", ""),
        "expected": plain.line(known.get("expected", described.get("expected")), 420),
        "actual": plain.line(known.get("actual", described.get("actual")), 420),
        "rule": plain.line(described.get("rule"), 120),
        "cause": plain.line(described.get("cause"), MAX_CAUSE),
        "facts": [[name, plain.line(value, 420)] for name, value in known.items() if value and name not in SHOWN_ABOVE],
        "case": case,
        "grid": None if parsed is None or parsed.grid is None else _grid(parsed.grid),
        "course": None if parsed is None or parsed.course is None else parsed.course.to_json(),
        "frames": frames.of(reading, event, index),
        "reproduce": _reproduce(case, row),
        "repaired": None,
    }


def _grid(shown: Grid) -> Row:
    """An array on both sides: its headline and parts, each with where it lies and a block of text for each side."""
    return {
        "headline": shown.headline,
        "parts": [
            {
                "at": part.index if shown.is_cut(part) else "",
                "blocks": ["\n".join(vector_lines(part, PHONE))]
                if len(part.axes) == 1
                else ["\n".join(side_lines(part, name, rows)) for name, rows in part.sides],
            }
            for part in shown.parts
        ],
    }


def _case(event: Event, found: Divergence | None) -> str | None:
    """The file that this verdict kept the divergence's case in."""
    kept = None if found is None else found.counterexample
    path = None if kept is None else f"{CASES_DIRECTORY}/{kept[0]}"
    return path if path in event.attached else None


def _reproduce(case: str | None, row: Row) -> str:
    """The call that shows a divergence again, in a workspace with the attempt's tree."""
    calls = ShellCalls()
    if case is not None:
        return calls.compare(Path(case))
    return calls.verify(row["level"], row["module"], seed=row["seed"])


def _tell_repairs(rows: list[Row], repairs: Repairs) -> None:
    """Say of each divergence by which later attempt the check that found it ran again and passed, and what was changed.

    Of several that one attempt repairs, the first has the diff, and the others its `index` under `diff_of`.
    """
    for location, row in enumerate(rows):
        told: dict[int, int] = {}
        for divergence in row["divergences"]:
            level, module = divergence["level"], divergence["module"]
            asked = next((each["module"] for each in row["levels"] if each["level"] == level), None)
            for later in rows[location + 1 :]:
                if any(_covers(report, level, asked or module) for report in later["levels"]):
                    first = told.setdefault(later["event"], divergence["index"])
                    mine = first == divergence["index"]
                    divergence["repaired"] = {
                        "event": later["event"],
                        "number": later["number"],
                        "commit": later["commit"],
                        "diff": repairs.between(row["tree"], later["tree"]) if mine else [],
                        "diff_of": None if mine else first,
                    }
                    break


def _covers(report: Row, level: int, module: str | None) -> bool:
    """Whether a level that passed has run the checks of this level and module again."""
    same = report["level"] == level and report["outcome"] == Outcome.PASS
    return same and report["module"] in (None, module)
