"""What a verification found: a verdict has levels, a level has checks, a check has divergences.

Each is a frozen dataclass with `to_json` and `from_json`. JSON stands on disk and on the wire alone.
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.course import Course
from harness.deviations import Deviation, OpenLoop, told
from harness.errors import Failure
from harness.grids import Grid
from harness.model import Array, Case, Leaves, leaves_from_json, leaves_to_json
from harness.occurrences import Occurrences
from harness.support.document import Document, DocumentError, number, text, whole

MAX_VALUE = 200
"""Characters of a value in the one line that tells a divergence."""
ADDRESS = re.compile(r"(.*?)(?:\[([0-9]{1,18}(?:,[0-9]{1,18})*)\])?", re.DOTALL)
"""A leaf's path, with the index inside it."""


@dataclass(frozen=True)
class Divergence:
    """One difference between the reference and a candidate: where it is, what was expected, what rule it broke.

    Attributes:
        case: the case that shows it, as short as it could be made.
        step: row of the trajectory (0 is the reset); for a probe, the index of the input (always 0 once shrunk).
        path: leaf path; `index` the position inside the leaf.
        expected, actual: the values there, as text that distinguishes what differs (`-0.0`, `nan`, `int32`).
        rule: `value`, `dtype`, `shape`, `missing`, `unexpected`, `length`, `draws`, `bounds`, `law`, `invariant:<name>`,
            `equivalence` (mean returns at level 4), `profiled` (a timed run), or the name of a generic check
            (`determinism`, `purity`, `batched`, `scanned`, `autoreset`).
        level: 1 to 4 as in `LevelReport`; 0 where a reference is checked against itself.
        check: the name of the check that found it.
        module: the module to which it was traced, or None.
        cause: what is known of the cause, in one or two sentences.
        probe: for a difference found by a probe, its name; `inputs` are then its inputs.
        reproduced: True when restoring the reference's state just before the step shows it again.
        grid: where the leaf is an array of several elements, what lies around the one that differs; None in older records.
        course: the value on both sides up to the difference, in the episode that showed it first; None in older records, and
            where there is none.
    """

    case: Case | None
    step: int
    path: str
    expected: str
    actual: str
    rule: str
    level: int
    check: str
    index: tuple[int, ...] = ()
    module: str | None = None
    cause: str = ""
    probe: str | None = None
    inputs: Leaves | None = None
    reproduced: bool | None = None
    grid: Grid | None = None
    course: Course | None = None

    def __str__(self) -> str:
        """In one line: where it is, and both values."""
        if not self.expected:  # nothing was compared: a candidate of the wrong form
            return f"{self.check}: {self.cause}"
        values = f"expected {_short(self.expected)}, got {_short(self.actual)} ({self.rule})"
        return f"{self.check}: {self.address} at step {self.step}: {values}"

    @property
    def counterexample(self) -> tuple[str, str] | None:
        """The name and the content of the file that keeps what shows it, below `cases/`; None where it has none."""
        if self.probe is not None and self.inputs is not None:
            described: dict[str, Any] = {"probe": self.probe, "inputs": leaves_to_json(self.inputs)}
        elif self.case is not None:
            described = self.case.to_json()
        else:
            return None
        # What it is called and where it comes from make no other case of it.
        named = {key: value for key, value in described.items() if key not in ("name", "origin")}
        digest = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
        return f"{digest[:16]}.json", json.dumps(described, indent=1, sort_keys=True) + "\n"

    @property
    def address(self) -> str:
        """The leaf and the position inside it: `observation/board[3,4]`."""
        return self.path + (f"[{','.join(map(str, self.index))}]" if self.index else "")

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        shown = {} if self.grid is None else {"grid": self.grid.to_json()}
        shown |= {} if self.course is None else {"course": self.course.to_json()}
        return shown | {
            "level": self.level,
            "check": self.check,
            "rule": self.rule,
            "step": self.step,
            "path": self.path,
            "index": list(self.index),
            "address": self.address,
            "expected": self.expected,
            "actual": self.actual,
            "module": self.module,
            "cause": self.cause,
            "probe": self.probe,
            "inputs": None if self.inputs is None else leaves_to_json(self.inputs),
            "reproduced": self.reproduced,
            "case": None if self.case is None else self.case.to_json(),
            "case_file": None if self.counterexample is None else self.counterexample[0],
        }

    @staticmethod
    def from_json(described: object, kind: str = "divergence") -> Divergence:
        """The inverse of `to_json`. In older records path and index stand in the address alone.

        Raises:
            DocumentError: `described` is no such description, or its address is not its path and index.
        """
        document = Document(described, kind)
        address = ADDRESS.fullmatch(document.text("address"))
        assert address is not None  # it takes every text
        index = tuple(map(int, address[2].split(","))) if address[2] else ()
        found = Divergence(
            case=document.optional("case", Case.from_json),
            step=document.whole("step"),
            path=document.text("path", address[1]),
            expected=document.text("expected"),
            actual=document.text("actual"),
            rule=document.text("rule"),
            level=document.whole("level"),
            check=document.text("check"),
            index=document.list("index", whole) if "index" in document.content else index,
            module=document.text_or_none("module"),
            cause=document.text("cause"),
            probe=document.text_or_none("probe"),
            inputs=document.optional("inputs", leaves_from_json),
            reproduced=document.flag_or_none("reproduced"),
            grid=document.read_or_none("grid", Grid.from_json),
            course=document.read_or_none("course", Course.from_json),
        )
        if found.address != address[0]:
            raise DocumentError(f"{kind}.address is {address[0]!r}; its path and index say {found.address!r}")
        return found


def _short(value: str) -> str:
    """A value in a line that must have room for the other one: a very long one keeps its beginning and its end."""
    return value if len(value) <= MAX_VALUE else f"{value[: MAX_VALUE - 40]} … {value[-40:]}"


class Outcome(enum.StrEnum):
    """What a check came to. Only PASS verifies.

    ERROR is infrastructure, never a judgement of the candidate. INCONCLUSIVE is a judgement that could not be made: no
    difference was shown, and no equality either.
    """

    PASS = "PASS"
    FAIL = "FAIL"
    ERROR = "ERROR"
    INCONCLUSIVE = "INCONCLUSIVE"
    SKIPPED = "SKIPPED"

    @staticmethod
    def worst(outcomes: Sequence[Outcome]) -> Outcome:
        """The outcome of a whole from those of its parts: FAIL, ERROR, INCONCLUSIVE, PASS; SKIPPED if nothing ran."""
        for outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.PASS):
            if outcome in outcomes:
                return outcome
        return Outcome.SKIPPED


@dataclass(frozen=True)
class CheckResult:
    """One named check inside a level: what it compared and how it ended.

    `failure` says why it could not be made, or that the candidate cannot run. It is for code and no part of `to_json`.
    """

    name: str
    outcome: Outcome
    module: str | None = None
    examples: int = 0
    detail: str = ""
    divergences: tuple[Divergence, ...] = ()
    failure: Failure | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "name": self.name,
            "outcome": str(self.outcome),
            "module": self.module,
            "examples": self.examples,
            "detail": self.detail,
            "divergences": [d.to_json() for d in self.divergences],
        }

    @staticmethod
    def from_json(described: object, kind: str = "check") -> CheckResult:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        return CheckResult(
            name=document.text("name"),
            outcome=document.one_of("outcome", Outcome),
            module=document.text_or_none("module"),
            examples=document.whole("examples"),
            detail=document.text("detail"),
            divergences=document.list("divergences", Divergence.from_json),
        )


LEVEL_NAMES = {1: "property", 2: "interaction", 3: "rollout", 4: "transfer"}


@dataclass(frozen=True)
class LevelReport:
    """What one level of verification found.

    Attributes:
        level: 1 property, 2 interaction, 3 rollout, 4 transfer.
        module: the module it was limited to, or None for all.
        checks: every check that ran.
        episodes, steps: what was compared, in whole episodes and in single steps.
        seed: from which everything random in this level was derived.
        features: for each declared feature, in how many compared steps it occurred.
        notes: what could not be checked, and why.
        duration_s: seconds on the host's clock.
        evidence: SHA-256 over what the reference answered in the comparisons that this level is made of, in order: whoever
            repeats the level from its seed and gets the same digest has compared with the very same values.
        transfer: level 4 only: what was trained, played and compared, JSON-ready (docs/levels.md).
        occurred: the table of outcomes; None in older records, and where no trajectories were compared.
        deviations: how far each float leaf was off, by path; none in older records. It hangs on the processor, and on the
            portions in which a candidate was asked: whoever repeats a verdict may come to others.
        resynchronised: whether each step of the candidate began at the reference's state (docs/levels.md, Floats); False in
            older records.
        open_loop: level 3 of such a candidate only: for how long it agrees where nobody leads it.
    """

    level: int
    module: str | None
    checks: tuple[CheckResult, ...]
    seed: int
    episodes: int = 0
    steps: int = 0
    features: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    duration_s: float = 0.0
    evidence: str = ""
    transfer: Mapping[str, Any] | None = None
    occurred: Occurrences | None = None
    deviations: Mapping[str, Deviation] = field(default_factory=dict)
    resynchronised: bool = False
    open_loop: OpenLoop | None = None

    def __str__(self) -> str:
        """Its name, its outcome, and how much it compared."""
        compared = f"{self.episodes} episodes, {self.steps} steps" if self.episodes else f"{self.examples} examples"
        name = LEVEL_NAMES.get(self.level, "") + (f", module {self.module}" if self.module else "")
        return f"level {self.level} {name}: {self.outcome} ({compared}, {self.duration_s:.1f} s)"

    @property
    def outcome(self) -> Outcome:
        """That of the worst check (`Outcome.worst`); SKIPPED if none ran."""
        return Outcome.worst([check.outcome for check in self.checks])

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """All divergences found, in the order of the checks."""
        return tuple(d for check in self.checks for d in check.divergences)

    @property
    def examples(self) -> int:
        """The number of examples that all checks compared together."""
        return sum(check.examples for check in self.checks)

    @property
    def divergence_bound(self) -> float | None:
        """95% upper bound on the share of episodes that diverge, None unless whole episodes were compared.

        Exact binomial bound for no failures in `episodes` independent trials: `1 - 0.05 ** (1 / episodes)`.
        """
        if self.episodes == 0 or self.outcome is not Outcome.PASS:
            return None
        return -math.expm1(math.log(0.05) / self.episodes)

    @property
    def floats_told(self) -> list[tuple[str, str]]:
        """How episodes were compared, and how far floats were off, in a few lines for readers."""
        return told(self.deviations, resynchronised=self.resynchronised, open_loop=self.open_loop)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        table = {} if self.occurred is None else {"occurred": self.occurred.to_json()}
        return (
            {
                "level": self.level,
                "module": self.module,
                "outcome": str(self.outcome),
                "seed": self.seed,
                "examples": self.examples,
                "episodes": self.episodes,
                "steps": self.steps,
                "divergence_bound_95": self.divergence_bound,
                "features": dict(self.features),
                "notes": list(self.notes),
                "evidence": self.evidence,
                "duration_s": round(self.duration_s, 3),
                "checks": [check.to_json() for check in self.checks],
            }
            | ({} if self.transfer is None else {"transfer": dict(self.transfer)})
            | table
            | self._floats()
        )

    def _floats(self) -> dict[str, Any]:
        known = {
            "deviations": {path: off.to_json() for path, off in self.deviations.items()},
            "resynchronised": self.resynchronised,
            "open_loop": None if self.open_loop is None else self.open_loop.to_json(),
        }
        return {name: value for name, value in known.items() if value}

    @staticmethod
    def from_json(described: object, kind: str = "level report") -> LevelReport:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description, or its outcome is not the one of its checks.
        """
        document = Document(described, kind)
        report = LevelReport(
            level=document.whole("level"),
            module=document.text_or_none("module"),
            checks=document.list("checks", CheckResult.from_json),
            seed=document.whole("seed"),
            episodes=document.whole("episodes"),
            steps=document.whole("steps"),
            features=document.mapping("features", whole),
            notes=document.list("notes", text),
            duration_s=document.number("duration_s"),
            evidence=document.text("evidence", ""),
            transfer=document.optional("transfer", dict),
            occurred=document.read_or_none("occurred", Occurrences.from_json),
            deviations=document.mapping("deviations", Deviation.from_json) if "deviations" in document.content else {},
            resynchronised=document.flag_or_none("resynchronised") or False,
            open_loop=document.read_or_none("open_loop", OpenLoop.from_json),
        )
        if report.outcome is not document.one_of("outcome", Outcome):
            raise DocumentError(f"{kind}.outcome is {document.text('outcome')}; its checks say {report.outcome}")
        return report


@dataclass(frozen=True)
class Verdict:
    """The result of one verification of one tree.

    Attributes:
        reports: the levels that ran, lowest first; a level above a failed one does not run.
        seed: the seed of the whole run, drawn after the tree was fixed.
        task_digest: SHA-256 of the trusted task (contract, properties, interactions, cases, reference).
        sandbox: name of the driver in which the candidate ran; `isolated` is False for one that only sets limits.
        error: why nothing or not everything could be judged, or an empty string.
        scales: the largest |value| of leaves in the reference's episodes, by path, to which tolerances of the task are
            relative; none where none is.
        nodes: the conditions of the nodes on which references were, by name, where they were placed by an engine.
        failure: the same for code, no part of `to_json`; None where `error` is empty.
        image: digest of the image that the sandbox was made of, or an empty string where it is made of none.
        gpu: the GPUs that the candidate computed on, or an empty string where it computed on the CPU.
        frames: pictures of some divergences, uint8 `[height, width, 3]`, by `<index>-expected` and `<index>-actual`
            (`harness.verify.pictures`). They illustrate, decide nothing, and are no part of `to_json`.
    """

    reports: tuple[LevelReport, ...]
    seed: int
    task_digest: str
    sandbox: str
    isolated: bool
    duration_s: float = 0.0
    error: str = ""
    image: str = ""
    gpu: str = ""
    frames: Mapping[str, Array] = field(default_factory=dict, compare=False, repr=False)
    failure: Failure | None = None
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """PASS only if every level that was asked for ran and passed."""
        if self.error:
            return Outcome.ERROR
        return Outcome.worst([report.outcome for report in self.reports])

    @property
    def passed(self) -> bool:
        """Whether every level that was asked for ran and passed."""
        return self.outcome is Outcome.PASS

    def __str__(self) -> str:
        """A line for the verdict, one for each level, and one for each divergence."""
        where = self.sandbox + ("" if self.isolated else ", which does not isolate")
        where += f", on {self.gpu}" if self.gpu else ""
        lines = [f"{self.outcome} (seed {self.seed}, sandbox {where}, {self.duration_s:.1f} s)"]
        lines += [str(report) for report in self.reports]
        lines += [f"  {divergence}" for divergence in self.divergences]
        return "\n".join([*lines, *([self.error] if self.error else [])])

    @property
    def reason(self) -> str:
        """Why not everything could be judged: `error`, and what ended a level; empty unless the outcome is ERROR."""
        errors = [check.detail or check.name for check in self.checks if check.outcome is Outcome.ERROR]
        return "; ".join(filter(None, [self.error, *errors]))

    @property
    def ran_in(self) -> dict[str, Any]:
        """The sandbox and the device in it, JSON-ready."""
        known = {"image": self.image, "gpu": self.gpu}
        return {"driver": self.sandbox, "isolated": self.isolated} | {
            name: told for name, told in known.items() if told
        }

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """All checks of all levels, in order."""
        return tuple(check for report in self.reports for check in report.checks)

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """All divergences of all levels."""
        return tuple(d for report in self.reports for d in report.divergences)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        known = {"nodes": {name: dict(facts) for name, facts in self.nodes.items()}, "scales": dict(self.scales)}
        return {
            "outcome": str(self.outcome),
            "seed": self.seed,
            "task_digest": self.task_digest,
            "sandbox": self.ran_in,
            "duration_s": round(self.duration_s, 3),
            "error": self.error,
            "levels": [report.to_json() for report in self.reports],
        } | {name: told for name, told in known.items() if told}

    @staticmethod
    def from_json(described: object, kind: str = "verdict") -> Verdict:
        """The inverse of `to_json`, for what any version has recorded. Pictures are no part of it.

        Raises:
            DocumentError: `described` is no such description, or its outcome is not the one of its levels.
        """
        document = Document(described, kind)
        sandbox = document.object("sandbox")
        verdict = Verdict(
            reports=document.list("levels", LevelReport.from_json),
            seed=document.whole("seed"),
            task_digest=document.text("task_digest"),
            sandbox=sandbox.text("driver"),
            isolated=sandbox.flag("isolated"),
            duration_s=document.number("duration_s"),
            error=document.text("error"),
            image=sandbox.text("image", ""),
            gpu=sandbox.text("gpu", ""),
            nodes=document.optional("nodes", dict) or {},
            scales=document.mapping("scales", number) if "scales" in document.content else {},
        )
        if verdict.outcome is not document.one_of("outcome", Outcome):
            raise DocumentError(f"{kind}.outcome is {document.text('outcome')}; its levels say {verdict.outcome}")
        return verdict
