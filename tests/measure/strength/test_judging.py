"""What a verdict says of a mutant."""

from __future__ import annotations

import pytest

from harness.candidate.adapters.contract import UNUSABLE
from harness.errors import (
    BrokenContract,
    Crashed,
    EnvironmentFailure,
    Failing,
    Failure,
    Raised,
    SetupError,
    Side,
    TimedOut,
)
from harness.measure.strength.judging import read
from harness.measure.strength.statuses import CRASHED, ERROR, INCONCLUSIVE, KILLED, STILLBORN, SURVIVED, TIMEOUT
from harness.model import Case
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict


def verdict(*reports: LevelReport, error: Exception | None = None, seconds: float = 10.0) -> Verdict:
    said, why = ("", None) if error is None else (str(error), Failure.of(error))
    return Verdict(reports, 7, "0", "bubblewrap", True, seconds, error=said, failure=why)


def report(
    level: int,
    outcome: Outcome,
    *,
    name: str = "steps",
    detail: str = "",
    found: Divergence | None = None,
    why: Failure | None = None,
) -> LevelReport:
    check = CheckResult(name, outcome, detail=detail, divergences=() if found is None else (found,), failure=why)
    return LevelReport(level, None, (CheckResult("resets", Outcome.PASS), check), 7, duration_s=2.0)


def contract(cause: str, rule: str = "contract", failing: str = "") -> LevelReport:
    found = Divergence(None, 0, "candidate", "", "", rule, 1, "contract", cause=cause)
    broken = BrokenContract(cause, where="the candidate, call `open`", mistakes=({"text": cause, "failing": failing},))
    check = CheckResult("contract", Outcome.FAIL, divergences=(found,), failure=Failure.of_contract(broken))
    return LevelReport(1, None, (check,), 7, duration_s=2.0)


def test_each_level_that_passed_and_the_one_that_failed_are_reported() -> None:
    found = Divergence(Case(7, {}), 3, "reward", "1", "2", "exact", 2, "steps", index=(1,))
    first, second = read(verdict(report(1, Outcome.PASS), report(2, Outcome.FAIL, found=found)), [1, 2, 3])
    assert (first.level, first.outcome, first.seconds) == (1, SURVIVED, 8.0)  # with the 6 s until anything ran
    assert (second.level, second.outcome, second.seconds) == (2, KILLED, 2.0)
    assert (second.check, second.rule, second.address) == ("steps", "exact", "reward[1]")


def test_what_never_ran_is_stillborn() -> None:
    cause = "env.py cannot be imported: NameError: name 'x' is not defined (env.py:3)"
    assert Failing.UNUSABLE.name == UNUSABLE  # the adapters' word for it
    [only] = read(verdict(contract(cause, failing=Failing.UNUSABLE.name)), [1, 2, 3])
    assert (only.outcome, only.why) == (STILLBORN, cause)
    [other] = read(verdict(contract(cause)), [1, 2, 3])
    assert other.outcome == KILLED


def test_leaves_of_another_dtype_are_a_kill_of_the_lowest_level_that_was_asked_for() -> None:
    broken = contract("step: leaf `reward` came as float64[]; the task declares float32[]", rule="dtype")
    assert [(each.level, each.outcome, each.rule) for each in read(verdict(broken), [1, 2])] == [(1, KILLED, "dtype")]
    assert [(each.level, each.outcome) for each in read(verdict(broken), [3])] == [(3, KILLED)]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (TimedOut("too slow", where="call `rollout`", side=Side.CANDIDATE), TIMEOUT),
        (Crashed("no answer within", where="call `rollout`", side=Side.CANDIDATE), CRASHED),
        (Raised("ValueError: no", where="call `step`", side=Side.CANDIDATE), CRASHED),
        (TimedOut("no answer within 60 s", where="the candidate", side=Side.REFERENCE), ERROR),
        (EnvironmentFailure("no driver works here"), ERROR),
        (SetupError("the candidate needs what is not there", where="the candidate"), ERROR),
    ],
)
def test_a_candidate_that_hangs_or_ends_is_distinguished_from_a_reference_that_does(
    error: Exception, outcome: str
) -> None:
    """By the fields of the error, whatever its text says."""
    workers = report(2, Outcome.ERROR, name="workers", detail=str(error), why=Failure.of(error))
    inside = read(verdict(report(1, Outcome.PASS), workers), [1, 2])
    outside = read(verdict(error=error), [1, 2])
    assert (inside[1].level, inside[1].outcome) == (2, outcome)
    assert [(each.level, each.outcome) for each in outside] == [(1, outcome)]


def test_inconclusive_is_no_kill() -> None:
    [only] = read(verdict(report(4, Outcome.INCONCLUSIVE, detail="too few trainings")), [4])
    assert (only.outcome, only.why) == (INCONCLUSIVE, "too few trainings")
