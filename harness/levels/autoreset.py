"""Whether the batch that users train on is the environment that was verified.

The candidate's auto-resetting batch plays with chance of its own. Each episode in it is cut out, with its terminal
observation and the draws that it consumed, and played again by the reference under exactly these draws. So the sampler, the
reset inside the step and the kept terminal observation are all held against the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from harness.environment import Environment
from harness.levels.localise import localise
from harness.levels.pair import Pair
from harness.model import ENDINGS, Array, Case, CheckResult, Divergence, Draw, Outcome, Trajectory
from harness.task import Mode

LEVEL = 3
NAME = "auto-reset batch"
ENVIRONMENTS = 17
MAX_STEPS = 512


def play(pair: Pair, candidate: Environment) -> dict[str, Any]:
    """What the candidate's auto-resetting batch answers: the call `autoreset` of docs/protocol.md, and its `actions`.

    Raises:
        EnvironmentFailure: it could not answer.
    """
    steps = min(2 * pair.task.budgets.horizon, MAX_STEPS)
    flat = pair.random_case_actions("autoreset", steps * ENVIRONMENTS)
    actions = {path: array.reshape(steps, ENVIRONMENTS, *array.shape[1:]) for path, array in flat.items()}
    seed = pair.derive("autoreset") % (1 << 31)
    return {
        **candidate.ask("autoreset", seed=seed, envs=ENVIRONMENTS, steps=steps, actions=actions),
        "actions": actions,
    }


def check(pair: Pair, answer: Mapping[str, Any]) -> tuple[CheckResult, int]:
    """Every episode of an auto-resetting batch, replayed one by one; and how many steps the reference confirmed.

    Args:
        answer: what `play` returned.
    """
    seen = list(episodes(pair, answer, answer["actions"]))
    forced = pair.task.mode in (Mode.NONE, Mode.SHARED) or "force_draws" in pair.reference.spec.capabilities
    judge = pair.reference if forced and pair.paired else pair.candidate
    detail = "" if judge is pair.reference else "against the candidate's own single steps: the reference takes no draws"
    expected = judge.rollout([trajectory.case for trajectory in seen])
    comparable = frozenset(path for path in pair.task.outputs if _kept(path, answer))
    for one, other, found in zip(expected, seen, pair.differences(expected, seen, only=comparable), strict=True):
        if found is None:
            continue
        # The same episode without the batch around it: if it differs too, the fault is not the batch's.
        [(alone, difference)] = pair.play([one.case]) if pair.paired else [(one, None)]
        if difference is not None:
            divergence = localise(pair, alone, difference, level=LEVEL, check=NAME)
        else:
            last = found.step == other.steps and found.step > 0
            divergence = Divergence(
                one.case.cut(found.step), found.step, found.path, found.expected, found.actual, "autoreset", LEVEL, NAME,
                index=found.index,
                cause="stepped alone the candidate agrees with the reference here: the batch differs"
                + (" in an episode's last step" if last else " in an episode's reset" if found.step == 0 else ""),
            )  # fmt: skip
        return CheckResult(NAME, Outcome.FAIL, examples=len(seen), divergences=(divergence,)), 0
    confirmed = sum(trajectory.steps for trajectory in expected) if judge is pair.reference else 0
    return CheckResult(NAME, Outcome.PASS, examples=len(seen), detail=detail), confirmed


def episodes(pair: Pair, answer: Mapping[str, Any], actions: Mapping[str, Array]) -> Iterator[Trajectory]:
    """Cut a batch into episodes: trajectories as they would look without auto-reset, each with its tape forced.

    Args:
        answer: what the call `autoreset` answers (docs/protocol.md).
        actions: the actions of the batch, each of shape `[steps, environments, *leaf shape]`.
    """
    leaves = answer["leaves"]
    ended = np.logical_or(*(leaves[path] for path in ENDINGS))
    rows, environments = ended.shape
    for number in range(environments):
        ends = [int(row) for row in np.flatnonzero(ended[1:, number]) + 1]
        for start, end in zip([0, *ends], [*ends, rows - 1], strict=True):
            if end == start:
                continue
            yield _episode(pair, answer, actions, number, start, end, closed=end in ends)


def _episode(
    pair: Pair,
    answer: Mapping[str, Any],
    actions: Mapping[str, Array],
    number: int,
    start: int,
    end: int,
    *,
    closed: bool,
) -> Trajectory:
    columns = {}
    for path in pair.task.outputs:
        if not _kept(path, answer):
            continue
        column = np.array(answer["leaves"][path][start : end + 1, number])
        if path in ("reward", *ENDINGS):
            column[0] = 0  # the row belongs to the end of the episode before
        elif closed:
            column[-1] = answer["leaves"][f"final/{path}"][end, number]
        columns[path] = column
    case = Case(0, {path: array[start:end, number] for path, array in actions.items()}, origin=NAME)
    reset = {name: values[start, number] for name, values in answer["reset_draws"].items()}
    if pair.task.mode is Mode.SHARED:
        return Trajectory(replace(case, seed=_joined(reset["seed"])), columns)
    if pair.task.mode is Mode.NONE:
        return Trajectory(case, columns)
    tape = [_row(pair, reset, {name: int(counts[start, number]) for name, counts in answer["reset_used"].items()})]
    for row in range(start, end):
        used = {name: int(counts[row, number]) for name, counts in answer["step_used"].items()}
        tape.append(_row(pair, {name: values[row, number] for name, values in answer["step_draws"].items()}, used))
    return Trajectory(replace(case, draws=tuple(tape)), columns, tuple(tape))


def _row(pair: Pair, values: Mapping[str, Array], used: Mapping[str, int]) -> tuple[Draw, ...]:
    """The draws of one row, as many of each name as were used."""
    draws = []
    for name, value in values.items():
        slots = np.asarray(value).reshape(-1, *pair.task.draws[name].shape)
        draws.extend(Draw(name, slot) for slot in slots[: used[name]])
    return tuple(draws)


def _kept(path: str, answer: Mapping[str, Any]) -> bool:
    """Whether the batch shows this leaf's last value of an episode; without it there is nothing to compare."""
    leaves = answer["leaves"]
    return path in leaves and (path in ("reward", *ENDINGS) or f"final/{path}" in leaves)


def _joined(words: Array) -> int:
    return (int(words[0]) << 32) | int(words[1])
