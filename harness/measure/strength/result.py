"""What a measurement of strength found, and its figures."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.measure.strength.explanations import EQUIVALENT, Explanation
from harness.measure.strength.judging import Finding
from harness.measure.strength.mutants import Mutant
from harness.measure.strength.statuses import ARGUED, DETECTED, ERROR, KILLED, PROVED, STILLBORN, SURVIVED, UNJUDGED
from harness.verify.statistics.hypotheses import binomial_upper_bound

CONFIDENCE_SIDE = 0.975
SCHEMA = 1
_VARYING = frozenset({"seconds", "median_seconds", "duration_s", "machine", "jobs", "resumed"})
"""What differs between two measurements from the same seed."""


@dataclass(frozen=True)
class Judged:
    """One mutant with all that is known of it.

    Attributes:
        mutant: the fault.
        findings: what the levels said, lowest first.
        proof: how it was shown to be the same program as the original (`bytecode`, `lowered`, `optimised`), or "".
        proof_seconds: what asking for its programs took; 0 where nobody asked.
        explanation: what the task says of it.
    """

    mutant: Mutant
    findings: tuple[Finding, ...] = ()
    proof: str = ""
    proof_seconds: float = 0.0
    explanation: Explanation | None = None

    @property
    def status(self) -> str:
        """`stillborn`, `killed`, `equivalent` (proved), `unjudged`, `argued` (said to be equivalent) or `survived`."""
        outcomes = {finding.outcome for finding in self.findings}
        if STILLBORN in outcomes:
            return STILLBORN
        if outcomes & DETECTED:
            return KILLED
        if self.proof:
            return PROVED
        if ERROR in outcomes:
            return UNJUDGED
        if self.explanation is not None and self.explanation.verdict == EQUIVALENT:
            return ARGUED
        return SURVIVED

    @property
    def killed_by(self) -> int | None:
        """The lowest level that detects it."""
        return min((finding.level for finding in self.findings if finding.outcome in DETECTED), default=None)

    def to_json(self) -> dict[str, Any]:
        explanation = self.explanation
        return {
            **self.mutant.to_json(),
            "status": self.status,
            "killed_by": self.killed_by,
            "kills": {str(finding.level): _without_level(finding) for finding in self.findings},
            "proof": self.proof,
            "seconds": self.proof_seconds,
            "explanation": None
            if explanation is None
            else {"verdict": explanation.verdict, "because": explanation.because},
        }


@dataclass(frozen=True)
class Strength:
    """One measurement.

    Attributes:
        task, task_digest: what was measured.
        candidate: SHA-256 over the candidate's Python files.
        seed: from which the sample and every run's seed were derived.
        settings: what was asked for.
        sandbox, isolated: where mutants ran.
        baseline: seconds that each level took on the candidate itself, which passed them.
        judged: every mutant that was chosen, by file and place.
        enumerated: how many mutants there are.
        resumed: how many were known from an interrupted run.
        machine: on what it was measured.
    """

    task: str
    task_digest: str
    candidate: str
    seed: int
    settings: Mapping[str, Any]
    sandbox: str
    isolated: bool
    baseline: Mapping[int, float]
    judged: tuple[Judged, ...]
    enumerated: int
    resumed: int = 0
    duration_s: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def contradicted(self) -> list[Judged]:
        """Mutants that the task explains as survivors, and that do not survive."""
        return [each for each in self.judged if each.explanation and each.status in (KILLED, STILLBORN, PROVED)]

    @property
    def unexplained(self) -> list[Judged]:
        """Survivors, and mutants of which nothing was learned, that nobody has explained."""
        return [each for each in self.judged if each.status in (SURVIVED, UNJUDGED) and each.explanation is None]

    def to_json(self) -> dict[str, Any]:
        """The document; docs/strength.md says what is in it."""
        counts = Counter(each.status for each in self.judged)
        return {
            "schema": SCHEMA,
            "task": self.task,
            "task_digest": self.task_digest,
            "candidate": self.candidate,
            "seed": self.seed,
            "settings": dict(self.settings),
            "sandbox": self.sandbox,
            "isolated": self.isolated,
            "enumerated": self.enumerated,
            "counts": {"mutants": len(self.judged)}
            | {name: counts[name] for name in (KILLED, SURVIVED, ARGUED, PROVED, STILLBORN, UNJUDGED)},
            "rates": self._rates(counts),
            "levels": self._levels(),
            "operators": self._operators(),
            "unexplained": [each.mutant.id for each in self.unexplained],
            "contradicted": [each.mutant.id for each in self.contradicted],
            "mutants": [each.to_json() for each in self.judged],
            "resumed": self.resumed,
            "duration_s": self.duration_s,
            "machine": dict(self.machine),
        }

    def _rates(self, counts: Mapping[str, int]) -> dict[str, Any]:
        """Killed shares, with nothing but stillborn mutants left out, without proved, and without argued equivalents too."""
        whole = len(self.judged) - counts[STILLBORN]
        sampled = self.settings["sample"] is not None and len(self.judged) < self.enumerated
        totals = {
            "all": whole,
            "non_equivalent": whole - counts[PROVED],
            "argued": whole - counts[PROVED] - counts[ARGUED],
        }
        return {name: rate(counts[KILLED], total, interval=sampled) for name, total in totals.items()}

    def _levels(self) -> list[dict[str, Any]]:
        total = sum(each.status not in (STILLBORN, PROVED) for each in self.judged)
        every = bool(self.settings["every_level"])
        table, before = [], 0
        for level, seconds in sorted(self.baseline.items()):
            ran = [(each, finding) for each in self.judged for finding in each.findings if finding.level == level]
            first = [each for each, _ in ran if each.status == KILLED and each.killed_by == level]
            alone = [(each, finding) for each, finding in ran if finding.outcome in DETECTED and each.status == KILLED]
            before += len(first)
            row: dict[str, Any] = {
                "level": level,
                "judged": sum(each.status != STILLBORN for each, _ in ran),
                "killed": len(first),
                "cumulative": before,
                "cumulative_rate": before / total if total else None,
                "median_seconds": statistics.median([finding.seconds for _, finding in alone]) if alone else None,
                "baseline": {"seconds": seconds},
            }
            if every:
                only = [each for each, _ in alone if sum(finding.outcome in DETECTED for finding in each.findings) == 1]
                row |= {"killed_alone": len(alone), "killed_only_here": len(only)}
                row["alone_rate"] = len(alone) / total if total else None
            table.append(row)
        return table

    def _operators(self) -> list[dict[str, Any]]:
        names = sorted({each.mutant.operator for each in self.judged})
        return [
            {
                "operator": name,
                "mutants": len(mine := [each for each in self.judged if each.mutant.operator == name]),
                **{kind: sum(each.status == kind for each in mine) for kind in (KILLED, SURVIVED, ARGUED, PROVED)},
            }
            for name in names
        ]


def rate(killed: int, total: int, *, interval: bool) -> dict[str, Any]:
    """A share and, of a sample, its exact (Clopper-Pearson) 95% interval; None where there is nothing to share."""
    described: dict[str, Any] = {"killed": killed, "total": total, "rate": killed / total if total else None}
    if interval and total:
        low = 1 - binomial_upper_bound(total - killed, total, CONFIDENCE_SIDE)
        described["interval_95"] = [low, binomial_upper_bound(killed, total, CONFIDENCE_SIDE)]
    return described


def strength_digest(document: Mapping[str, Any]) -> str:
    """SHA-256 over what must be the same when a measurement is repeated from its seed: all but times and the machine."""
    return hashlib.sha256(json.dumps(_repeating(document), sort_keys=True).encode()).hexdigest()


def _repeating(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _repeating(each) for name, each in value.items() if name not in _VARYING}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_repeating(each) for each in value]
    return value


def _without_level(finding: Finding) -> dict[str, Any]:
    return {name: value for name, value in finding.to_json().items() if name != "level"}
