"""The nouns: what a case, a trajectory, a divergence and a verdict are.

Everything here is a frozen dataclass over numpy arrays and plain values. Values are addressed by *leaf path*
(`observation/board`, `state/x`, `reward`), so that comparison needs no recursion, a difference has an address and every
serialisation is the same. Arrays are treated as immutable once they are part of a noun.
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import Failure

Array = NDArray[Any]
Leaves = Mapping[str, Array]

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
"""What a value may be made of."""
STATE = "state/"
"""Prefix of the leaves of the canonical state."""
ENDINGS = ("terminated", "truncated")
"""The leaves that end an episode when one of them is true."""


@dataclass(frozen=True)
class Leaf:
    """What a task declares about one leaf: its path, dtype name (`float32`), shape, and optional closed bounds."""

    path: str
    dtype: str
    shape: tuple[int, ...] = ()
    low: Any = None
    high: Any = None

    def zeros(self, rows: int) -> Array:
        """An array of zeros of shape `[rows, *shape]`."""
        return np.zeros((rows, *self.shape), dtype=self.dtype)


@dataclass(frozen=True)
class Draw:
    """One named chance event: what it decided on (`name`) and the value that chance gave it."""

    name: str
    value: Array


Tape = tuple[tuple[Draw, ...], ...]
"""The draws of a trajectory, row by row and in order; row 0 belongs to the reset."""


@dataclass(frozen=True)
class Case:
    """A test case is data: it can be stored, shrunk, replayed and committed.

    Attributes:
        seed: seed of the reset (0 <= seed < 2**63).
        actions: action leaves stacked over time, each of shape `[T, *leaf shape]`.
        start: canonical state to start from instead of a reset (leaves with their `state/` prefix).
        draws: chance events to force, `T + 1` rows at most; None lets the environment draw from its seed.
        name: a name that people can use.
        origin: where the case comes from (`rollout/random`, `shrunk`, `user`, ...).
    """

    seed: int
    actions: Leaves
    start: Leaves | None = None
    draws: Tape | None = None
    name: str = ""
    origin: str = ""

    @property
    def length(self) -> int:
        """The number of actions."""
        return len(next(iter(self.actions.values())))

    def cut(self, length: int) -> Case:
        """The same case with only its first `length` actions (and their draws)."""
        return Case(
            seed=self.seed,
            actions={path: array[:length] for path, array in self.actions.items()},
            start=self.start,
            draws=None if self.draws is None else self.draws[: length + 1],
            name=self.name,
            origin=self.origin,
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description from which `from_json` makes an equal case."""
        described: dict[str, Any] = {
            "name": self.name,
            "origin": self.origin,
            "seed": self.seed,
            "actions": leaves_to_json(self.actions),
        }
        if self.start is not None:
            described["start"] = leaves_to_json(self.start)
        if self.draws is not None:
            described["draws"] = [[[d.name, array_to_json(d.value)] for d in row] for row in self.draws]
        return described

    @staticmethod
    def from_json(described: Mapping[str, Any]) -> Case:
        """The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: `described` is not the description of a case.
        """
        if not isinstance(described, Mapping) or not isinstance(described["seed"], int):
            raise TypeError("a case is an object with a whole number as its seed")
        draws = described.get("draws")
        start = described.get("start")
        actions = leaves_from_json(described["actions"])
        if len({array.shape[:1] for array in actions.values()} - {()}) != 1:
            raise ValueError("a case has actions, and of each leaf as many")
        return Case(
            seed=described["seed"],
            actions=actions,
            start=None if start is None else leaves_from_json(start),
            draws=None
            if draws is None
            else tuple(tuple(Draw(str(name), array_from_json(value)) for name, value in row) for row in draws),
            name=str(described.get("name", "")),
            origin=str(described.get("origin", "")),
        )

    @property
    def digest(self) -> str:
        """SHA-256 over everything that decides what the case does (not over its name and origin)."""
        described = self.to_json()
        del described["name"], described["origin"]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Transition:
    """One row of a trajectory: outputs, canonical state after it, and the draws that it consumed."""

    outputs: Leaves
    state: Leaves
    draws: tuple[Draw, ...] = ()


@dataclass(frozen=True)
class Trajectory:
    """A case and what an environment answered to it.

    Attributes:
        case: what was asked.
        leaves: outputs and `state/` leaves stacked over rows, each of shape `[rows, *leaf shape]`. Row 0 is the
            reset (reward 0, not ended), row `t` is what action `t - 1` led to. The last row is the first one that
            terminated or was truncated, or the one after the last action.
        draws: the draws consumed, one tuple for each row, or None where the environment cannot report them.
    """

    case: Case
    leaves: Leaves
    draws: Tape | None = None

    @property
    def rows(self) -> int:
        """The number of rows: 1 + the number of steps taken."""
        return len(next(iter(self.leaves.values())))

    @property
    def steps(self) -> int:
        """The number of steps taken."""
        return self.rows - 1

    def transition(self, row: int) -> Transition:
        """Row `row`, with outputs and state apart."""
        outputs = {path: array[row] for path, array in self.leaves.items() if not path.startswith(STATE)}
        return Transition(outputs, self.state(row), () if self.draws is None else self.draws[row])

    def state(self, row: int) -> Leaves:
        """The canonical state after row `row`, with its `state/` prefix; empty where none is reported."""
        return {path: array[row] for path, array in self.leaves.items() if path.startswith(STATE)}

    @property
    def digest(self) -> str:
        """SHA-256 over paths, dtypes, shapes and bytes of all leaves, and over the draws."""
        sha = hashlib.sha256()
        for path in sorted(self.leaves):
            feed_digest(sha, path, self.leaves[path])
        for row, draws in enumerate(self.draws or ()):
            for draw in draws:
                feed_digest(sha, f"draw/{row}/{draw.name}", draw.value)
        return sha.hexdigest()


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

    def __str__(self) -> str:
        """Where it is, and both values."""
        return (
            f"{self.check}: step {self.step}, {self.address}: expected {self.expected}, got {self.actual} ({self.rule})"
        )

    @property
    def address(self) -> str:
        """The leaf and the position inside it: `observation/board[3,4]`."""
        return self.path + (f"[{','.join(map(str, self.index))}]" if self.index else "")

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "level": self.level,
            "check": self.check,
            "rule": self.rule,
            "step": self.step,
            "address": self.address,
            "expected": self.expected,
            "actual": self.actual,
            "module": self.module,
            "cause": self.cause,
            "probe": self.probe,
            "inputs": None if self.inputs is None else leaves_to_json(self.inputs),
            "reproduced": self.reproduced,
            "case": None if self.case is None else self.case.to_json(),
        }


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

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
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
        } | ({} if self.transfer is None else {"transfer": dict(self.transfer)})


@dataclass(frozen=True)
class Verdict:
    """The result of one verification of one tree.

    Attributes:
        reports: the levels that ran, lowest first; a level above a failed one does not run.
        seed: the seed of the whole run, drawn after the tree was fixed.
        task_digest: SHA-256 of the trusted task (contract, properties, interactions, cases, reference).
        sandbox: name of the driver in which the candidate ran; `isolated` is False for one that only sets limits.
        error: why nothing or not everything could be judged, or an empty string.
        failure: the same for code, no part of `to_json`; None where `error` is empty.
        image: digest of the image that the sandbox was made of, or an empty string where it is made of none.
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
    frames: Mapping[str, Array] = field(default_factory=dict, compare=False, repr=False)
    failure: Failure | None = None

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
        isolated = "" if self.isolated else ", which does not isolate"
        lines = [f"{self.outcome} (seed {self.seed}, sandbox {self.sandbox}{isolated}, {self.duration_s:.1f} s)"]
        lines += [str(report) for report in self.reports]
        lines += [f"  {divergence}" for divergence in self.divergences]
        return "\n".join([*lines, *([self.error] if self.error else [])])

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """All divergences of all levels."""
        return tuple(d for report in self.reports for d in report.divergences)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "outcome": str(self.outcome),
            "seed": self.seed,
            "task_digest": self.task_digest,
            "sandbox": {"driver": self.sandbox, "isolated": self.isolated}
            | ({"image": self.image} if self.image else {}),
            "duration_s": round(self.duration_s, 3),
            "error": self.error,
            "levels": [report.to_json() for report in self.reports],
        }


def feed_digest(sha: Any, name: str, array: Array) -> None:
    """Feed one named array to a hash object so that no two different arrays feed the same bytes."""
    contiguous = np.ascontiguousarray(array)
    sha.update(f"{name}|{contiguous.dtype.str}|{array.shape}|".encode())
    sha.update(contiguous.tobytes())


def array_to_json(array: Array) -> dict[str, Any]:
    """An array as dtype name, shape and flat values; NaN and the infinities as strings, so that it is strict JSON."""
    array = np.asarray(array)
    values = array.ravel().tolist()
    if array.dtype.kind == "f":
        values = [value if math.isfinite(value) else repr(value) for value in values]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def array_from_json(described: Mapping[str, Any]) -> Array:
    """The inverse of `array_to_json`.

    Raises:
        KeyError, TypeError, ValueError: `described` is not the description of an array.
    """
    # A name of the list, because numpy takes many more things for a dtype: of texts of two gigabytes, of objects.
    if not isinstance(described, Mapping) or described["dtype"] not in DTYPES:
        raise TypeError(f"an array is an object with a dtype of {', '.join(DTYPES)}")
    dtype = np.dtype(described["dtype"])
    try:
        values = described["values"]
        if dtype.kind == "f":
            values = [float(value) for value in values]
        return np.array(values, dtype=dtype).reshape(described["shape"])
    except OverflowError as error:
        raise ValueError(str(error)) from error


def leaves_to_json(leaves: Leaves) -> dict[str, Any]:
    """`array_to_json` for each leaf."""
    return {path: array_to_json(array) for path, array in sorted(leaves.items())}


def leaves_from_json(described: Mapping[str, Any]) -> dict[str, Array]:
    """`array_from_json` for each leaf."""
    if not isinstance(described, Mapping):
        raise TypeError("leaves are an object, from path to array")
    return {path: array_from_json(array) for path, array in described.items()}
