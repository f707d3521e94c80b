"""What a measurement of strength found, and its figures."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.measure.strength.explanations import EQUIVALENT, Explanation
from harness.measure.strength.judging import Finding
from harness.measure.strength.mutants import Mutant
from harness.measure.strength.statuses import ARGUED, DETECTED, ERROR, KILLED, PROVED, STILLBORN, SURVIVED, UNJUDGED
from harness.support.document import Document
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

    def explained_by(self, said: Explanation | None) -> Judged:
        """With what the task says of it; what it says of a whole function or file, it says of survivors alone."""
        return self if said is None or not (said.of_one or self.status == SURVIVED) else replace(self, explanation=said)

    @property
    def unreached(self) -> bool:
        """Whether it survives because no level would run its fault."""
        return any(not finding.ran for finding in self.findings)

    @property
    def killed_by(self) -> int | None:
        """The lowest level that detects it."""
        return min((finding.level for finding in self.findings if finding.outcome in DETECTED), default=None)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description; of the mutant all but its edits."""
        explanation = self.explanation
        return {
            **self.mutant.to_json(),
            "status": self.status,
            "killed_by": self.killed_by,
            "unreached": self.unreached,
            "kills": {str(finding.level): _without_level(finding) for finding in self.findings},
            "proof": self.proof,
            "seconds": self.proof_seconds,
            "explanation": None
            if explanation is None
            else {"verdict": explanation.verdict, "because": explanation.because},
        }

    @staticmethod
    def from_json(described: object, kind: str = "mutant") -> Judged:
        """The inverse of `to_json`: of a mutant without edits. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        mutant = Mutant.from_json(described, kind)

        def explanation(value: Any, name: str) -> Explanation:
            said = Document(value, name)
            return Explanation.of(mutant, said.text("verdict"), said.text("because"))

        def finding(value: Any, name: str) -> Finding:
            level = name.rpartition(".")[2]
            return Finding.from_json(
                {**Document(value, name).content, "level": int(level) if level.isdigit() else level}, name
            )

        return Judged(
            mutant=mutant,
            findings=tuple(document.mapping("kills", finding).values()),
            proof=document.text("proof"),
            proof_seconds=document.number("seconds"),
            explanation=document.read_or_none("explanation", explanation),
        )


@dataclass(frozen=True)
class KillRate:
    """A share of mutants that were killed.

    Attributes:
        killed, total: how many, of how many; `rate` is None where there are none.
        interval: of a sample, the exact (Clopper-Pearson) 95% interval of the rate of all mutants.
    """

    killed: int
    total: int
    interval: tuple[float, float] | None = None

    @staticmethod
    def of(killed: int, total: int, *, sampled: bool) -> KillRate:
        """The share, with its interval where the mutants are a sample."""
        if not (sampled and total):
            return KillRate(killed, total)
        low = 1 - binomial_upper_bound(total - killed, total, CONFIDENCE_SIDE)
        return KillRate(killed, total, (low, binomial_upper_bound(killed, total, CONFIDENCE_SIDE)))

    @property
    def rate(self) -> float | None:
        """From 0 to 1; None of nothing."""
        return self.killed / self.total if self.total else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        described: dict[str, Any] = {"killed": self.killed, "total": self.total, "rate": self.rate}
        return described if self.interval is None else described | {"interval_95": list(self.interval)}


@dataclass(frozen=True)
class LevelFigures:
    """What one level found. `alone` and `only_here` are None unless every level ran on every mutant.

    Attributes:
        judged: mutants that it was run on, but for those that cannot be.
        killed, cumulative: mutants of which it is the lowest level that detects them; with those of all levels below.
        total: mutants that could be killed, the whole of the rates.
        median_seconds: to detection, over the mutants that it detects; None where there are none.
        baseline_s: seconds that it takes on the candidate itself.
        alone, only_here: mutants that it detects; and those that no other level does.
    """

    level: int
    judged: int
    killed: int
    cumulative: int
    total: int
    median_seconds: float | None
    baseline_s: float
    alone: int | None = None
    only_here: int | None = None

    @property
    def cumulative_rate(self) -> float | None:
        """Of what could be killed, what was killed up to this level."""
        return self.cumulative / self.total if self.total else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        row: dict[str, Any] = {
            "level": self.level,
            "judged": self.judged,
            "killed": self.killed,
            "cumulative": self.cumulative,
            "cumulative_rate": self.cumulative_rate,
            "median_seconds": self.median_seconds,
            "baseline": {"seconds": self.baseline_s},
        }
        if self.alone is not None:
            row |= {"killed_alone": self.alone, "killed_only_here": self.only_here}
            row["alone_rate"] = self.alone / self.total if self.total else None
        return row


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
    def counts(self) -> Counter[str]:
        """How many mutants have each status."""
        return Counter(each.status for each in self.judged)

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
        counts = self.counts
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
            "rates": {name: each.to_json() for name, each in self.rates().items()},
            "levels": [each.to_json() for each in self.levels()],
            "operators": self._operators(),
            "unexplained": [each.mutant.id for each in self.unexplained],
            "contradicted": [each.mutant.id for each in self.contradicted],
            "mutants": [each.to_json() for each in self.judged],
            "resumed": self.resumed,
            "duration_s": self.duration_s,
            "machine": dict(self.machine),
        }

    @staticmethod
    def from_json(described: object, kind: str = "strength") -> Strength:
        """The inverse of `to_json`; counts, rates and tables are worked out again.

        Raises:
            DocumentError: `described` has another form; it names the field.
        """
        document = Document(described, kind)

        def baseline(value: Any, name: str) -> tuple[int, float]:
            level = Document(value, name)
            return level.whole("level"), level.object("baseline").number("seconds")

        return Strength(
            task=document.text("task"),
            task_digest=document.text("task_digest"),
            candidate=document.text("candidate"),
            seed=document.whole("seed"),
            settings=document.object("settings").content,
            sandbox=document.text("sandbox"),
            isolated=document.flag("isolated"),
            baseline=dict(document.list("levels", baseline)),
            judged=document.list("mutants", Judged.from_json),
            enumerated=document.whole("enumerated"),
            resumed=document.whole("resumed"),
            duration_s=document.number("duration_s"),
            machine=document.object("machine").content,
        )

    def rates(self) -> dict[str, KillRate]:
        """Killed shares, with nothing but stillborn mutants left out, without proved, and without argued equivalents too."""
        counts = self.counts
        whole = len(self.judged) - counts[STILLBORN]
        sampled = self.settings["sample"] is not None and len(self.judged) < self.enumerated
        totals = {
            "all": whole,
            "non_equivalent": whole - counts[PROVED],
            "argued": whole - counts[PROVED] - counts[ARGUED],
        }
        return {name: KillRate.of(counts[KILLED], total, sampled=sampled) for name, total in totals.items()}

    def levels(self) -> list[LevelFigures]:
        """The figures of each level, lowest first."""
        total = sum(each.status not in (STILLBORN, PROVED) for each in self.judged)
        every = bool(self.settings["every_level"])
        table, before = [], 0
        for level, seconds in sorted(self.baseline.items()):
            ran = [(each, finding) for each in self.judged for finding in each.findings if finding.level == level]
            first = [each for each, _ in ran if each.status == KILLED and each.killed_by == level]
            alone = [(each, finding) for each, finding in ran if finding.outcome in DETECTED and each.status == KILLED]
            before += len(first)
            only = [each for each, _ in alone if sum(finding.outcome in DETECTED for finding in each.findings) == 1]
            figures = LevelFigures(
                level=level,
                judged=sum(each.status != STILLBORN and finding.ran for each, finding in ran),
                killed=len(first),
                cumulative=before,
                total=total,
                median_seconds=statistics.median([finding.seconds for _, finding in alone]) if alone else None,
                baseline_s=seconds,
                alone=len(alone) if every else None,
                only_here=len(only) if every else None,
            )
            table.append(figures)
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
