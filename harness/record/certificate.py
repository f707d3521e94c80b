"""What a certificate is, as the record holds it.

A certification leaves two events. `certifying` states the commit, what was asked, and the seed, which is drawn then: after
the commit was made. `certified` carries a document for each part of the examination, and a verification summary in an
envelope (`harness.record.attest`) that names each document by its digest. Everything that the summary claims follows from
the documents, by the functions below; the audit holds it against them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import RecordError
from harness.record.attest import unseal
from harness.record.event import Event
from harness.record.keys import PublicKey
from harness.record.log import event_file
from harness.record.store import Store
from harness.support.foreign import json_of
from harness.verdict import Outcome

CERTIFYING, CERTIFIED = "certifying", "certified"
"""The kinds of the events at the begin and at the end of a certification."""
VERDICT, PROBES, COVERAGE, STRENGTH, SPEED = PARTS = ("verdict", "probes", "coverage", "strength", "speed")
"""The parts of an examination, in the order in which they run."""
DETECTION = "detection"
"""A part that not every certificate has, after the strength: which faults in rare states are caught."""
ALL_PARTS = (*PARTS, DETECTION)
DECIDING = (VERDICT, PROBES, SPEED)
"""Those that a candidate can fail. The others measure the tests, not the candidate."""
DIRECTORY = "certificate"
ENVELOPE = f"{DIRECTORY}/summary.json"
SEED = "run"

Parts = Mapping[str, Mapping[str, Any]]
"""The documents of the parts that ran, each with an `outcome`."""


def path_of(part: str) -> str:
    """Where a part lies below its event."""
    return f"{DIRECTORY}/{part}.json"


def seed_of(seed: int, part: str) -> int:
    """The seed (62 bits) of one part of an examination."""
    return int.from_bytes(hashlib.sha256(f"{seed}/certify/{part}".encode()).digest()[:8], "big") >> 2


def outcome_of(parts: Parts) -> Outcome:
    """PASS where every part ran and each that decides did pass; else how the part ended that stopped the others."""
    worst = Outcome.worst([Outcome(parts[name]["outcome"]) for name in DECIDING if name in parts])
    complete = all(name in parts for name in PARTS)
    return worst if complete or worst not in (Outcome.PASS, Outcome.SKIPPED) else Outcome.ERROR


def claims(parts: Parts) -> dict[str, Any]:
    """What a summary says of its parts: result, levels, the outcome of each part, and the short figures."""
    return {
        "verificationResult": "PASSED" if outcome_of(parts) is Outcome.PASS else "FAILED",
        "verifiedLevels": [
            f"LOCKSTEP_LEVEL_{level['level']}" for level in parts[VERDICT]["levels"] if level["outcome"] == Outcome.PASS
        ],
        "parts": {name: part["outcome"] for name, part in parts.items()},
        "figures": figures(parts),
    }


def figures(parts: Parts) -> dict[str, Any]:
    """The few numbers by which a certificate is known, as far as its parts have them."""
    levels = parts[VERDICT]["levels"]
    bounds = [level["divergence_bound_95"] for level in levels if level["divergence_bound_95"] is not None]
    short: dict[str, Any] = {
        "levels": {str(level["level"]): level["outcome"] for level in levels},
        "divergence_bound_95": min(bounds, default=None),
    }
    taken = {STRENGTH: "rates", COVERAGE: "together"}
    for part, name in taken.items():
        if part in parts and parts[part]["outcome"] == Outcome.PASS:
            short[part] = parts[part][name]
    if DETECTION in parts and parts[DETECTION]["outcome"] == Outcome.PASS:
        short[DETECTION] = _curve(parts[DETECTION])
    if SPEED in parts and parts[SPEED]["outcome"] == Outcome.PASS:
        short[SPEED] = _fastest(parts[SPEED]["measurements"])
    return short


def finding(parts: Parts) -> str:
    """What stood in the way, in one line; empty where nothing did."""
    for name in DECIDING:
        part = parts.get(name)
        if part is not None and part["outcome"] not in (Outcome.PASS, Outcome.SKIPPED):
            return f"{name}: {part['outcome']}{_why(part)}"[:400]
    return ""


def statement(store: Store, event: Event, key: PublicKey) -> dict[str, Any]:
    """The statement of a `certified` event, its signature checked.

    Raises:
        RecordError: it is missing, another key signed it, or it was changed afterwards.
    """
    return unseal(event_file(store, event.id, ENVELOPE), key)


def parts_of(store: Store, event: Event) -> dict[str, dict[str, Any]]:
    """The documents that a `certified` event holds, by part.

    Raises:
        RecordError: one is missing or is not what the event states.
    """
    parts = {}
    for name in ALL_PARTS:
        if (stated := event.attached.get(path_of(name))) is not None:
            content = event_file(store, event.id, path_of(name))
            if hashlib.sha256(content).hexdigest() != stated:
                raise RecordError(f"{path_of(name)} is not what the event states", where=f"event {event.seq}")
            parts[name] = json_of(content)
    return parts


def begun(events: Sequence[Event], asked: Mapping[str, Any]) -> Event | None:
    """The event with which a certification began that was asked for in this way and has not ended."""
    for event in reversed(events):
        if event.kind == CERTIFIED and event.arguments == asked:
            return None
        if event.kind == CERTIFYING and event.arguments == asked:
            return event
    return None


def _why(part: Mapping[str, Any]) -> str:
    for check in (check for level in part.get("levels", [part]) for check in level.get("checks", [])):
        if check["outcome"] not in (Outcome.PASS, Outcome.SKIPPED):
            found = next(iter(check.get("divergences", [])), None)
            at = f" at {found['address']}: {found['expected']} expected, {found['actual']} found" if found else ""
            return f", {check.get('name', check.get('kind', ''))}{at or ': ' + str(check['detail'])}"
    return f", {part['error']}" if part.get("error") else ""


def _curve(detection: Mapping[str, Any]) -> dict[str, Any]:
    """The points of a detection curve, all families together, and from what they are."""
    points = [{"share": point["share"], "caught": point["caught"]} for point in detection["curve"]]
    return {"seed": detection["seed"], "played": detection["played"], "curve": points}


def _fastest(measurements: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The best median of candidate and reference, in steps per second."""
    best: dict[str, int] = {}
    for each in measurements:
        if each["role"] in ("candidate", "reference"):
            best[each["role"]] = max(best.get(each["role"], 0), each["steps_per_s"]["median"])
    return best
