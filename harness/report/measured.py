"""What a session measured: speed, what policies earned, what was reached, and what it all cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from harness.measure.coverage.result import Coverage
from harness.measure.strength.result import Strength
from harness.measure.strength.text import compact
from harness.record.certificate import CERTIFIED, COVERAGE, path_of
from harness.record.event import Event
from harness.report import plain
from harness.report.reading import Reading
from harness.session.coverage import Known, known
from harness.session.usage.account import KINDS, by_commit
from harness.support.foreign import json_of
from harness.verdict import Outcome

T = TypeVar("T")
PROFILE = "profile"
STRENGTH = "strength"
STATUSES = ("mutants", "killed", "survived", "argued", "equivalent", "stillborn", "unjudged")
ROLES = ("candidate", "peer", "reference")
MAX_SUMMARY = 4000
Row = dict[str, Any]


def profiles(reading: Reading) -> list[Row]:
    """Every profile of the session, newest first: its figures, the commit whose tree it measured, and its summary."""
    trees: dict[str, str] = {}
    found = []
    for event in reading.events:
        tree = plain.commit_id(plain.mapping(event.workspace).get("gitTree"))
        if tree and (commit := plain.commit_id(event.commit)):
            trees[tree] = commit
        if event.kind == PROFILE:
            found.append(_profile(event, trees.get(tree or "")))
    return found[::-1]


def _profile(event: Event, commit: str | None) -> Row:
    figures = [
        {
            "contender": plain.line(each.get("contender"), 80),
            "role": each["role"] if each.get("role") in ROLES else "peer",
            "kind": plain.line(each.get("kind"), 40),
            "batch": plain.whole(each.get("batch")),
            "steps_per_s": plain.number(each.get("steps_per_s")),
            "low": plain.number(each.get("low")),
            "high": plain.number(each.get("high")),
            "suspicious": each.get("suspicious") is True,
        }
        for each in plain.objects(event.detail.get("figures"))
    ]
    return {
        "event": event.seq,
        "time": plain.line(event.time, 40),
        "outcome": plain.line(event.outcome, 40),
        "finding": plain.line(event.detail.get("finding"), 600),
        "commit": commit,
        "suspicious": any(each["suspicious"] for each in figures),
        "best": max((each["steps_per_s"] for each in figures if each["role"] == "candidate"), default=None),
        "figures": figures,
        "summary": plain.block(event.detail.get("summary"), MAX_SUMMARY),
    }


def transfers(reading: Reading) -> list[Row]:
    """What level 4 measured, newest first; attempts that ended before it measured anything are not among these."""
    found = []
    for event in reading.events:
        levels = plain.objects(plain.mapping(event.detail).get("levels"))
        # Only a verdict that reached level 4 is worth being read for it.
        if any(each.get("level") == 4 for each in levels):
            for report in plain.objects(reading.verdict(event).get("levels")):
                described = plain.mapping(report.get("transfer"))
                if described:
                    found.append(_transfer(event, described, plain.line(report.get("outcome"), 40)))
    return found[::-1]


def _transfer(event: Event, described: Mapping[str, Any], outcome: str) -> Row:
    floor = plain.mapping(described.get("noise_floor"))
    return {
        "event": event.seq,
        "time": plain.line(event.time, 40),
        "outcome": outcome,
        "commit": plain.commit_id(event.commit),
        "margin": plain.number(described.get("margin")),
        "because": plain.line(described.get("because"), 600),
        "minimum_return": plain.optional(described.get("minimum_return")),
        "episodes": plain.whole(described.get("episodes")),
        "noise_floor": {
            "spread": plain.number(floor.get("spread")),
            "half_width": plain.number(floor.get("half_width")),
            "trainings": plain.whole(floor.get("trainings")),
            "decidable": floor.get("decidable") is True,
        }
        if floor
        else None,
        "comparisons": [_comparison(each) for each in plain.objects(described.get("comparisons"))],
        "policies": [_policy(each) for each in plain.objects(described.get("policies"))],
        "results": [_result(each) for each in plain.objects(described.get("results"))],
    }


def _comparison(each: Mapping[str, Any]) -> Row:
    low, high = _pair(each.get("interval"))
    return {
        "name": plain.line(each.get("name"), 200),
        "decision": plain.line(each.get("decision"), 40),
        "identical": each.get("identical") is True,
        "difference": plain.number(each.get("difference")),
        "interval": [low, high],
        "trainings": plain.whole(each.get("trainings")),
        "same_policies": plain.whole(each.get("same_policies")),
        "trainings_to_decide": plain.whole(each.get("trainings_to_decide")) or None,
        "means": list(_pair(each.get("means"))) if each.get("means") else None,
        "bootstrap_95": list(_pair(each.get("bootstrap_95"))) if each.get("bootstrap_95") else None,
        "effect_size": plain.optional(each.get("effect_size")),
        "probability_of_improvement": plain.optional(each.get("probability_of_improvement")),
    }


def _policy(each: Mapping[str, Any]) -> Row:
    returns = plain.mapping(each.get("returns"))
    return {
        "trained_in": plain.line(each.get("trained_in"), 40),
        "seed": plain.whole(each.get("seed")),
        "steps": plain.whole(each.get("steps")),
        "digest": plain.line(each.get("digest"), 64),
        "candidate": plain.optional(returns.get("candidate")),
        "reference": plain.optional(returns.get("reference")),
    }


def _result(each: Mapping[str, Any]) -> Row:
    """How the policies of several players ended their episodes at one place of the table."""
    shares = {}
    for name in ("won", "drawn", "lost"):
        share = plain.mapping(each.get(name))
        shares[name] = {"share": plain.number(share.get("share")), "interval": list(_pair(share.get("interval_95")))}
    names = {name: plain.line(each.get(name), 64) for name in ("trained_in", "played_in", "player", "opponent")}
    return {**names, "episodes": plain.whole(each.get("episodes")), **shares}


def _pair(value: object) -> tuple[float, float]:
    first, second = (*plain.listed(value), 0.0, 0.0)[:2]
    return plain.number(first), plain.number(second)


def coverage(rows: Sequence[Row]) -> list[Row]:
    """For each level, lowest first, what its newest passed report reached, and of what ran without passing the newest.

    `attempt` is the event that it is from; a level that no attempt came to is not among these.
    """
    newest: dict[int, Row] = {}
    for row in rows:
        for report in row["levels"]:
            before = newest.get(report["level"])
            passed = report["outcome"] == Outcome.PASS
            if before is None or passed or before["outcome"] != Outcome.PASS:
                described = {
                    name: report[name] for name in ("level", "outcome", "examples", "episodes", "steps", "bound")
                }
                newest[report["level"]] = described | {
                    "attempt": row["event"],
                    "features": report["features"],
                    "never": [name for name, count in report["features"].items() if not count],
                    "notes": report["notes"],
                    "floats": report["floats"],
                    "open": [c for c in report["checks"] if c["outcome"] not in (Outcome.PASS, Outcome.FAIL)],
                }
    return [newest[level] for level in sorted(newest)]


def reached(reading: Reading) -> Row | None:
    """What of the reference's lines, branches and features the levels reached, and under `candidate` in words what of the
    candidate's own code; None where nobody measured it. The newest certificate's word goes before that of the verdicts:
    it measured all levels of one commit, and `certified` is its event.
    """
    found = reading.safely("what was reached of the reference", lambda: known(reading.events), None)
    certified, whole = _certified(reading, COVERAGE, Coverage.from_json)
    if found is None and whole is None:
        return None
    found = found or Known(Coverage(), None, "", ())
    described = found.coverage if whole is None else whole
    if not (described.levels or described.not_measured or found.candidate or found.error):
        return None
    gaps = described.never()
    return {
        "certified": None if whole is None else certified,
        "levels": [
            {
                "level": level,
                "lines": list(described.lines([level])),
                "branches": list(described.branches([level])),
                "features": list(described.features([level])),
                "asked": plain.whole(each.asked),
                "repeated": plain.whole(each.repeated),
                "seconds": plain.number(each.seconds),
                "error": plain.line(each.error, 300),
            }
            for level, each in sorted(described.levels.items())
        ],
        "together": {
            "lines": list(described.lines()),
            "branches": list(described.branches()),
            "features": list(described.features()),
        },
        "modules": [
            {
                "module": plain.line(module, 80),
                "lines": list(described.lines(None, module)),
                "branches": list(described.branches(None, module)),
            }
            for module in list(described.modules)[: plain.MAX_ITEMS]
        ],
        "never": [
            {"file": plain.line(gap.file, 200), "first": gap.first, "last": gap.last} for gap in gaps[: plain.MAX_ITEMS]
        ],
        "never_count": len(gaps),
        "not_measured": [plain.line(each, 400) for each in described.not_measured],
        "candidate": [plain.line(each, 400) for each in found.candidate[: plain.MAX_ITEMS]],
        "error": plain.line(found.error, 400),
    }


def strength(reading: Reading) -> list[Row]:
    """Every measurement of how strong the tests are, by itself or for a certificate, newest first."""
    found = []
    for event in reading.events:
        if event.kind == STRENGTH:
            found.append(_strength(event, plain.mapping(event.detail.get("figures"))))
        elif event.kind == CERTIFIED and (measured := _part(reading, event, STRENGTH, Strength.from_json)) is not None:
            found.append(_strength(event, compact(measured)))
    return found[::-1]


def _certified(reading: Reading, part: str, read: Callable[[object], T]) -> tuple[int, T | None]:
    """The event of the newest certificate that has a part, and that part; None where there is none."""
    for event in reversed(reading.events):
        if event.kind == CERTIFIED and (found := _part(reading, event, part, read)) is not None:
            return event.seq, found
    return 0, None


def _part(reading: Reading, event: Event, part: str, read: Callable[[object], T]) -> T | None:
    """A part of a certificate that passed; None where it is not there or cannot be read."""
    content = reading.attached(event, path_of(part))

    def parsed() -> T | None:
        document = json_of(content or b"")
        return read(document) if document["outcome"] == Outcome.PASS else None

    return None if content is None else reading.safely(f"event {event.seq}, {path_of(part)}", parsed, None)


def _strength(event: Event, figures: Mapping[str, Any]) -> Row:
    counts, rates = plain.mapping(figures.get("counts")), plain.mapping(figures.get("rates"))
    return {
        "event": event.seq,
        "time": plain.line(event.time, 40),
        "certified": event.kind == CERTIFIED,
        "commit": plain.commit_id(event.arguments.get("commit")),
        "seed": plain.whole(figures.get("seed")),
        "enumerated": plain.whole(figures.get("enumerated")),
        "counts": {name: plain.whole(counts.get(name)) for name in STATUSES},
        "rates": {name: _killed(plain.mapping(rates.get(name))) for name in ("all", "non_equivalent", "argued")},
        "levels": [
            {name: plain.whole(each.get(name)) for name in ("level", "judged", "killed", "cumulative")}
            | {name: plain.optional(each.get(name)) for name in ("cumulative_rate", "median_seconds")}
            | {"alone": plain.whole(each.get("killed_alone")) if "killed_alone" in each else None}
            for each in plain.objects(figures.get("levels"))
        ],
        "survivors": [_survivor(each) for each in plain.objects(figures.get("survivors"))],
        "left_out": plain.whole(figures.get("survivors_left_out")),
    }


def _killed(described: Mapping[str, Any]) -> Row:
    interval = plain.listed(described.get("interval_95"))
    return {
        "killed": plain.whole(described.get("killed")),
        "total": plain.whole(described.get("total")),
        "rate": plain.optional(described.get("rate")),
        "interval": list(_pair(interval)) if interval else None,
    }


def _survivor(described: Mapping[str, Any]) -> Row:
    explanation = plain.mapping(described.get("explanation"))
    proof = plain.line(described.get("proof"), 40)
    status = described["status"] if described.get("status") in STATUSES else "survived"
    why = plain.line(explanation.get("because"), 600)
    return {
        "place": f"{plain.line(described.get('file'), 120)}:{plain.whole(described.get('line'))}",
        "function": plain.line(described.get("function"), 120),
        "before": plain.line(described.get("before"), 200),
        "after": plain.line(described.get("after"), 200),
        "status": status,
        "why": f"the same program ({proof})" if status == "equivalent" else why or "not explained",
    }


def cost(reading: Reading, rows: Sequence[Row]) -> Row:
    """Tokens and dollars by commit, since the last and in all; seconds by level, and by step of the recipe."""
    nothing = {"session": {}, "commits": [], "since_last_commit": {}}
    spent = reading.safely("the usage that was recorded", lambda: by_commit(reading.events), nothing)
    by_level: dict[int, float] = {}
    by_step: dict[str, float] = {}
    for row in rows:
        by_step[row["step"]] = by_step.get(row["step"], 0.0) + row["duration_s"]
        for report in row["levels"]:
            by_level[report["level"]] = by_level.get(report["level"], 0.0) + report["duration_s"]
    total = _spent(spent["session"])
    limit = plain.mapping(plain.mapping(reading.start.detail.get("plan")).get("limits")) if reading.start else {}
    return {
        "reported": bool(total["dollars"] or any(total[name] for name in KINDS)),
        "total": total,
        "commits": [_spent(each) for each in spent["commits"]],
        "since_last_commit": _spent(spent["since_last_commit"]),
        "limit_dollars": plain.optional(limit.get("dollars")),
        "seconds_by_level": [[level, seconds] for level, seconds in sorted(by_level.items())],
        "seconds_by_step": [[step, seconds] for step, seconds in by_step.items()],
        "seconds_verifying": sum(row["duration_s"] for row in rows),
    }


def _spent(described: Mapping[str, Any]) -> Row:
    """One row of costs; `commit` and `event` are None where it is about no commit."""
    counts = {name: plain.whole(described.get(name)) for name in ("attempts", *KINDS, "unpriced_tokens")}
    return counts | {
        "commit": plain.commit_id(described.get("commit")),
        "event": described.get("event"),
        "dollars": plain.number(described.get("dollars")),
        "dollars_reported": plain.number(described.get("dollars_reported")),
        "unpriced_models": [plain.line(name, 100) for name in plain.listed(described.get("unpriced_models"))],
    }
