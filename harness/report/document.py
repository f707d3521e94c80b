"""The report's data: one JSON-ready document, made from a record alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from harness import __version__
from harness.assurance.audit import AuditReport, audit
from harness.record.event import START
from harness.record.keys import PublicKey
from harness.record.rotation import ROTATED
from harness.record.specification import WORKFLOW, last_frozen
from harness.record.store import Store
from harness.record.task_update import TASK_UPDATED
from harness.report import measured, plain
from harness.report.attempts import attempts, recipe_step_of
from harness.report.certified import certificates
from harness.report.detection import detection
from harness.report.frames import Frames
from harness.report.reading import Reading, read
from harness.report.specified import specification
from harness.session import recipe
from harness.session.recipe import ATTEMPT, INTERRUPTED, REFUSED, RESUMED, VERDICT, State

SCHEMA = 1
BROKEN = "broken"
"""The state of a record that the audit does not vouch for, whatever its log says."""
UNKNOWN = "unknown"
REMARKABLE = (REFUSED, RESUMED, ROTATED, TASK_UPDATED)
"""Events that a reader wants to see one by one, beside the attempts."""
Row = dict[str, Any]


def collect(store: Store, public_key: PublicKey | Path | None = None, unisolated: Sequence[PublicKey] = ()) -> Row:
    """Everything that the report shows, JSON-ready (docs/report.md names its fields).

    Every text in it is made harmless to look at (`harness.report.plain`), but not escaped: that is for the caller.

    Args:
        store: a record; nothing else is read.
        public_key: the key that must have signed it, or its file, which says of some keys that they sign only what ran
            without isolation; without it the record's own word is taken.
        unisolated: further keys that are known to sign only that.

    Raises:
        RecordError: there is no log. What is damaged inside a record is left out and named under `damage`.
    """
    reading = read(store)
    checked = audit(store, public_key, unisolated=unisolated)
    state = reading.state()
    frames = Frames()
    rows = attempts(reading, frames)
    start = reading.start
    detail: Mapping[str, Any] = {} if start is None else plain.mapping(start.detail)
    commits = [_commit(each) for each in checked.to_json()["rows"]]
    document: Row = {
        "schema": SCHEMA,
        "lockstep": __version__,
        "stamp": reading.stamp,
        "session": plain.line(detail.get("session"), 120) or UNKNOWN,
        "task": plain.line("" if start is None else start.arguments.get("task"), 120) or UNKNOWN,
        "task_digest": plain.line(checked.task_digest, 64),
        "started": _time(reading, 0),
        "updated": _time(reading, -1),
        "summary": _summary(reading, state, checked, rows, commits),
        "audit": _audit(checked),
        "recipe_steps": _recipe_steps(state, rows),
        "attempts": rows,
        "other_events": _others(reading),
        "profiles": measured.profiles(reading),
        "transfers": measured.transfers(reading),
        "has_level_4": state is not None and 4 in state.plan.levels,
        "coverage": measured.coverage(rows),
        "reached": measured.reached(reading),
        "strength": measured.strength(reading),
        "detection": detection(reading),
        "certificates": certificates(reading),
        "specification": specification(reading),
        "cost": measured.cost(reading, rows),
        "commits": commits,
        "machine": {plain.line(k, 40): plain.line(v, 120) for k, v in plain.mapping(detail.get("machine")).items()},
        "frames_left_out": frames.left_out,
    }
    return document | {"damage": [plain.line(each, 400) for each in plain.listed(reading.damage)]}


def _time(reading: Reading, location: int) -> str:
    return plain.line(reading.events[location].time, 40) if reading.events else ""


def _summary(
    reading: Reading, state: State | None, checked: AuditReport, rows: Sequence[Row], commits: Sequence[Row]
) -> Row:
    """The verdict first: where the session stands, and the figures on which that rests."""
    status: Row = {} if state is None else recipe.status(state)
    outcomes = Counter(row["outcome"] for row in rows)
    found = [each for row in rows for each in row["divergences"]]
    bounded = next((each for each in reversed(commits) if each["bound"] is not None), None)
    sandboxes = [row["sandbox"] for row in rows if row["sandbox"]]
    here = BROKEN if not checked.ok else _stands(reading, status)
    needed = plain.mapping(status.get("needs_human"))
    return {
        "state": here,
        "next": None if state is None or (step := recipe.next_step(state)) is None else str(step),
        "because": [plain.line(each) for each in plain.listed(needed.get("because"))],
        "highest_level": None if state is None else _highest(state),
        "proved": _proved([each for each in commits if each["event"] >= _task_since(checked)]),
        "levels": [] if state is None else list(state.plan.levels),
        "commit": commits[-1]["commit"] if commits else None,
        "bounded": None
        if bounded is None
        else {name: bounded[name] for name in ("commit", "bound", "episodes", "steps", "event")},
        "attempts": len(rows),
        "outcomes": dict(sorted(outcomes.items())),
        "divergences": sum(row["divergences_found"] for row in rows),
        "open_divergences": sum(1 for each in found if each["repaired"] is None),
        "sandboxes": sorted({each["driver"] for each in sandboxes}),
        "isolated": all(each["isolated"] for each in sandboxes) if sandboxes else checked.isolated,
        "seconds": _elapsed(reading),
        "dollars": plain.number(status.get("dollars")),
    }


def _stands(reading: Reading, status: Row) -> str:
    """Where the session stands; one on a specification has no recipe, and is at work until it is frozen."""
    if reading.start is not None and plain.mapping(reading.start.detail).get("workflow") == WORKFLOW:
        return recipe.WORKING if last_frozen(reading.events) is None else recipe.DONE
    return str(status.get("state", UNKNOWN))


def _highest(state: State) -> int:
    """The highest level of which, as of those below it, every step has passed; 0 where there is none."""
    missing = [step.level for step in state.plan.steps if step not in state.passed]
    return max((level for level in state.plan.levels if level < min(missing, default=99)), default=0)


def _proved(commits: Sequence[Row]) -> Row | None:
    """The highest level that a commit proves for the whole task, and the newest such commit; None where there is none."""
    whole = [each for each in commits if each["module"] is None and each["levels"]]
    best = max(reversed(whole), key=lambda each: max(each["levels"]), default=None)
    return None if best is None else {"level": max(best["levels"]), "commit": best["commit"]}


def _task_since(checked: AuditReport) -> int:
    """The event that brought the task in force: what was proved before it was proved of another one."""
    return int(checked.tasks[-1]["from"]) if checked.tasks else 0


def _elapsed(reading: Reading) -> float:
    def between() -> float:
        first, last = (datetime.fromisoformat(reading.events[location].time) for location in (0, -1))
        return max((last - first).total_seconds(), 0.0)

    return reading.safely("the times of events", between, 0.0) if reading.events else 0.0


def _audit(checked: AuditReport) -> Row:
    problems = checked.problems
    return {
        "ok": checked.ok,
        "key": plain.line(checked.key, 80),
        "isolated": checked.isolated,
        "pinned": checked.pinned,
        "events": checked.events,
        "last_event": plain.line(checked.last_event, 64),
        "first_bad": plain.commit_id(checked.first_bad),
        "count": len(problems),
        "problems": [
            {"rule": plain.line(each.rule, 40), "event": each.seq, "what": plain.line(each.what, 600)}
            for each in problems[: plain.MAX_ITEMS]
        ],
    }


def _commit(row: Mapping[str, Any]) -> Row:
    """What one verified commit proved, from the audit's row."""
    reports = plain.objects(list(row["levels"]))
    machine = {plain.line(k, 40): plain.line(v, 120) for k, v in plain.mapping(row["machine"]).items()}
    return {
        "commit": plain.commit_id(row["commit"]),
        "event": row["seq"],
        "time": plain.line(row["time"], 40),
        "message": plain.line(row["message"], 200),
        "step": f"level {plain.whole(row['level'])}"
        + (f" of {plain.line(row['module'], 80)}" if row["module"] else ""),
        "module": plain.line(row["module"], 80) or None,
        "levels": [plain.whole(each.get("level")) for each in reports],
        "cases": plain.whole(row["cases"]),
        "examples": plain.whole(row["examples"]),
        "episodes": plain.whole(row["episodes"]),
        "steps": plain.whole(row["steps"]),
        "bound": plain.optional(row["bound"]),
        "seed": plain.whole(row["seed"]),
        "sandbox": plain.line(row["sandbox"], 80),
        "isolated": row["isolated"] is True,
        "image": plain.line(row["image"], 100),
        "ssh": plain.line(row["ssh"], 100),
        "duration_s": plain.number(row["duration_s"]),
        "attempts": plain.whole(row["attempts"]),
        "dollars": plain.number(row["dollars"]),
        "dollars_reported": plain.number(row["dollars_reported"]),
        "machine": machine,
    }


def _recipe_steps(state: State | None, rows: Sequence[Row]) -> list[Row]:
    """The recipe's steps, in order, and what else attempts were about (`passed` None: it is not a step of its own)."""
    recipe_steps: dict[str, Row] = {}
    for step in () if state is None else state.plan.steps:
        key = recipe_step_of(step.level, step.module)
        recipe_steps[key] = {
            "recipe_step": key,
            "level": step.level,
            "module": plain.line(step.module, 80) or None,
            "name": plain.line(step),
            "passed": step in state.passed if state else False,
        }
    for row in rows:
        name = row["step"] if row["level"] > 1 or row["module"] else "level 1, all modules"
        fallback = {each: row[each] for each in ("recipe_step", "level", "module")} | {"name": name, "passed": None}
        recipe_steps.setdefault(row["recipe_step"], fallback)
    return sorted(recipe_steps.values(), key=lambda recipe_step: recipe_step["level"])


def _others(reading: Reading) -> Row:
    """What else was recorded: how often each kind, and the few that a reader should see one by one."""
    described = (START, ATTEMPT, VERDICT, INTERRUPTED)
    counts = Counter(plain.line(event.kind, 40) for event in reading.events if event.kind not in described)
    shown = [
        {
            "event": event.seq,
            "time": plain.line(event.time, 40),
            "kind": plain.line(event.kind, 40),
            "what": plain.line(event.detail.get("finding") or event.arguments.get("reason"), 600),
        }
        for event in reading.events
        if event.kind in REMARKABLE
    ]
    return {"counts": dict(sorted(counts.items())), "shown": shown[: plain.MAX_ITEMS]}
