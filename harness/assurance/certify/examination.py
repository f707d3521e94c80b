"""All that a certificate rests on, run from a task, a tree and one seed: levels, cheat probes, coverage, strength, the
detection curve, speed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.assurance.certify import probes
from harness.errors import EnvironmentFailure, LockstepError
from harness.farm.engine import Engine
from harness.measure.coverage import measure as coverage
from harness.measure.profile import run as speed
from harness.measure.strength import run as strength
from harness.measure.strength.rare import run as rare
from harness.record.certificate import COVERAGE, DETECTION, PROBES, SPEED, STRENGTH, VERDICT, outcome_of, seed_of
from harness.support.document import Document, whole
from harness.support.progress import Progress
from harness.task.contract import TRAINING_LEVEL, Task
from harness.verdict import CheckResult, Outcome
from harness.verify.pair import Pair
from harness.verify.request import LevelsRequest
from harness.verify.suite.client import Suite
from harness.verify.verifier import Verifier
from sandboxes import Driver, SandboxError

OnPart = Callable[[str, Mapping[str, Any], float], None]
"""Called with each part as soon as it is known: its name, its document, and how many seconds it took."""


def report_nothing(part: str, document: Mapping[str, Any], seconds: float) -> None:
    """A `OnPart` that does nothing."""


EXPLORING = 10
"""A certificate's verdict explores so many times as long as another (docs/levels.md)."""
HIGHEST = TRAINING_LEVEL - 1
"""Strength is that of the levels up to here: level 4 trains for minutes, and would do so for every mutant."""


@dataclass(frozen=True)
class Settings:
    """What an examination is asked to do; it stands in the certificate, so that whoever repeats it does the same.

    Attributes:
        levels: of the verification; empty takes all that the task has.
        mutants: how many mutants the strength is measured on, drawn at random; None takes all, 0 leaves it out.
        batches: sizes at which the speed is measured; empty takes the task's.
        detection: the detection curve is measured on so many faults in rare states for each share; 0 leaves it out.
    """

    levels: tuple[int, ...] = ()
    mutants: int | None = None
    batches: tuple[int, ...] = ()
    detection: int = 0

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description, from which `from_json` makes equal settings."""
        described = {"levels": list(self.levels), "mutants": self.mutants, "batches": list(self.batches)}
        return described | ({"detection": self.detection} if self.detection else {})

    @staticmethod
    def from_json(described: object, kind: str = "settings") -> Settings:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Settings(
            document.list("levels", whole),
            document.read_or_none("mutants", whole),
            document.list("batches", whole),
            document.whole("detection", 0),
        )


@dataclass(frozen=True)
class Examination:
    """What an examination came to.

    Attributes:
        seed: from which the seed of each part is derived (`seed_of`).
        parts: for each part that ran, its document, with `outcome`; by the names in `harness.record.certificate.PARTS`. A
            part stays a document: it is the evidence that a summary names by its digest, and is compared as it was recorded.
        seconds: how long each took.
    """

    seed: int
    settings: Settings
    parts: Mapping[str, Mapping[str, Any]]
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """PASS where every part ran and each that decides did pass."""
        return outcome_of(self.parts)


def examine(
    task: Task,
    tree: Path,
    driver: Driver,
    seed: int,
    settings: Settings,
    progress: Progress,
    *,
    policies: Path | None = None,
    on_part: OnPart = report_nothing,
    engine: Engine | None = None,
) -> Examination:
    """Examine the candidate in an exported tree.

    The verification and the probes come first; where one of them does not pass, the rest does not run.

    Args:
        task: as the tree has it.
        policies: where level 4 keeps what it trained (`Verifier`).
        on_part: called with each part.
        engine: where work is spread; None keeps all on this machine. Speed is measured here in any case.
    """
    parts: dict[str, Mapping[str, Any]] = {}
    seconds: dict[str, float] = {}

    def done(part: str, document: Mapping[str, Any], began: float) -> bool:
        parts[part], seconds[part] = document, time.monotonic() - began
        on_part(part, document, seconds[part])
        return document["outcome"] in (Outcome.PASS, Outcome.SKIPPED)

    def examined() -> Examination:
        return Examination(seed, settings, parts, seconds)

    with Verifier(task, driver, progress=progress, policies=policies, engine=engine) as verifier:
        began = time.monotonic()
        levels = settings.levels or task.levels
        request = LevelsRequest(levels, seed_of(seed, VERDICT), exploring=EXPLORING)
        verdict = verifier.verify(tree, request)
        if not done(VERDICT, verdict.to_json(), began):
            return examined()
        questions = verifier.questions
        began = time.monotonic()
        if not done(PROBES, _probed(task, tree, driver, verifier, seed_of(seed, PROBES), progress), began):
            return examined()
        began = time.monotonic()
        done(COVERAGE, _measured(lambda: coverage.measure(task, questions, progress).to_json()), began)
    began = time.monotonic()
    done(STRENGTH, _strength(task, tree, driver, seed_of(seed, STRENGTH), settings, progress, engine), began)
    if settings.detection:
        began = time.monotonic()
        chosen = rare.Settings(predicates=settings.detection, exploring=(1, EXPLORING))
        seed_there = seed_of(seed, DETECTION)
        done(
            DETECTION,
            _measured(
                lambda: rare.measure(
                    task, tree, driver, chosen, seed=seed_there, progress=progress, engine=engine
                ).to_json()
            ),
            began,
        )
    began = time.monotonic()
    wanted = speed.Settings(batches=settings.batches or None, peers=())
    measured = speed.profile(task, tree, driver, wanted, seed=seed_of(seed, SPEED), progress=progress)
    done(SPEED, measured.to_json(), began)
    return examined()


def _probed(
    task: Task, tree: Path, driver: Driver, verifier: Verifier, seed: int, progress: Progress
) -> dict[str, Any]:
    """The cheat probes; `evidence` is the digest of the episodes that they asked for."""
    results: list[CheckResult] = []
    evidence = ""
    with ExitStack() as stack:
        try:
            another = probes.starter(task, driver, tree, stack)
            pair = Pair(task, Suite(), verifier.reference(), another(), seed, progress)
            results.extend(probes.checks(pair, another))
            evidence = pair.evidence
        except (EnvironmentFailure, SandboxError) as failure:
            results.append(CheckResult("workers", Outcome.ERROR, detail=str(failure)))
    return {
        "outcome": str(Outcome.worst([result.outcome for result in results])),
        "seed": seed,
        "checks": [result.to_json() for result in results],
        "evidence": evidence,
    }


def _strength(
    task: Task, tree: Path, driver: Driver, seed: int, settings: Settings, progress: Progress, engine: Engine | None
) -> dict[str, Any]:
    if settings.mutants == 0:
        return {"outcome": str(Outcome.SKIPPED), "because": "it was not asked for"}
    wanted = strength.Settings(level=min(HIGHEST, max(settings.levels or task.levels)), sample=settings.mutants)
    return _measured(
        lambda: strength.measure(task, tree, driver, wanted, seed=seed, progress=progress, engine=engine).to_json()
    )


def _measured(measure: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """What measures the tests: where it cannot be measured here, the certificate says why, and stands."""
    try:
        return {"outcome": str(Outcome.PASS), **measure()}
    except (LockstepError, SandboxError) as failure:
        return {"outcome": str(Outcome.SKIPPED), "because": str(failure)}
