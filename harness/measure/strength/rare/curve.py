"""The detection curve as a document: what share of faults in rare states is caught, by how rare the states are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.measure.strength.rare.predicates import FAMILIES, Predicate
from harness.measure.strength.result import KillRate
from harness.support.document import Document, DocumentError

SCHEMA = 1
EXPLORATION = "level 3, exploration"
"""The last check of level 3, as `named`."""
MOST_TRIALS, MOST_RUNS = 20_000, 1000
LONGEST_CHECK = 200
_NAMED = re.compile(r"level [1-9], [^\n]*")
AS_SAID, OTHERWISE, CONTRADICTED = "as said", "otherwise", "contradicted"


def named(level: int, check: str) -> str:
    """A check of a level, as it stands in a trial."""
    return f"level {level}, {check}"[:LONGEST_CHECK]


def level_of(check: str) -> int:
    """The level of a check that is `named`; 1 where nothing is."""
    return int(check[len("level ")]) if check else 1


@dataclass(frozen=True)
class Run:
    """One verification of the candidate itself, whose comparisons were watched.

    Attributes:
        number: runs of a number have one seed, and differ in how long they explore.
        seed: of the verification.
        exploring: level 3 explored so many times as long as the task's budget says.
        steps: how many steps were compared.
        seconds: how long it took.
    """

    number: int
    seed: int
    exploring: int
    steps: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "number": self.number,
            "seed": self.seed,
            "exploring": self.exploring,
            "steps": self.steps,
            "seconds": self.seconds,
        }

    @staticmethod
    def from_json(described: object, kind: str = "run") -> Run:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Run(
            number=document.whole("number"),
            seed=document.whole("seed"),
            exploring=document.whole("exploring"),
            steps=document.whole("steps"),
            seconds=document.number("seconds"),
        )


@dataclass(frozen=True)
class Trial:
    """One predicate in the runs of one number.

    Attributes:
        predicate: where the mutant's fault shows.
        run: the number of the runs.
        met: by how long was explored, the check that met it first (`named`); "" where none did.
    """

    predicate: Predicate
    run: int
    met: Mapping[int, str]

    def caught(self, exploring: int) -> bool:
        """Whether the mutant is caught; by 0 times the exploration, before it."""
        if exploring:
            return bool(self.met[exploring])
        return self.met[min(self.met)] not in ("", EXPLORATION)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        met = {str(exploring): check for exploring, check in sorted(self.met.items())}
        return {**self.predicate.to_json(), "run": self.run, "met": met}

    @staticmethod
    def from_json(described: object, kind: str = "trial") -> Trial:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        met = document.mapping("met", _check)
        if not met or not all(name.isdecimal() and len(name) < 6 for name in met):
            raise DocumentError(f"{kind}.met names no exploration; expected a whole number for each")
        return Trial(
            Predicate.from_json(described, kind),
            document.whole("run"),
            {int(name): check for name, check in met.items()},
        )


@dataclass(frozen=True)
class Planted:
    """A mutant that was made and judged.

    Attributes:
        trial: the number of its trial.
        said: the check that should catch it, in the run of the least exploration (`named`); "" where none should.
        found: the check that did, of that level and those above: what says more of a reward than that it is equal, at
            level 1, should not come before what only compares.
    """

    trial: int
    said: str
    found: str

    @property
    def outcome(self) -> str:
        """AS_SAID; OTHERWISE, where something else caught it; CONTRADICTED, where it was to be caught and passed."""
        if self.said == self.found:
            return AS_SAID
        return OTHERWISE if self.found else CONTRADICTED

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"trial": self.trial, "said": self.said, "found": self.found, "outcome": self.outcome}

    @staticmethod
    def from_json(described: object, kind: str = "planted") -> Planted:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        said, found = (_check(document.text(name), f"{kind}.{name}") for name in ("said", "found"))
        return Planted(document.whole("trial"), said, found)


@dataclass(frozen=True)
class Point:
    """What was caught of the faults whose predicates hold in one share of the steps.

    Attributes:
        share: of random play's steps.
        caught: by how long was explored, 0 for not at all.
        families: the same of each family that has predicates.
    """

    share: float
    caught: Mapping[int, KillRate]
    families: Mapping[str, Mapping[int, KillRate]]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "share": self.share,
            "caught": _rates(self.caught),
            "families": {name: _rates(rates) for name, rates in self.families.items()},
        }


@dataclass(frozen=True)
class Curve:
    """One measurement.

    Attributes:
        task, task_digest: what was measured.
        candidate: SHA-256 over the candidate's files.
        seed: from which everything was derived.
        settings: what was asked for.
        sandbox, isolated: where the candidate ran.
        played: in how many steps of random play the predicates were counted.
        runs: the verifications that were watched.
        trials: each predicate once.
        planted: mutants that were made, to see whether they are caught as was said.
        resumed: whether an interrupted measurement went on.
        machine: on what it was measured.
    """

    task: str
    task_digest: str
    candidate: str
    seed: int
    settings: Mapping[str, Any]
    sandbox: str
    isolated: bool
    played: int
    runs: tuple[Run, ...]
    trials: tuple[Trial, ...]
    planted: tuple[Planted, ...] = ()
    resumed: bool = False
    duration_s: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def explorings(self) -> tuple[int, ...]:
        """How long was explored: 0, not at all, and each of the runs' numbers."""
        return (0, *sorted({run.exploring for run in self.runs}))

    def points(self) -> list[Point]:
        """The curve, the most frequent first."""
        found = []
        for share in sorted({trial.predicate.share for trial in self.trials}, reverse=True):
            mine = [trial for trial in self.trials if trial.predicate.share == share]
            by_family = {name: [each for each in mine if each.predicate.family == name] for name in FAMILIES}
            families = {name: self._caught(trials) for name, trials in by_family.items() if trials}
            found.append(Point(share, self._caught(mine), families))
        return found

    def _caught(self, trials: Sequence[Trial]) -> dict[int, KillRate]:
        return {
            exploring: KillRate.of(sum(each.caught(exploring) for each in trials), len(trials), sampled=True)
            for exploring in self.explorings
        }

    def to_json(self) -> dict[str, Any]:
        """The document; docs/strength.md says what is in it."""
        return {
            "schema": SCHEMA,
            "task": self.task,
            "task_digest": self.task_digest,
            "candidate": self.candidate,
            "seed": self.seed,
            "settings": dict(self.settings),
            "sandbox": self.sandbox,
            "isolated": self.isolated,
            "played": self.played,
            "curve": [point.to_json() for point in self.points()],
            "runs": [run.to_json() for run in self.runs],
            "trials": [trial.to_json() for trial in self.trials],
            "planted": [each.to_json() for each in self.planted],
            "resumed": self.resumed,
            "duration_s": self.duration_s,
            "machine": dict(self.machine),
        }

    @staticmethod
    def from_json(described: object, kind: str = "curve") -> Curve:
        """The inverse of `to_json`; the points are worked out again.

        Raises:
            DocumentError: `described` has another form; it names the field.
        """
        document = Document(described, kind)
        for name, most in (("trials", MOST_TRIALS), ("planted", MOST_TRIALS), ("runs", MOST_RUNS)):
            listed = document.content.get(name)
            if isinstance(listed, Sequence) and len(listed) > most:
                raise DocumentError(f"{kind}.{name} has {len(listed)} entries; expected at most {most}")
        runs, trials = document.list("runs", Run.from_json), document.list("trials", Trial.from_json)
        explored = {run.exploring for run in runs}
        if any(explored != set(trial.met) for trial in trials):
            raise DocumentError(f"{kind}.trials speak of other explorations than its runs")
        planted = document.list("planted", Planted.from_json)
        if any(not 0 <= each.trial < len(trials) for each in planted):
            raise DocumentError(f"{kind}.planted speaks of a trial that is not there")
        return Curve(
            task=document.text("task"),
            task_digest=document.text("task_digest"),
            candidate=document.text("candidate"),
            seed=document.whole("seed"),
            settings=document.object("settings").content,
            sandbox=document.text("sandbox"),
            isolated=document.flag("isolated"),
            played=document.whole("played"),
            runs=runs,
            trials=trials,
            planted=planted,
            resumed=document.flag("resumed"),
            duration_s=document.number("duration_s"),
            machine=document.object("machine").content,
        )


def _rates(rates: Mapping[int, KillRate]) -> dict[str, Any]:
    return {str(exploring): rate.to_json() for exploring, rate in rates.items()}


def _check(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_CHECK or (value and not _NAMED.fullmatch(value)):
        raise DocumentError(
            f"{name} is no check; expected nothing, or `level N, NAME` of at most {LONGEST_CHECK} letters"
        )
    return value
