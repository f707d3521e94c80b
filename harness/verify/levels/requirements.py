"""What the task requires a level to have reached: a comparison that never came there shows nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.task.contract import Task
from harness.verdict import CheckResult, Outcome
from harness.verify.occurrences import OccurrenceCount

NAME = "requirements"


def checks(task: Task, level: int, occurred: OccurrenceCount, features: Mapping[str, int]) -> Iterator[CheckResult]:
    """Whether all that the task requires of a level occurred in it often enough; nothing where it requires nothing.

    Args:
        occurred: what was counted in this level.
        features: how often each feature was seen in it.
    """
    required = [each for each in task.required if each.level == level]
    if not required:
        return
    reached = [occurred.times(each) if each.feature is None else features.get(each.feature, 0) for each in required]
    told = [f"{each} {times:,} of {each.times:,} times" for each, times in zip(required, reached, strict=True)]
    missed = [line for line, each, times in zip(told, required, reached, strict=True) if times < each.times]
    if not missed:
        yield CheckResult(NAME, Outcome.PASS, detail="; ".join(told))
        return
    yield CheckResult(
        NAME,
        Outcome.INCONCLUSIVE,
        detail=f"missed: {'; '.join(missed)}. No difference was found, but too little of what the task requires was "
        "compared: raise `episodes` or `exploration` in [budgets], add a policy that gets there, or require less",
    )
