"""A certificate checked again by somebody else: the commit examined from its seed, part by part beside what was recorded.

What decides is the same in every case: the verdict, the probes, what the tests reach and which mutants they kill follow from
commit and seed, so under the same conditions they are the same but for the time they took. Speed does not: it is measured
again, and both figures are reported.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.assurance.certify.examination import Settings, examine
from harness.assurance.certify.issue import recorded_tree
from harness.assurance.replay.reproduction import Match, reproduction
from harness.errors import RecordError
from harness.measure.strength.result import strength_digest
from harness.record.certificate import (
    ALL_PARTS,
    CERTIFIED,
    COVERAGE,
    DETECTION,
    PROBES,
    SPEED,
    STRENGTH,
    VERDICT,
    parts_of,
    statement,
)
from harness.record.event import Event
from harness.record.keys import PublicKey
from harness.record.machine import conditions
from harness.record.store import Store
from harness.support import former
from harness.support.document import DocumentError
from harness.support.progress import Progress
from harness.verdict import Outcome
from sandboxes import Driver

REACHED = ("together", "modules", "never", "untaken", "unreached_features", "not_measured")
"""What of a coverage has to be the same; on a slow machine fewer questions may be asked again, and that changes nothing."""


class Again(enum.StrEnum):
    """How a part that was run again relates to the recorded one."""

    EXACT = "exact"
    WITHIN = "within tolerance"
    MEASURED = "measured again"
    DIFFERENT = "different"
    MISSING = "not run"


@dataclass(frozen=True)
class PartAgain:
    """One part, then and now. `because` says what differs, or which conditions do."""

    part: str
    again: Again
    outcome: str
    outcome_again: str
    because: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "part": self.part,
            "match": str(self.again),
            "outcome": self.outcome,
            "outcome_again": self.outcome_again,
            "because": self.because,
        }


@dataclass(frozen=True)
class Recheck:
    """A certificate that somebody came to again.

    Attributes:
        event, commit, outcome, figures: of the certificate, as its record states them.
        key: the id of the key that signed it; `pinned` says whether the caller named that key, or one that vouches for it.
        parts: what was run again, beside what was recorded.
    """

    event: int
    commit: str
    outcome: str
    figures: Mapping[str, Any]
    key: str
    pinned: bool
    parts: tuple[PartAgain, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the certificate."""
        return all(each.again in (Again.EXACT, Again.WITHIN, Again.MEASURED) for each in self.parts)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "ok": self.ok,
            "event": self.event,
            "commit": self.commit,
            "certified": self.outcome == Outcome.PASS,
            "outcome": self.outcome,
            "figures": dict(self.figures),
            "key": self.key,
            "pinned": self.pinned,
            "parts": [each.to_json() for each in self.parts],
        }


def newest(events: Sequence[Event]) -> Event:
    """The newest certificate of a record.

    Raises:
        RecordError: there is none.
    """
    for event in reversed(events):
        if event.kind == CERTIFIED:
            return event
    raise RecordError(
        "the record holds no certificate",
        expected=f"an event of the kind `{CERTIFIED}`",
        next_step="run `lockstep certify` in the session, then clone or bundle its record again",
    )


def recheck(
    store: Store,
    event: Event,
    key: PublicKey,
    driver: Driver,
    scratch: Path,
    progress: Progress,
    on_part: Callable[[PartAgain], None] = lambda part: None,
) -> list[PartAgain]:
    """Examine the commit of a certificate again, from the record alone.

    Args:
        event: the certificate's; `key` signed it.
        scratch: a directory that does not exist yet, for the commit's files.
        on_part: called with each part as soon as it has been run again.

    Raises:
        RecordError: the certificate or the commit is damaged.
        TaskError: the recorded task cannot be read by this version.
    """
    ours = statement(store, event, key)["predicate"]["lockstep"]
    then = {**ours["conditions"], "sandbox": ours["sandbox"]}
    recorded = parts_of(store, event)
    found: list[PartAgain] = []

    now = conditions()

    def compare(part: str, document: Mapping[str, Any], _: float) -> None:
        if part == VERDICT:
            now["sandbox"] = document["sandbox"]
        found.append(_compared(part, recorded.get(part), document, then, now))
        on_part(found[-1])

    with recorded_tree(store, event.arguments["commit"], scratch) as (task, tree):
        settings = _settings(ours["settings"], event)
        examine(task, tree, driver, ours["seed"], settings, progress, on_part=compare)
    ran = {each.part for each in found}
    for name in ALL_PARTS:
        if (before := recorded.get(name)) is not None and name not in ran:
            found.append(
                PartAgain(name, Again.MISSING, before["outcome"], "", "an earlier part did not pass this time")
            )
    return found


def _settings(stated: object, event: Event) -> Settings:
    try:
        return Settings.from_json(stated)
    except DocumentError as error:
        raise RecordError(f"the summary states no settings: {error}", where=f"event {event.seq}") from error


def _compared(
    part: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
    then: Mapping[str, Any],
    now: Mapping[str, Any],
) -> PartAgain:
    if before is None:
        return PartAgain(part, Again.DIFFERENT, "", after["outcome"], "the certificate does not have this part")
    outcomes = before["outcome"], after["outcome"]
    changed = sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    if part == VERDICT:
        repeated = reproduction(before, after, then, now)
        matches = {Match.EXACT: Again.EXACT, Match.WITHIN: Again.WITHIN}
        because = "; ".join((repeated.because, *repeated.differences)) if repeated.match is not Match.EXACT else ""
        return PartAgain(part, matches.get(repeated.match, Again.DIFFERENT), *outcomes, because)
    if outcomes[0] != outcomes[1]:
        why = str(after.get("because") or after.get("error") or "")
        return PartAgain(part, Again.DIFFERENT, *outcomes, f"its outcome is another{': ' + why if why else ''}")
    if part == SPEED:
        return PartAgain(part, Again.MEASURED, *outcomes, "speed belongs to the machine; its spot checks are repeated")
    if _digest(part, before) == _digest(part, after):
        return PartAgain(part, Again.EXACT, *outcomes)
    why = f"under other conditions: {', '.join(changed)}" if changed else "under the very same conditions"
    same_claim = changed and _claim(part, before) == _claim(part, after)
    return PartAgain(part, Again.WITHIN if same_claim else Again.DIFFERENT, *outcomes, why)


def _digest(part: str, document: Mapping[str, Any]) -> str:
    """SHA-256 over what has to be the same, however long it took."""
    if part in (STRENGTH, DETECTION):
        return strength_digest(document)
    same = {name: document.get(name) for name in REACHED} if part == COVERAGE else document
    return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()


def _claim(part: str, document: Mapping[str, Any]) -> Any:
    """What must hold on any machine: which probes passed, which lines were reached, which mutants survived."""
    if part == PROBES:
        return [(former.CHECKS.get(check["name"], check["name"]), check["outcome"]) for check in document["checks"]]
    if part == COVERAGE:
        return document["together"]
    return document.get({STRENGTH: "rates", DETECTION: "curve"}[part])
