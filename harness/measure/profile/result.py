"""What a profile came to: measurements with their spread, the checks behind them, and one JSON document of it all."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.measure.profile.advice import Advice
from harness.measure.profile.machine import Bound
from harness.measure.profile.spotcheck import SpotCheck
from harness.verdict import Divergence, Outcome


@dataclass(frozen=True)
class Measurement:
    """One contender in one kind of run at one batch size.

    Attributes:
        contender, role: who; `candidate`, `peer` or `reference`.
        kind: `step`, `scan`, `train`, or `episodes` of a reference.
        batch: environments that were stepped together.
        cores: processors that it could use.
        rates: steps per second in each reading.
        compile_s, warm_up_s: seconds to compile, and of the first run after it; None where nothing is compiled.
        compile_peak, compile_added: bytes of resident memory while it was compiled: the most, and how much that was over
            what the worker held before.
        bound: the most that its own work allows on this machine; `suspicious` is True beyond it.
        share: of training time that was spent in the environment.
    """

    contender: str
    role: str
    kind: str
    batch: int
    cores: int
    rates: tuple[float, ...]
    length: int = 0
    compile_s: float | None = None
    warm_up_s: float | None = None
    compile_peak: int | None = None
    compile_added: int | None = None
    bound: Bound | None = None
    suspicious: bool = False
    share: float | None = None

    @property
    def rate(self) -> float:
        """The median."""
        return statistics.median(self.rates)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description; sizes in MB of 2**20 bytes."""
        described: dict[str, Any] = {
            "contender": self.contender,
            "role": self.role,
            "kind": self.kind,
            "batch": self.batch,
            "steps_per_s": {
                "median": round(self.rate),
                "low": round(min(self.rates)),
                "high": round(max(self.rates)),
                "readings": len(self.rates),
            },
            "per_core": round(self.rate / self.cores),
        }
        if self.length:
            described["length"] = self.length
        for name in ("compile_s", "warm_up_s"):
            if (value := getattr(self, name)) is not None:
                described[name] = round(value, 3)
        for name in ("compile_peak", "compile_added"):
            if (value := getattr(self, name)) is not None:
                described[f"{name}_mb"] = round(value / (1 << 20), 1)
        if self.bound is not None:
            described["bound"] = self.bound.to_json()
        if self.role == "candidate":
            described["suspicious"] = self.suspicious
        if self.share is not None:
            described["environment_share"] = round(self.share, 4)
        return described


@dataclass(frozen=True)
class Skipped:
    """What was not measured, and why."""

    contender: str
    because: str

    def to_json(self) -> dict[str, str]:
        """A JSON-ready description."""
        return {"contender": self.contender, "because": self.because}


@dataclass(frozen=True)
class Profile:
    """A whole profile.

    Attributes:
        outcome: PASS when every spot check agreed with the reference; FAIL when one did not, and then no figure counts;
            ERROR when nothing could be measured.
        hot: what `bench_trace` answered at the largest batch, or None.
        error: why nothing could be measured.
    """

    task: str
    task_digest: str
    outcome: Outcome
    seed: int
    machine: Mapping[str, Any]
    method: Mapping[str, Any]
    sandbox: Mapping[str, Any]
    measurements: Sequence[Measurement] = ()
    checks: Sequence[SpotCheck] = ()
    skipped: Sequence[Skipped] = ()
    state_bytes: int = 0
    hot: Mapping[str, Any] | None = None
    advice: Advice | None = None
    notes: Sequence[str] = ()
    error: str = ""
    duration_s: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def divergence(self) -> Divergence | None:
        """What the first spot check that failed found."""
        return next((found for check in self.checks for found in check.result.divergences), None)

    def to_json(self) -> dict[str, Any]:
        """The document; its names are stable."""
        found = self.divergence
        return {
            "outcome": str(self.outcome),
            "task": self.task,
            "task_digest": self.task_digest,
            "seed": self.seed,
            "machine": dict(self.machine),
            "method": dict(self.method),
            "sandbox": dict(self.sandbox),
            "measurements": [measurement.to_json() for measurement in self.measurements],
            "checks": [check.to_json() for check in self.checks],
            "skipped": [each.to_json() for each in self.skipped],
            "state_bytes": self.state_bytes,
            "hot": _rounded(self.hot),
            "advice": None if self.advice is None else self.advice.to_json(),
            "divergence": None if found is None else found.to_json(),
            "notes": list(self.notes),
            "error": self.error,
            "duration_s": round(self.duration_s, 1),
            **self.extra,
        }


def _rounded(hot: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Shares with three digits: a trace knows no more."""
    if hot is None:
        return None
    return {
        **hot,
        "operations": [{**each, "share": round(each["share"], 3)} for each in hot["operations"]],
        "origins": {name: round(share, 3) for name, share in hot["origins"].items()},
        "kinds": {name: round(share, 3) for name, share in hot["kinds"].items()},
    }
