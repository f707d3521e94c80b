"""What a profile came to: measurements with their spread, the checks behind them, and one JSON document of it all."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.measure.profile.advice import Advice
from harness.measure.profile.contenders import ADAPTER, BARE, REFERENCE, TRAIN
from harness.measure.profile.hot import HotStep
from harness.support.document import Document, text, whole
from harness.verdict import Divergence, Outcome

MB = 1 << 20


@dataclass(frozen=True)
class Speed:
    """Steps per second over some readings.

    Attributes:
        median, low, high: of the readings.
        readings: how many there were.
        per_core: the median divided by the processors that could be used.
    """

    median: float
    low: float
    high: float
    readings: int
    per_core: float

    @staticmethod
    def of(rates: Sequence[float], cores: int) -> Speed:
        """The speed of these readings, in steps per second, on so many processors."""
        median = statistics.median(rates)
        return Speed(median, min(rates), max(rates), len(rates), median / cores)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description, in whole steps; `per_core` is for whoever holds it."""
        return {
            "median": round(self.median),
            "low": round(self.low),
            "high": round(self.high),
            "readings": self.readings,
        }


@dataclass(frozen=True)
class Bound:
    """The most steps per second that a cell's own work allows on this machine.

    Attributes:
        by: what sets it, `bytes` or `operations`.
        bytes_per_step, operations_per_step: that work.
    """

    steps_per_s: float
    by: str
    bytes_per_step: float
    operations_per_step: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "steps_per_s": round(self.steps_per_s),
            "by": self.by,
            "bytes_per_step": round(self.bytes_per_step, 1),
            "operations_per_step": round(self.operations_per_step, 1),
        }

    @staticmethod
    def from_json(described: object, kind: str = "bound") -> Bound:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Bound(
            steps_per_s=document.number("steps_per_s"),
            by=document.text("by"),
            bytes_per_step=document.number("bytes_per_step"),
            operations_per_step=document.number("operations_per_step"),
        )


@dataclass(frozen=True)
class Measurement:
    """One contender in one kind of run at one batch size.

    Attributes:
        contender, role: who; `candidate`, `peer` or `reference`.
        kind: `step`, `scan`, `train`; of a reference `bare`, `adapter` and `episodes`.
        batch: environments that were stepped together.
        speed: steps per second.
        length: steps of one repetition; 0 where that means nothing.
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
    speed: Speed
    length: int = 0
    compile_s: float | None = None
    warm_up_s: float | None = None
    compile_peak: int | None = None
    compile_added: int | None = None
    bound: Bound | None = None
    suspicious: bool = False
    share: float | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description; sizes in MB of 2**20 bytes."""
        described: dict[str, Any] = {
            "contender": self.contender,
            "role": self.role,
            "kind": self.kind,
            "batch": self.batch,
            "steps_per_s": self.speed.to_json(),
            "per_core": round(self.speed.per_core),
        }
        if self.length:
            described["length"] = self.length
        for name in ("compile_s", "warm_up_s"):
            if (value := getattr(self, name)) is not None:
                described[name] = round(value, 3)
        for name in ("compile_peak", "compile_added"):
            if (value := getattr(self, name)) is not None:
                described[f"{name}_mb"] = round(value / MB, 1)
        if self.bound is not None:
            described["bound"] = self.bound.to_json()
        if self.role == "candidate":
            described["suspicious"] = self.suspicious
        if self.share is not None:
            described["environment_share"] = round(self.share, 4)
        return described

    @staticmethod
    def from_json(described: object, kind: str = "measurement") -> Measurement:
        """The inverse of `to_json`, of what that rounded. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        rates = document.object("steps_per_s")
        return Measurement(
            contender=document.text("contender"),
            role=document.text("role"),
            kind=document.text("kind"),
            batch=document.whole("batch"),
            speed=Speed(
                median=rates.number("median"),
                low=rates.number("low"),
                high=rates.number("high"),
                readings=rates.whole("readings"),
                per_core=document.number("per_core"),
            ),
            length=document.whole("length", 0),
            compile_s=document.number_or_none("compile_s"),
            warm_up_s=document.number_or_none("warm_up_s"),
            compile_peak=_bytes(document.number_or_none("compile_peak_mb")),
            compile_added=_bytes(document.number_or_none("compile_added_mb")),
            bound=document.read_or_none("bound", Bound.from_json),
            suspicious=document.flag_or_none("suspicious") is True,
            share=document.number_or_none("environment_share"),
        )


def _bytes(mb: float | None) -> int | None:
    return None if mb is None else round(mb * MB)


@dataclass(frozen=True)
class SpotCheck:
    """What was looked at of one cell, and what it came to.

    Attributes:
        kind, batch: of the cell.
        episodes, steps: how many the reference played too.
        detail: what else there is to say of the outcome.
        divergence: how the timed run differs. It is no part of `to_json`: a profile has that of its first failed check.
    """

    kind: str
    batch: int
    outcome: Outcome
    episodes: int = 0
    steps: int = 0
    detail: str = ""
    divergence: Divergence | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "kind": self.kind,
            "batch": self.batch,
            "outcome": str(self.outcome),
            "episodes": self.episodes,
            "steps": self.steps,
            "detail": self.detail,
        }

    @staticmethod
    def from_json(described: object, kind: str = "check") -> SpotCheck:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return SpotCheck(
            kind=document.text("kind"),
            batch=document.whole("batch"),
            outcome=document.one_of("outcome", Outcome),
            episodes=document.whole("episodes"),
            steps=document.whole("steps"),
            detail=document.text("detail"),
        )


@dataclass(frozen=True)
class Skipped:
    """What was not measured, and why."""

    contender: str
    because: str

    def to_json(self) -> dict[str, str]:
        """A JSON-ready description."""
        return {"contender": self.contender, "because": self.because}

    @staticmethod
    def from_json(described: object, kind: str = "skipped") -> Skipped:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Skipped(document.text("contender"), document.text("because"))


@dataclass(frozen=True)
class Profile:
    """A whole profile.

    Attributes:
        outcome: PASS when every spot check agreed with the reference; FAIL when one did not, and then no figure counts;
            ERROR when nothing could be measured.
        machine, method, sandbox: what it was measured on and how, by name; for readers.
        checks: what stands behind the figures.
        hot: where a step's time goes at the largest batch; None where nothing was traced.
        divergence: what the first spot check that failed found.
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
    hot: HotStep | None = None
    advice: Advice | None = None
    notes: Sequence[str] = ()
    error: str = ""
    divergence: Divergence | None = None
    duration_s: float = 0.0

    @property
    def baseline(self) -> Measurement | None:
        """What speed-ups are against: the bare reference; where that was not measured, the reference through its adapter."""
        kinds = {each.kind: each for each in self.measurements if each.role == REFERENCE}
        return kinds.get(BARE, kinds.get(ADAPTER))

    def speed_up(self, measurement: Measurement) -> float | None:
        """How many times as many steps a second it makes on one core as the baseline, to three digits.

        None of training, which does more than step, and where there is no baseline.
        """
        base = self.baseline
        if base is None or measurement.kind == TRAIN or not round(base.speed.per_core):
            return None
        return float(f"{round(measurement.speed.per_core) / round(base.speed.per_core):.3g}")

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
            "measurements": [
                measurement.to_json()
                | ({} if (times := self.speed_up(measurement)) is None else {"speed_up_per_core": times})
                for measurement in self.measurements
            ],
            "speed_up_against": None if self.baseline is None else self.baseline.kind,
            "checks": [check.to_json() for check in self.checks],
            "skipped": [each.to_json() for each in self.skipped],
            "state_bytes": self.state_bytes,
            "hot": None if self.hot is None else self.hot.to_json(),
            "advice": None if self.advice is None else self.advice.to_json(),
            "divergence": None if found is None else found.to_json(),
            "notes": list(self.notes),
            "error": self.error,
            "duration_s": round(self.duration_s, 1),
        }

    @staticmethod
    def from_json(described: object, kind: str = "profile") -> Profile:
        """The inverse of `to_json`, of what that rounded.

        Raises:
            DocumentError: `described` has another form; it names the field.
        """
        document = Document(described, kind)
        return Profile(
            task=document.text("task"),
            task_digest=document.text("task_digest"),
            outcome=document.one_of("outcome", Outcome),
            seed=document.whole("seed"),
            machine=document.object("machine").content,
            method=document.object("method").content,
            sandbox=document.object("sandbox").content,
            measurements=document.list("measurements", Measurement.from_json),
            checks=document.list("checks", SpotCheck.from_json),
            skipped=document.list("skipped", Skipped.from_json),
            state_bytes=document.whole("state_bytes"),
            hot=document.read_or_none("hot", HotStep.from_json),
            advice=document.read_or_none("advice", Advice.from_json),
            divergence=document.read_or_none("divergence", Divergence.from_json),
            notes=document.list("notes", text),
            error=document.text("error"),
            duration_s=document.number("duration_s"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileReport:
    """What one profile came to.

    Attributes:
        profile: what was measured.
        session, event: of a session, its id and the number of the event that records the profile.
        verified: of a session, the newest verified commit if it holds this very tree and every step of the recipe has
            passed; else None.
    """

    profile: Profile
    session: str | None = None
    event: int | None = None
    verified: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description: that of the profile, with the other attributes beside its fields."""
        if self.session is None:
            return {**self.profile.to_json(), "verified": self.verified}
        return {**self.profile.to_json(), "session": self.session, "verified": self.verified, "event": self.event}

    @staticmethod
    def from_json(described: object, kind: str = "profile") -> ProfileReport:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return ProfileReport(
            profile=Profile.from_json(described, kind),
            session=document.text_or_none("session"),
            event=document.read_or_none("event", whole),
            verified=document.text_or_none("verified"),
        )
