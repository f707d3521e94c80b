"""Known cases: every counterexample that was ever found, shrunk and kept in `cases/`. They run first, forever.

A case file is JSON: a `Case`, or the inputs of a probe (`{"probe": name, "inputs": leaves}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Raised, TaskError
from harness.model import Case, Leaves, Trajectory, leaves_from_json
from harness.protocol.environment import Environment
from harness.support.foreign import json_of
from harness.task.contract import CASES_DIRECTORY
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.levels.proposed import CASE, has_own_state
from harness.verify.localise import localise, show_in_probe
from harness.verify.pair import Pair

NAME = "known cases"


@dataclass(frozen=True)
class ProbeCase:
    """Inputs of a probe (each leaf stacked to one timestep) on which a candidate was once wrong."""

    probe: str
    inputs: Leaves


def load_cases(directory: Path) -> tuple[list[Case], list[ProbeCase]]:
    """The known cases of a task directory, by file name.

    Raises:
        TaskError: a file is not a case; every such file is named.
    """
    cases: list[Case] = []
    probes: list[ProbeCase] = []
    mistakes = []
    for path in sorted((directory / CASES_DIRECTORY).glob("*.json")):
        try:
            described = json_of(path.read_text())
            if "probe" in described:
                probes.append(ProbeCase(described["probe"], leaves_from_json(described["inputs"])))
            else:
                cases.append(Case.from_json(described))
        except (OSError, ValueError, KeyError, TypeError) as error:
            mistakes.append(f"{CASES_DIRECTORY}/{path.name}: not a case ({type(error).__name__}: {error})")
    if mistakes:
        raise TaskError("some known cases cannot be read", where=str(directory), mistakes=tuple(mistakes))
    return cases, probes


def check_probes(pair: Pair, known: Sequence[ProbeCase], module: str | None) -> Iterator[CheckResult]:
    """The known inputs of probes, of one module or of all."""
    for owner in pair.task.modules:
        mine = [case for case in known if case.probe in owner.probes and module in (None, owner.name)]
        for case in mine:
            difference, grid = show_in_probe(pair, case.probe, case.inputs)
            if difference is not None:
                divergence = Divergence(
                    None, 0, difference.path, difference.expected, difference.actual, difference.rule, 1, NAME,
                    index=difference.index, module=owner.name, cause="a known case, found earlier",
                    probe=case.probe, inputs=case.inputs, reproduced=True, grid=grid,
                )  # fmt: skip
                yield CheckResult(NAME, Outcome.FAIL, owner.name, len(mine), divergences=(divergence,))
                break
        else:
            if mine:
                yield CheckResult(NAME, Outcome.PASS, owner.name, len(mine))


def check_cases(
    pair: Pair, known: Sequence[Case], level: int, start_apart: Callable[[], Environment]
) -> CheckResult | None:
    """The known cases, in one batch; None where there are none, or none can be compared.

    Args:
        start_apart: starts a reference for cases that older versions kept of what an agent made up, and which ends here.
    """
    usable = [case for case in known if case.start is None or pair.can_restore] if pair.paired else []
    if not usable:
        return None
    with ExitStack() as stack:
        apart = stack.enter_context(pair.apart(start_apart)) if any(map(may_be_made_up, usable)) else pair
        try:
            expected = _played(pair, apart, usable)
            differences = apart.differences(expected, pair.follow(expected), counted=True)
        except Raised as refused:
            return CheckResult(NAME, Outcome.ERROR, detail=f"a known case cannot be played: {refused}")
        for trajectory, difference in zip(expected, differences, strict=True):
            if difference is not None:
                playing = apart if may_be_made_up(trajectory.case) else pair
                divergence = localise(playing, trajectory, difference, level=level, check=NAME)
                return CheckResult(NAME, Outcome.FAIL, examples=len(usable), divergences=(divergence,))
    return CheckResult(NAME, Outcome.PASS, examples=len(usable))


def may_be_made_up(case: Case) -> bool:
    """Whether an older version kept it of a proposal, or of a known case, whose origin no longer says whose state it was."""
    return case.origin.startswith((CASE, NAME)) and has_own_state(case)


def _played(pair: Pair, apart: Pair, cases: Sequence[Case]) -> list[Trajectory]:
    """What the references answered, in the order of the cases, which is that of the evidence."""
    made_up = [case for case in cases if may_be_made_up(case)]
    others = [case for case in cases if not may_be_made_up(case)]
    answers = iter(pair.reference.rollout(others)), iter(apart.reference.rollout(made_up))
    expected = [next(answers[may_be_made_up(case)]) for case in cases]
    pair.witness(expected)
    return expected
