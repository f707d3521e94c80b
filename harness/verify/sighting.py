"""A difference as a check saw it: whoever dies or hangs while it is looked into takes nothing of it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.compare import Difference
from harness.errors import Failure
from harness.model import Case, Leaves, Trajectory
from harness.task.contract import Task
from harness.verdict import CheckResult, Divergence, Outcome

CUT_SHORT = "what was seen before it ended"
"""The check of a level that ended before it could say more of a difference."""


@dataclass(frozen=True)
class Sighting:
    """The first difference of a comparison, neither localised nor shrunk.

    Attributes:
        case: what shows it; None for a probe.
        probe, inputs: of a probe its name, and the inputs, stacked to one timestep.
    """

    difference: Difference
    case: Case | None = None
    probe: str | None = None
    inputs: Leaves | None = None

    def divergence(self, level: int, check: str, cause: str = "") -> Divergence:
        """All that is known of it so far."""
        found = self.difference
        return Divergence(
            self.case, 0 if self.case is None else found.step, found.path, found.expected, found.actual, found.rule,
            level, check, index=found.index, cause=cause, probe=self.probe, inputs=self.inputs,
        )  # fmt: skip


def sighted(expected: Sequence[Trajectory], differences: Sequence[Difference | None]) -> Sighting | None:
    """The earliest difference of several trajectories; None where there is none."""
    seen = [(found.step, n) for n, found in enumerate(differences) if found is not None]
    if not seen:
        return None
    step, number = min(seen)
    found = differences[number]
    assert found is not None
    return Sighting(found, expected[number].case.cut(step))


def ended_by(failure: Exception, seen: Sighting | None, task: Task, level: int) -> CheckResult:
    """What is said of a level that a failure ended: that it is an ERROR, or the difference that was seen by then.

    Of the difference nothing more could be asked, so it belongs to the module of the probe or of the leaf.
    """
    if seen is None:
        return CheckResult("workers", Outcome.ERROR, detail=str(failure), failure=Failure.of(failure))
    of_probe = (module for module in task.modules if seen.probe in module.probes)
    module = next(of_probe, None) or task.module_of(seen.difference.path)
    first, _, _ = str(failure).partition("\n")
    found = seen.divergence(level, CUT_SHORT, f"it could not be looked into: {first}")
    if module is not None:
        found = replace(found, module=module.name)
    return CheckResult(CUT_SHORT, Outcome.FAIL, found.module, detail=str(failure), divergences=(found,))
