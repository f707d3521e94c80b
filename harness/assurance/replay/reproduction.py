"""Whether a verdict that was reached again is the recorded one: to the byte, or what its conditions explain.

Under the same conditions (processor, versions, harness) everything but the time it took has to be the same, and one digest
says so. Under others floating point, and with it the examples of a search and whole trainings, may differ: then the claim
has to be the same, and numbers within the tolerances that stand below.
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.occurrences import Occurrences
from harness.support.document import DocumentError
from harness.verdict import Outcome, Verdict

CLOSE = 1e-6
"""Relative difference up to which two recorded numbers are the same, where conditions differ."""
SHOWN = 6
_NOT_COMPARED = ("duration_s", "sandbox", "nodes", "deviations", "path", "index", "case_file")
"""How long it took says nothing, and where it ran is a condition. How far floats are off may hang on the portions in which a
candidate is asked, and these on the machine's pace. The others follow from a divergence's address and case; older records do
not have them."""


class Match(enum.StrEnum):
    """How a verdict reached again relates to the recorded one."""

    EXACT = "exact"
    WITHIN = "within tolerance"
    DIFFERENT = "different"
    NOT_REPEATED = "not repeated"


@dataclass(frozen=True)
class Reproduction:
    """A recorded verdict beside the one that was reached again.

    Attributes:
        match: EXACT and WITHIN reproduce it; NOT_REPEATED says nothing, and `because` why.
        digest, again: SHA-256 of both verdicts, without times and places (`verdict_digest`).
        changed: the conditions that are not what they were, each with what it was and what it is.
        differences: what differs, each in one line, the first few.
    """

    match: Match
    digest: str
    again: str
    changed: Mapping[str, tuple[Any, Any]]
    differences: tuple[str, ...] = ()
    because: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "match": str(self.match),
            "digest": self.digest,
            "digest_again": self.again,
            "changed": {name: {"then": then, "now": now} for name, (then, now) in self.changed.items()},
            "differences": list(self.differences),
            "because": self.because,
        }


def verdict_digest(verdict: Mapping[str, Any]) -> str:
    """SHA-256 over a verdict as JSON (`Verdict.to_json`), without what may differ from run to run."""
    return hashlib.sha256(json.dumps(_compared(verdict), sort_keys=True).encode()).hexdigest()


def reproduction(
    recorded: Mapping[str, Any], again: Mapping[str, Any], then: Mapping[str, Any], now: Mapping[str, Any]
) -> Reproduction:
    """Compare a recorded verdict with the one that was reached again.

    Args:
        recorded, again: both as JSON: digests and differences are of what was recorded, as it was recorded.
        then, now: the conditions of both (`machine.conditions`, and the sandbox).
    """
    names = [name for name in {**now, **then} if then.get(name) != now.get(name)]
    changed = {name: (then.get(name), now.get(name)) for name in names}
    kinds = _other_kinds(recorded, then), _other_kinds(again, now)
    if kinds[0] != kinds[1]:
        changed["nodes"] = kinds
    digests = verdict_digest(recorded), verdict_digest(again)
    if digests[0] == digests[1]:
        return Reproduction(Match.EXACT, *digests, changed)
    try:
        then_found, now_found = Verdict.from_json(recorded), Verdict.from_json(again)
    except DocumentError as error:
        return Reproduction(Match.DIFFERENT, *digests, changed, because=f"the verdict is malformed: {error}")
    for verdict, when in ((then_found, "was"), (now_found, "is")):
        if verdict.outcome is Outcome.ERROR:
            why = f"it {when} an ERROR, which is no judgement: {_error(verdict)}"
            return Reproduction(Match.NOT_REPEATED, *digests, changed, because=why)
    differences = tuple(_differences(_compared(recorded), _compared(again)))[:SHOWN]
    if not changed:
        return Reproduction(Match.DIFFERENT, *digests, changed, differences, "under the very same conditions")
    if broken := "; ".join(_broken_claims(then_found, now_found)):
        return Reproduction(Match.DIFFERENT, *digests, changed, differences, broken)
    why = f"the same claim under other conditions: {', '.join(sorted(changed))}"
    return Reproduction(Match.WITHIN, *digests, changed, differences, why)


def _other_kinds(verdict: Mapping[str, Any], conditions: Mapping[str, Any]) -> list[str]:
    """How the nodes on which its references were differ from the machine that asked, each kind once; what they are called
    says nothing.
    """
    nodes = verdict.get("nodes")
    facts = [each for each in nodes.values() if isinstance(each, Mapping)] if isinstance(nodes, Mapping) else []
    other = ({name: value for name, value in each.items() if value != conditions.get(name)} for each in facts)
    return sorted({json.dumps(each, sort_keys=True) for each in other if each})


def _broken_claims(recorded: Verdict, again: Verdict) -> Iterator[str]:
    """What of a verdict must hold on any machine, and does not."""
    if recorded.outcome is not again.outcome:
        yield f"it was {recorded.outcome} and is {again.outcome}"
        return
    for one, other in zip(recorded.reports, again.reports, strict=False):
        where = f"level {one.level}"
        if (one.level, one.outcome, one.module) != (other.level, other.outcome, other.module):
            yield f"{where} was {one.outcome} and level {other.level} is {other.outcome}"
            continue
        # A later version may check more, and that must then have passed: the same level could not pass otherwise.
        checks = {check.name: check.outcome for check in other.checks}
        for check in one.checks:
            if checks.get(check.name) is not check.outcome:
                found = checks.get(check.name, "not there")
                yield f"{where}: the check {check.name!r} was {check.outcome} and is {found}"
        locations = [
            [(found.check, found.rule, found.address, found.module) for found in report.divergences[:1]]
            for report in (one, other)
        ]
        if locations[0] != locations[1]:
            yield f"{where} first differed at {locations[0]} and differs at {locations[1]}"
        if one.outcome is Outcome.PASS and one.episodes != other.episodes and one.transfer is None:
            yield f"{where} compared {one.episodes} episodes and compares {other.episodes}"
        if one.evidence == other.evidence and _tell_otherwise(one.occurred, other.occurred):
            yield f"{where} compared the very same things and tells other outcomes of them"
        yield from _broken_transfer(one.transfer, other.transfer, where)


def _tell_otherwise(one: Occurrences | None, other: Occurrences | None) -> bool:
    """Whether two tables of outcomes contradict each other: an older one does not tell all that a newer one does."""
    if one is None or other is None:
        return False
    if one.longest is None or other.longest is None:
        one, other = (replace(table, longest=None) for table in (one, other))
    return one != other


def _broken_transfer(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None, where: str) -> Iterator[str]:
    """Trainings go other ways on other machines: decisions must stay, and differences within the margin that decides."""
    if one is None or other is None:
        return
    for row, again in zip(one["comparisons"], other["comparisons"], strict=True):
        if row["decision"] != again["decision"]:
            yield f"{where}: {row['name']} was {row['decision']} and is {again['decision']}"
        elif abs(row["difference"] - again["difference"]) > one["margin"]:
            yield f"{where}: {row['name']} differed by {row['difference']:.4g} and differs by {again['difference']:.4g}"


def _differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from _differences(one.get(name), other.get(name), f"{path}/{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from _differences(a, b, f"{path}/{number}")
    elif one != other and not _close(one, other):
        yield f"{path.removeprefix('/')}: {_short(one)} -> {_short(other)}"


def _close(one: Any, other: Any) -> bool:
    numbers = all(isinstance(value, float) for value in (one, other))
    return numbers and math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _error(verdict: Verdict) -> str:
    if verdict.error:
        return verdict.error
    checks = (check for report in verdict.reports for check in report.checks)
    return next((check.detail for check in checks if check.outcome is Outcome.ERROR), "it says no more")


def _compared(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _compared(inner) for name, inner in value.items() if name not in _NOT_COMPARED}
    if isinstance(value, list | tuple):
        return [_compared(inner) for inner in value]
    return value
