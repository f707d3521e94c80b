"""Evidence that an agent proposes: cases and properties of its own under `proposed/`.

They count as further evidence once they hold on the reference. They never replace or loosen anything: what does not hold on
the reference is set aside with a note, and nothing that an agent writes can turn a failure into a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import BadAnswer, Crashed, EnvironmentFailure, TimedOut
from harness.model import Array, Case, Leaf, Trajectory
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.support.foreign import json_of
from harness.task.contract import PROPERTIES_FILE, PROPOSED_DIRECTORY, Task
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.localise import localise
from harness.verify.pair import Pair

LEVEL = 2
EPISODES = 4
MAX_STEPS = 200
MAX_CASES = 500
MAX_CASE_BYTES = 1 << 20
MAX_PROPERTIES = 200
MAX_NAME = 100
CASE = "proposed case "
"""Begins the name of a check."""


def checks(
    pair: Pair, tree: Path, judge: Callable[[Path], Channel], start_apart: Callable[[], Environment] | None = None
) -> Iterator[CheckResult]:
    """Whatever an exported tree proposes.

    Args:
        judge: starts a sandboxed worker for a file of properties.
        start_apart: starts a reference for cases with a state or with draws that an agent made up. Nothing else is asked of
            it, and it ends here: what such a case does to a reference in C reaches no worker that judges. Without it such
            cases are set aside.
    """
    with ExitStack() as stack:
        yield from _cases(pair, tree / PROPOSED_DIRECTORY / "cases", start_apart, stack)
    properties = tree / PROPOSED_DIRECTORY / PROPERTIES_FILE
    if properties.is_file() and pair.paired:
        yield from _properties(pair, properties, judge)


def begins_in_a_made_up_state(divergence: Divergence) -> bool:
    """Whether what shows a divergence begins in a state, or takes chance events, that only an agent vouches for."""
    return divergence.check.startswith(CASE) and divergence.case is not None and has_own_state(divergence.case)


def has_own_state(case: Case) -> bool:
    """Whether a case has a state to begin in, or chance events, that whoever made it chose."""
    return case.start is not None or case.draws is not None


def _cases(
    pair: Pair, directory: Path, start_apart: Callable[[], Environment] | None, stack: ExitStack
) -> Iterator[CheckResult]:
    if not pair.paired:
        return
    judging, apart = pair, None
    for path in sorted(directory.glob("*.json"))[:MAX_CASES]:
        name = f"{CASE}{path.name}"
        try:
            if path.stat().st_size > MAX_CASE_BYTES:
                raise ValueError(f"over {MAX_CASE_BYTES} bytes")
            case = Case.from_json(json_of(path.read_text()))
            _fit(judging.task, case)
            pair = judging
            if has_own_state(case):
                if start_apart is None:
                    raise ValueError("it has a state or draws of its own, and there is no reference apart for it")
                pair = apart = apart or stack.enter_context(judging.apart(start_apart))
            [expected] = pair.reference.rollout([case])
        except (Crashed, TimedOut):
            raise
        except (OSError, ValueError, KeyError, TypeError, EnvironmentFailure) as error:
            yield CheckResult(name, Outcome.SKIPPED, detail=f"set aside: {type(error).__name__}: {str(error)[:300]}")
            continue
        [difference] = pair.differences([expected], pair.follow([expected]))
        if difference is None:
            yield CheckResult(name, Outcome.PASS, examples=1)
        else:
            divergence = localise(pair, expected, difference, level=LEVEL, check=name)
            yield CheckResult(name, Outcome.FAIL, examples=1, divergences=(divergence,))


def _fit(task: Task, case: Case) -> None:
    """Raise ValueError if a case's leaves are not the task's: it comes from an agent and goes to the trusted reference."""
    if set(case.actions) != set(task.actions) or (case.start is not None and set(case.start) != set(task.state)):
        raise ValueError("its leaves are not those of the task")
    if not 0 <= case.seed < 1 << 63 or case.length > task.budgets.horizon:
        raise ValueError(f"seed or length are out of range (at most {task.budgets.horizon} actions)")
    for path, array in case.actions.items():
        if array.dtype != task.leaves[path].dtype or array.shape != (case.length, *task.leaves[path].shape):
            raise ValueError(f"the leaf {path} has not the dtype or shape that task.toml states")
        if not _within(task.leaves[path], array):
            raise ValueError(f"the leaf {path} leaves the bounds that task.toml states")
    for path, array in (case.start or {}).items():
        if array.dtype != task.leaves[path].dtype or array.shape != task.leaves[path].shape:
            raise ValueError(f"the leaf {path} has not the dtype or shape that task.toml states")


def _within(leaf: Leaf, values: Array) -> bool:
    return bool((leaf.low is None or np.all(values >= leaf.low)) and (leaf.high is None or np.all(values <= leaf.high)))


def _properties(pair: Pair, file: Path, judge: Callable[[Path], Channel]) -> Iterator[CheckResult]:
    horizon = min(MAX_STEPS, pair.task.budgets.horizon)
    expected = [
        trajectory
        for policy in pair.task.budgets.policies
        for trajectory in pair.reference.drive(policy, pair.seeds(f"proposed/{policy}", EPISODES), horizon)
    ]
    actual = pair.follow(expected)
    try:
        channel = judge(file)
        on_reference, on_candidate = (_judged(channel, trajectories) for trajectories in (expected, actual))
        channel.close()
    except EnvironmentFailure as failure:
        yield CheckResult("proposed properties", Outcome.SKIPPED, detail=f"set aside: {str(failure)[:600]}")
        return
    for name in sorted(on_reference)[:MAX_PROPERTIES]:
        yield _verdict(f"proposed property {name[:MAX_NAME]}", on_reference[name], on_candidate.get(name), actual)


def _judged(channel: Channel, trajectories: list[Trajectory]) -> dict[str, Any]:
    """What the properties say of trajectories, by name. The process that answers runs an agent's code."""
    answer = channel.ask("judge", trajectories=[_to_wire(trajectory) for trajectory in trajectories])
    if not isinstance(answer, dict):
        raise BadAnswer(f"it answered with a {type(answer).__name__}", where="judge", expected="a map of answers")
    return answer


def _verdict(check: str, reference: Any, candidate: Any, actual: list[Trajectory]) -> CheckResult:
    count = len(actual)
    if not _is_answer(reference, count):
        return CheckResult(check, Outcome.SKIPPED, detail=f"set aside: {str(reference)[:300]}")
    if any(timestep >= 0 for timestep in reference):
        return CheckResult(check, Outcome.SKIPPED, detail="set aside: it does not hold on the reference")
    if not _is_answer(candidate, count):
        return CheckResult(check, Outcome.SKIPPED, detail=f"set aside: {str(candidate)[:300]}")
    broken = next((number for number, timestep in enumerate(candidate) if timestep >= 0), None)
    if broken is None:
        return CheckResult(check, Outcome.PASS, examples=count)
    timestep = min(int(candidate[broken]), actual[broken].steps)
    divergence = Divergence(
        actual[broken].case.cut(timestep), timestep, check, "holds", "does not hold", f"invariant:{check}", LEVEL, check,
        cause="the reference keeps this proposed property in the same case",
    )  # fmt: skip
    return CheckResult(check, Outcome.FAIL, examples=count, divergences=(divergence,))


def _is_answer(answer: Any, count: int) -> bool:
    return isinstance(answer, list) and len(answer) == count and all(type(timestep) is int for timestep in answer)


def _to_wire(trajectory: Trajectory) -> dict[str, Any]:
    return {"leaves": dict(trajectory.leaves), "actions": dict(trajectory.case.actions)}
