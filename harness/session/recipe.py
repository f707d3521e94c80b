"""The recipe as a state machine, folded from the event log: what passed, what comes next, when to ask a person.

Modules in dependency order at level 1, then levels 2 and 3, then level 4 where the task has it. When a later level finds
a difference that was traced to a module, that module is back at level 1, with the new case. Pure: the same events give the
same state, so status, history and a reopened session can never disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.record.event import Event
from harness.record.task_update import TASK_UPDATED
from harness.task.contract import Limits
from harness.verdict import LevelReport, Outcome, Verdict

ATTEMPT = "attempt"
VERDICT = "verdict"
INTERRUPTED = "interrupted"
REFUSED = "refused"
"""Tells of a workspace that could not be taken. It counts as an iteration: looking at one costs this machine something."""
RESUMED = "resumed"
ITERATIONS = (ATTEMPT, REFUSED)
"""What counts as an iteration, and of a budget as an attempt."""

READ, REPORTED = "transcripts", "reported"
"""Where tokens and dollars come from, under `source`: read in transcripts by the harness, or the word of the agent."""

WORKING = "working"
NEEDS_HUMAN = "needs_human"
DONE = "done"
TRIED_AT_MOST = 8
FINDING_AT_MOST = 600
FOUND = "divergences"
"""The field of a verdict's event that counts the differences of the level that failed."""


@dataclass(frozen=True, order=True)
class Step:
    """One step of the recipe: a level, and at level 1 a module (None for a task without modules)."""

    level: int
    module: str | None = None

    def __str__(self) -> str:
        return f"level {self.level}" + (f" of {self.module}" if self.module else "")

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"level": self.level, "module": self.module}


@dataclass(frozen=True)
class Plan:
    """What a session has to go through, fixed by its task: modules in dependency order, levels, limits."""

    modules: tuple[str, ...]
    levels: tuple[int, ...] = (1, 2, 3)
    limits: Limits = field(default_factory=Limits)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order; a session on a specification has none."""
        if not self.levels:
            return ()
        first = tuple(Step(1, module) for module in self.modules) or (Step(1),)
        return first + tuple(Step(level) for level in self.levels if level > 1)

    def covered(self, levels: Iterable[int], module: str | None) -> frozenset[Step]:
        """The steps that a verification of these levels (of one module, or of all) speaks about."""
        wanted = set(levels)
        return frozenset(s for s in self.steps if s.level in wanted and (module is None or s.module == module))

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description from which `from_json` makes an equal plan."""
        limits = self.limits
        return {
            "modules": list(self.modules),
            "levels": list(self.levels),
            "limits": {"iterations": limits.iterations, "seconds": limits.seconds, "dollars": limits.dollars},
        }

    @staticmethod
    def from_json(described: Mapping[str, Any]) -> Plan:
        """The inverse of `to_json`. Raises KeyError or TypeError for anything else."""
        plan = Plan(tuple(described["modules"]), tuple(described["levels"]), Limits(**described["limits"]))
        limits = (plan.limits.iterations, plan.limits.seconds, plan.limits.dollars)
        for values, kind in ((plan.modules, str), (plan.levels, int), (limits, int | float)):
            if not all(isinstance(value, kind) for value in values):
                raise TypeError(f"{values!r:.200} is not part of a plan")
        return plan


@dataclass(frozen=True)
class Attempt:
    """One verification that was asked for: event, what it was about, and how it ended (empty while it runs).

    Attributes:
        working_on: the recipe's next step then.
        asked: what was to be verified: up to this level, at level 1 this module.
        failed_level: the level that did not pass.
        divergences: how many differences were found, of which `finding` tells the first; 0 in older records.
    """

    seq: int
    working_on: Step | None
    message: str
    outcome: str = ""
    finding: str = ""
    asked: Step | None = None
    failed_level: int | None = None
    divergences: int = 0

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "seq": self.seq,
            "step": str(self.asked or self.working_on or "finished"),
            "message": self.message,
            "outcome": self.outcome,
            "finding": self.finding,
            "failed_level": self.failed_level,
            "divergences": self.divergences,
        }


@dataclass(frozen=True)
class Spent:
    """What was spent on one step since a person last looked."""

    iterations: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class State:
    """Where a session stands.

    Attributes:
        passed: steps that passed and that nothing found later has called into question.
        spent: iterations and seconds, by the step that was next at that time.
        dollars: money since a person last looked; `dollars_total` since the start, and of that `dollars_reported` by the
            agent itself.
        attempts: every attempt, in order; the last one's outcome is empty while it runs.
    """

    plan: Plan
    passed: frozenset[Step] = frozenset()
    spent: Mapping[Step, Spent] = field(default_factory=dict)
    dollars: float = 0.0
    dollars_total: float = 0.0
    dollars_reported: float = 0.0
    attempts: tuple[Attempt, ...] = ()

    @property
    def pending(self) -> Attempt | None:
        """The attempt that has no outcome yet."""
        return self.attempts[-1] if self.attempts and not self.attempts[-1].outcome else None


def fold(plan: Plan, events: Iterable[Event]) -> State:
    """The state after these events."""
    state = State(plan)
    for event in events:
        state = advance(state, event)
    return state


def next_step(state: State) -> Step | None:
    """The first step that has not passed; None when all have."""
    return next((step for step in state.plan.steps if step not in state.passed), None)


def limits_reached(state: State) -> list[str]:
    """Which limits the next step has reached, each in a few words; empty while the agent may go on."""
    step = next_step(state)
    if step is None:
        return []
    limits, spent = state.plan.limits, state.spent.get(step, Spent())
    reached = []
    if spent.iterations >= limits.iterations:
        reached.append(f"{spent.iterations} iterations on {step} (limit {limits.iterations})")
    if spent.seconds >= limits.seconds:
        reached.append(f"{spent.seconds:.0f} s on {step} (limit {limits.seconds:.0f} s)")
    if state.dollars >= limits.dollars:
        reached.append(f"${state.dollars:.2f} in this session (limit ${limits.dollars:.2f})")
    return reached


def phase(state: State, budgets_used_up: Sequence[str] = ()) -> str:
    """`done`, `needs_human` or `working`. The budgets of the session's client and task are limits like its own."""
    if next_step(state) is None:
        return DONE
    return NEEDS_HUMAN if budgets_used_up or limits_reached(state) else WORKING


def tried(state: State) -> list[Attempt]:
    """The last attempts at the step that is next: what a person who is asked wants to know first."""
    step = next_step(state)
    return [attempt for attempt in state.attempts if attempt.working_on == step][-TRIED_AT_MOST:]


def status(state: State, budgets_used_up: Sequence[str] = ()) -> dict[str, Any]:
    """The state, JSON-ready. `budgets_used_up` are those of the session's client and task, each in a few words."""
    step = next_step(state)
    spent = state.spent.get(step, Spent()) if step else Spent()
    here = phase(state, budgets_used_up)
    because = [*limits_reached(state), *budgets_used_up]
    return {
        "state": here,
        "next": None if step is None else step.to_json(),
        "passed": [step.to_json() for step in state.plan.steps if step in state.passed],
        "remaining": [step.to_json() for step in state.plan.steps if step not in state.passed],
        "attempts": len(state.attempts),
        "spent_on_next": {"iterations": spent.iterations, "seconds": round(spent.seconds, 3)},
        "dollars": round(state.dollars_total, 6),
        "dollars_reported": round(state.dollars_reported, 6),
        "limits": state.plan.to_json()["limits"],
        "needs_human": {"because": because, "tried": [a.to_json() for a in tried(state)]}
        if here == NEEDS_HUMAN
        else None,
    }


def progress_made(state: State, covered: frozenset[Step], *, same_tree: bool) -> bool:
    """Whether a passed verification is worth a commit.

    It is when a step passes that had not, or when the highest step that had passed does so again with other code (an
    optimised candidate). Passing a lower level once more adds nothing to what is committed.
    """
    if covered - state.passed:
        return True
    highest = max((step.level for step in state.passed), default=0)
    return not same_tree and any(step.level == highest for step in covered)


def advance(state: State, event: Event) -> State:
    """The state after one more event."""
    state = _spend(state, event)
    if event.kind == ATTEMPT:
        attempt = Attempt(
            event.seq, next_step(state), str(event.arguments.get("message", "")), asked=_asked(event.arguments)
        )
        return replace(state, attempts=(*state.attempts, attempt))
    if event.kind == RESUMED:
        return replace(state, spent={}, dollars=0.0)
    if event.kind == TASK_UPDATED:  # by a person; what the task before judged says nothing about this one
        plan = Plan.from_json(event.detail["plan"])
        return replace(state, plan=plan, passed=frozenset(), spent={}, dollars=0.0)
    if event.kind not in (VERDICT, INTERRUPTED):
        return state
    if event.kind == VERDICT:
        state = replace(state, passed=_passed(state, event))
    if state.pending is None:
        return state
    outcome = event.outcome if event.kind == VERDICT else INTERRUPTED
    failed, found = (event.detail.get(name) for name in ("failed_level", FOUND))
    ended = replace(
        state.pending,
        outcome=outcome,
        finding=str(event.detail.get("finding", "")),
        failed_level=failed if isinstance(failed, int) else None,
        divergences=found if isinstance(found, int) else 0,
    )
    return replace(state, attempts=(*state.attempts[:-1], ended))


def _asked(arguments: Mapping[str, Any]) -> Step | None:
    level, module = arguments.get("level"), arguments.get("module")
    return Step(level, module if isinstance(module, str) else None) if isinstance(level, int) else None


def reported_dollars(arguments: Mapping[str, Any], usage: Mapping[str, float]) -> float:
    """Of the dollars that an event tells, those that are the word of an agent alone."""
    return 0.0 if arguments.get("source") == READ else float(usage.get("dollars", 0.0))


def _spend(state: State, event: Event) -> State:
    dollars = float(event.usage.get("dollars", 0.0))
    state = replace(
        state,
        dollars=state.dollars + dollars,
        dollars_total=state.dollars_total + dollars,
        dollars_reported=state.dollars_reported + reported_dollars(event.arguments, event.usage),
    )
    step = next_step(state)
    if step is None:
        return state
    before = state.spent.get(step, Spent())
    after = Spent(before.iterations + (event.kind in ITERATIONS), before.seconds + event.duration_s)
    return replace(state, spent={**state.spent, step: after})


def _passed(state: State, event: Event) -> frozenset[Step]:
    """The steps passed after a verdict; see `verdict_detail` for the fields that decide."""
    plan, module = state.plan, event.arguments.get("module")
    if event.outcome == Outcome.PASS:
        earned = plan.covered(event.arguments.get("levels", ()), module) if event.detail.get("counts") else frozenset()
        return state.passed | earned
    if event.outcome not in (Outcome.FAIL, Outcome.INCONCLUSIVE):
        return state.passed
    failed = int(event.detail.get("failed_level", 1))
    below = plan.covered(range(1, failed), None) if module is None and event.detail.get("counts") else frozenset()
    if event.outcome == Outcome.INCONCLUSIVE:
        return state.passed | below  # nothing was shown against what had passed
    blamed = set(event.detail.get("blamed", ()))
    if failed == 1 and module is not None:
        blamed.add(module)
    lost = {step for step in plan.steps if step.level >= max(failed, 2)}
    if blamed & set(plan.modules):
        lost = {step for step in plan.steps if step.level >= 2 or step.module in blamed}
    elif failed == 1 and not plan.modules:
        lost = set(plan.steps)
    return (state.passed | below) - lost


def verdict_detail(verdict: Verdict, *, counts: bool) -> dict[str, Any]:
    """What an event keeps of a verdict: one line for each level, who is to blame, and the first finding.

    Args:
        counts: whether the seed was drawn by the harness after the snapshot. A pass on a seed that the caller chose shows
            nothing, because the candidate could have been written for it.
    """
    reports = verdict.reports
    detail: dict[str, Any] = {
        "counts": counts,
        "levels": [_line(report) for report in reports],
        "sandbox": verdict.ran_in,
    }
    if verdict.outcome is Outcome.ERROR:
        return detail | {"finding": verdict.reason[:FINDING_AT_MOST]}
    undecided = next((report for report in reports if report.outcome is Outcome.INCONCLUSIVE), None)
    if undecided is not None:
        open_checks = [check for check in undecided.checks if check.outcome is Outcome.INCONCLUSIVE]
        finding = "; ".join(f"{check.name}: {check.detail}" for check in open_checks)
        return detail | {"failed_level": undecided.level, "finding": finding[:FINDING_AT_MOST]}
    failed = next((report for report in reports if report.outcome is Outcome.FAIL), None)
    if failed is not None:
        broken = [check for check in failed.checks if check.outcome is Outcome.FAIL]
        found = [divergence for check in broken for divergence in check.divergences]
        names = [each.module for each in (*found, *broken)]
        detail["failed_level"] = failed.level
        detail[FOUND] = len(found)
        detail["blamed"] = list(dict.fromkeys(name for name in names if name))
        detail["finding"] = str(found[0])[:FINDING_AT_MOST] if found else f"{broken[0].name}: {broken[0].detail}"
    return detail


def _line(report: LevelReport) -> dict[str, Any]:
    names = ("level", "module", "outcome", "examples", "episodes", "steps", "divergence_bound_95", "duration_s")
    described = report.to_json()
    return {name: described[name] for name in names}
