"""What tools answer: the models behind their output schemas, and how a document of the harness becomes a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.support.text import visible_document
from mcp_server import texts

REACHED = (
    "What of the reference's lines, branches and features the levels have reached so far; what is missing is untested."
)


class View(BaseModel):
    """A part of a result. Its texts are made visible (`harness.support.text`) before anything is made of them.

    Attributes:
        exact: fields that hold contents of files, which stay as they are.
    """

    exact: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _visible(cls, given: Any) -> Any:
        return cls.shown(given) if isinstance(given, Mapping) else given

    @classmethod
    def shown(cls, document: Mapping[str, Any]) -> dict[str, Any]:
        """A document of this view with every text visible, but for those that are exact."""
        return visible_document(document) | {name: document[name] for name in cls.exact & document.keys()}


class Result(View):
    """What every result says: what it comes to, and what to do next."""

    model_config = ConfigDict(extra="ignore")

    summary: str = Field(description="What this comes to, in one sentence.")
    next_call: str = Field(default="", description="The exact call that is due now, or what else is to be done.")


Answer = TypeVar("Answer", bound=Result)


def answer(result: Result, rest: str = "") -> CallToolResult:
    """A result as structured data and as text, which hold the same and are short enough for every client.

    Args:
        rest: the resource in which whatever had to be cut can be read.
    """
    document = texts.fitted(result.shown(result.model_dump(mode="json")), rest)
    return CallToolResult(
        content=[TextContent(type="text", text=texts.text(document))],
        structured_content=document,
    )


class StepView(View):
    """One step of the recipe: a level, and at level 1 a module."""

    level: int
    module: str | None = None

    @classmethod
    def of(cls, described: Mapping[str, Any] | None) -> Self | None:
        """From a document of the harness."""
        return None if described is None else cls(level=described["level"], module=described.get("module"))

    def __str__(self) -> str:
        return f"level {self.level}" + (f" of {self.module}" if self.module else "")


class JobLine(View):
    """A job in one line."""

    job: str
    operation: str
    state: str = Field(description="running, done, failed, cancelled or lost")
    client: str = ""


class SessionStatus(Result):
    """Where a session stands."""

    session: str
    task: str
    workspace: str = Field(description="The directory in which the candidate is written.")
    state: str = Field(description="working, needs_human or done")
    passed: list[StepView] = Field(default_factory=list)
    remaining: list[StepView] = Field(default_factory=list)
    next: StepView | None = Field(None, description="The recipe's next step; none when everything has passed.")
    commit: str | None = Field(None, description="The newest verified commit.")
    attempts: int = 0
    last_attempt: dict[str, Any] | None = None
    spent_on_next: dict[str, Any] = Field(default_factory=dict)
    limits: dict[str, Any] = Field(default_factory=dict)
    dollars: float = 0.0
    dollars_reported: float = Field(0.0, description="Of these dollars, those reported by the agent itself.")
    needs_human: dict[str, Any] | None = Field(None, description="Why a person has to decide, and what was tried.")
    reached: list[str] = Field(default_factory=list, description=REACHED)
    jobs: list[JobLine] = Field(default_factory=list, description="The newest jobs, the newest first.")
    also_working: list[str] = Field(default_factory=list, description="Other clients that work on this session now.")


class Running(Result):
    """What all results have that a job stands behind."""

    job: str = Field(description="The job's id.")
    state: str = Field(description="running, done, failed, cancelled or lost; only `done` carries a result.")
    progress: str = Field("", description="What is being done, while it runs.")
    elapsed_s: float = 0.0
    also_working: list[str] = Field(default_factory=list)


class LevelLine(View):
    """What one level came to."""

    level: int
    outcome: str
    examples: int = 0
    episodes: int = 0
    steps: int = 0
    divergence_bound_95: float | None = None
    remarks: list[str] = Field(default_factory=list, description="Checks that did not pass, and what was not checked.")


class ComparisonLine(View):
    """One comparison of mean returns at level 4."""

    name: str
    decision: str = Field(description="equivalent, different or undecided")
    difference: float
    interval: list[float]
    identical: bool = Field(False, description="Whether the episodes themselves are the same in both.")
    trainings: int
    same_policies: int = Field(0, description="How many pairs of trainings ended with the same policy, bit by bit.")
    trainings_to_decide: int | None = None


class TransferView(View):
    """What level 4 compared. The report's resource also holds every policy, bootstrap intervals and effect sizes."""

    margin: float
    because: str
    minimum_return: float
    noise_floor: dict[str, Any] | None = Field(
        None,
        description="How far trainings in the reference lie apart. Below half_width equality shows only where trainings "
        "from one seed stay together in both backends.",
    )
    policies: int = 0
    comparisons: list[ComparisonLine] = Field(default_factory=list)


class Finding(View):
    """One difference, field by field, for a client that is a program."""

    level: int
    check: str
    rule: str
    step: int
    address: str = Field(description="The leaf and the position inside it: observation/board[3,4].")
    expected: str
    actual: str
    module: str | None = None
    cause: str = ""
    probe: str | None = None
    reproduced: bool | None = Field(None, description="Whether one step from the reference's own state shows it again.")

    @property
    def path(self) -> str:
        """The leaf alone."""
        return self.address.split("[")[0]


class Verification(Running):
    """A verdict. Only the outcome PASS verifies anything."""

    session: str
    outcome: str | None = Field(
        None,
        description="PASS, FAIL, INCONCLUSIVE (no difference, and too little to show equality), ERROR, or NEEDS_HUMAN "
        "where nothing was verified; none while the job runs.",
    )
    step: StepView | None = Field(None, description="What was verified, up to this level.")
    event: int | None = Field(None, description="The event of the session's log that holds the verdict.")
    commit: str | None = Field(None, description="The commit that was made, if this was progress.")
    next: StepView | None = None
    session_state: str = ""
    levels: list[LevelLine] = Field(default_factory=list)
    transfer: TransferView | None = Field(None, description="Level 4's comparisons, where it ran.")
    reached: list[str] = Field(default_factory=list, description=REACHED)
    error: str = Field("", description="Why nothing could be judged (outcome ERROR).")
    new_cases: list[str] = Field(default_factory=list, description="Counterexamples that run first from now on.")
    found: Finding | None = Field(None, description="The difference that `divergence` tells.")
    divergence: str = Field("", description="The first difference: address, both values, rule, cause, shortest case.")
    reproduce: str = Field("", description="The call that plays that case on both sides.")
    repair_prompt: str = Field("", description="How to go about the repair. Follow it.")


class Comparison(Running):
    """One case or one episode on both sides."""

    session: str
    equal: bool | None = Field(None, description="Whether both sides agreed everywhere; none while the job runs.")
    steps: int = 0
    played: dict[str, Any] = Field(default_factory=dict)
    difference: dict[str, Any] | None = Field(None, description="The first difference, with the leaves around it.")


class Profile(Running):
    """How fast the candidate is, beside its reference and its peers."""

    session: str
    outcome: str | None = Field(
        None,
        description="PASS: what was timed is what the reference does. FAIL: it is not, and no figure counts. ERROR: "
        "nothing was measured. None while the job runs.",
    )
    event: int | None = Field(None, description="The event of the session's log that holds the figures.")
    verified: str | None = Field(None, description="The verified commit that holds this very code; none if none does.")
    measurements: list[dict[str, Any]] = Field(
        default_factory=list, description="Steps per second (median, low, high), compile time in s and memory in MB."
    )
    state_bytes: int = Field(0, description="Bytes of state of one environment.")
    hot: list[str] = Field(default_factory=list, description="Where a step's time goes: share, kind, line.")
    advice: str = Field("", description="What to do next about the speed, if anything.")
    remarks: list[str] = Field(
        default_factory=list, description="Machine, spot checks, what was not measured, warnings."
    )
    error: str = Field("", description="Why nothing could be measured (outcome ERROR).")
    divergence: str = Field("", description="How a timed run differs from the reference (outcome FAIL).")


class Replayed(Running):
    """A recorded verdict, reached again from its tree and its seed."""

    session: str
    event: int | None = Field(None, description="The verdict's event.")
    match: str | None = Field(
        None,
        description="exact; within tolerance (the same claim under other conditions); different; not repeated. None while "
        "the job runs.",
    )
    outcome: str = Field("", description="The recorded outcome.")
    outcome_again: str = ""
    seed: int | None = None
    digest: str = Field("", description="SHA-256 over the recorded verdict, without times and places.")
    digest_again: str = ""
    differences: list[str] = Field(default_factory=list, description="What differs, the first few.")
    changed: list[str] = Field(default_factory=list, description="Conditions that are not what they were.")
    because: str = ""


class CommandRun(Running):
    """A command that was run in the agent's sandbox."""

    session: str
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    truncated: bool = Field(False, description="Whether the output was longer than what is kept.")
    killed_by: str | None = Field(None, description="The limit that ended it, if one did.")
    duration_s: float = 0.0


class SpecificationBegun(Result):
    """A specification that was begun."""

    session: str
    task: str
    directory: str = ""
    statements: list[dict[str, Any]] = Field(default_factory=list, description="The rules, each with its number.")
    readings: list[str] = Field(
        default_factory=list, description="The ids with which the first and the second reading are written."
    )


class Specification(Running):
    """One step of a specification."""

    session: str
    step: str
    outcome: str = Field("", description="PASS where nothing is open, FAIL, ERROR; empty while it runs.")
    document: dict[str, Any] = Field(default_factory=dict, description="As the command `spec` prints it.")


class JobStatus(Running):
    """A job, and what it came to."""

    session: str
    operation: str
    client: str = ""
    started: str
    ended: str | None = None
    verification: Verification | None = None
    comparison: Comparison | None = None
    profile: Profile | None = None
    command: CommandRun | None = None
    replay: Replayed | None = None
    specification: Specification | None = None
    error: str = Field("", description="Why it failed, was cancelled or is lost.")


class Explanation(Result):
    """A divergence, explained."""

    session: str
    event: int | None = Field(None, description="The event in which it was found; none where there is no divergence.")
    outcome: str = ""
    divergences: int = Field(0, description="How many there are; one is reported at a time.")
    divergence: str = ""
    case: str | None = Field(None, description="The file in the workspace that holds its shortest case.")
    reproduce: str = ""
    repair_prompt: str = ""


class EventLine(View):
    """One event of a session's log."""

    seq: int
    time: str
    kind: str
    outcome: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    finding: str = ""
    commit: str | None = None
    duration_s: float = 0.0


class History(Result):
    """A part of a session's log, oldest first."""

    session: str
    events: list[EventLine]
    more: int = Field(0, description="Events after these.")


class Audit(Result):
    """What a session's record proves."""

    session: str
    ok: bool
    events: int = 0
    commits: list[dict[str, Any]] = Field(default_factory=list)
    problems: list[dict[str, Any]] = Field(default_factory=list)
    key: str = ""


class Usage(Result):
    """What has been spent in a session."""

    session: str
    usage: dict[str, Any] = Field(
        default_factory=dict, description="In all; dollars_reported are those reported by the agent itself."
    )
    recorded: dict[str, Any] | None = Field(None, description="What this report added.")
    note: str = ""
