"""From a difference to its cause: first step and leaf, rule or hidden state, shortest case, module.

The reference's state just before the differing step is restored on both sides and the step is taken again. If the
difference recurs, the rule of that step is wrong. If it does not, something that the canonical state does not show went
wrong earlier, and the shortest sequence of actions that leads there is searched instead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from harness.compare import Difference, compare_floats, compare_leaves
from harness.course import MIN_STEPS, Course, course
from harness.errors import Raised
from harness.grids import Grid
from harness.model import STATE, Array, Case, Leaves, Trajectory
from harness.task.contract import Mode, Module, TaskProbe
from harness.verdict import Divergence
from harness.verify.leaf_grids import grid_of
from harness.verify.pair import Pair, step_case
from harness.verify.rounding.told import said_of_rounding
from harness.verify.shrink import plainest, shortest
from harness.verify.sighting import Sighting


def localise(
    pair: Pair,
    expected: Trajectory,
    difference: Difference,
    *,
    level: int,
    check: str,
    only: Collection[str] | None = None,
) -> Divergence:
    """Explain the first difference between the reference's `expected` trajectory and the candidate's.

    Args:
        only: the leaves that were compared, or None for all.
    """
    if pair.stop_at_failure:
        return Sighting(difference, expected.case.cut(difference.step)).divergence(level, check)
    case, step, cause, reproduced = expected.case.cut(difference.step), difference.step, "", None
    way = _course(pair, case, difference)
    if step > 0:
        again = _restep(pair, expected, step, only)
        if again is not None:
            case, reproduced = again, True
            cause = "restored to the reference's state just before, one step shows it again"
            cause += said_of_rounding(pair, difference) or ": the rule of this step is wrong"
        else:
            case = shortest(case, partial(which_differ, pair, only=only, path=difference.path))
            if pair.can_restore:
                reproduced = False
                cause = (
                    "restoring the reference's state just before and stepping once agrees: a difference that the "
                    "canonical state does not show arose earlier"
                )
            else:
                cause = "the reference cannot restore a state, so the prefix was replayed"
    else:
        cause = "the reset itself differs"
    final = _play_one(pair, case, only)
    if final is not None:
        expected, difference = final
        step = difference.step
    else:
        cause += (
            "; it did not recur when the shortened case was played once more, so the candidate is not deterministic"
        )
    one, other = _both(pair, case)
    also = _also_differing(pair, one, other, step, difference.path, only)
    if also:
        cause += f"; in the same timestep differ also {', '.join(also)}"
    return Divergence(
        case=replace(case, origin=f"{check} (level {level})", name=f"{check}: {difference.path} at step {step}"),
        step=step,
        path=difference.path,
        index=difference.index,
        expected=difference.expected,
        actual=difference.actual + (f" ({difference.gap})" if difference.gap else ""),
        rule=difference.rule,
        level=level,
        check=check,
        module=_module(pair, expected, step, (difference.path, *also)),
        cause=cause,
        reproduced=reproduced,
        grid=grid_of(one.leaves, other.leaves, difference, pair.task.tolerances),
        course=way,
    )


def _course(pair: Pair, case: Case, difference: Difference) -> Course | None:
    """The way of the value that differs, in the episode that showed it, before that is made shorter."""
    if difference.rule != "value" or difference.step + 1 < MIN_STEPS:
        return None
    one, other = _both(pair, case)
    return course(one.leaves, other.leaves, difference.path, difference.index, difference.step)


def _restep(pair: Pair, expected: Trajectory, step: int, only: Collection[str] | None) -> Case | None:
    """A one-step case that shows the difference from the restored state, as plain as it can be made; or None."""
    if not pair.can_restore:
        return None
    action = {path: array[step - 1] for path, array in expected.case.actions.items()}
    case = step_case(expected.state(step - 1), action, expected.case.seed, "shrunk")
    if pair.task.mode is Mode.TAPE and "force_draws" in pair.reference.spec.capabilities and expected.draws:
        case = replace(case, draws=((), expected.draws[step]))
    if _play_one(pair, case, only) is None:
        return None
    assert case.start is not None

    def fails(starts: Sequence[Leaves]) -> list[bool]:
        return which_differ(pair, [replace(case, start=start) for start in starts], only=only)

    return replace(case, start=plainest(case.start, pair.task.state, fails))


def which_differ(
    pair: Pair, cases: Sequence[Case], *, only: Collection[str] | None, path: str | None = None
) -> list[bool]:
    """Which cases differ, first of all in the leaf `path` if one is given; one that a side refuses to play does not."""
    try:
        played = pair.play(cases, only)
    except Raised:
        if len(cases) == 1:
            return [False]
        middle = len(cases) // 2
        halves = (cases[:middle], cases[middle:])
        return [differs for half in halves for differs in which_differ(pair, half, only=only, path=path)]
    return [found is not None and path in (None, found.path) for _, found in played]


def _play_one(pair: Pair, case: Case, only: Collection[str] | None) -> tuple[Trajectory, Difference] | None:
    [(expected, difference)] = pair.play([case], only)
    return None if difference is None else (expected, difference)


def _both(pair: Pair, case: Case) -> tuple[Trajectory, Trajectory]:
    [expected] = pair.reference.rollout([case])
    [actual] = pair.follow([expected])
    return expected, actual


def _also_differing(
    pair: Pair, expected: Trajectory, actual: Trajectory, step: int, path: str, only: Collection[str] | None
) -> list[str]:
    """The other leaves that differ in the same timestep."""
    if step >= min(expected.timesteps, actual.timesteps):
        return []
    differing = []
    for leaf in pair.task.outputs:
        if leaf == path or leaf not in expected.leaves or leaf not in actual.leaves or (only and leaf not in only):
            continue
        one, other = ({leaf: side.leaves[leaf][step : step + 1]} for side in (expected, actual))
        if compare_leaves(one, other, pair.task.tolerances) is not None:
            differing.append(leaf)
    return differing


def _module(pair: Pair, expected: Trajectory, step: int, paths: Sequence[str]) -> str | None:
    """The first module one of whose probes shows the difference; else the one that says it writes the first of the leaves
    that differ. A draw is no leaf of a module: what was drawn in vain, or not at all, shows in what it decides.
    """
    written = (module for path in paths if (module := pair.task.module_of(path)) is not None)
    found = shown_by_probe(pair, pair.task.modules, expected, step) or next(written, None)
    return None if found is None else found.name


def shown_by_probe(pair: Pair, modules: Sequence[Module], expected: Trajectory, step: int) -> Module | None:
    """The first of these modules of which a probe differs on what a timestep, or the one before it, gives as its inputs."""
    timesteps = [step - 1, step] if step > 0 else [step]
    for module in modules:
        for name in module.probes:
            probe = pair.task.probes[name]
            for timestep in timesteps:
                inputs = probe_inputs_at(probe, expected, timestep)
                if inputs is not None and probe_differs(pair, probe, inputs):
                    return module
    return None


def probe_inputs_at(probe: TaskProbe, trajectory: Trajectory, timestep: int) -> dict[str, Array] | None:
    """Inputs of a probe taken from a timestep of a trajectory, stacked to one timestep; None where a name is not found
    there.
    """
    inputs = {}
    for name in probe.inputs:
        if f"{STATE}{name}" in trajectory.leaves:
            inputs[name] = trajectory.leaves[f"{STATE}{name}"][timestep : timestep + 1]
        elif name in trajectory.case.actions and timestep < trajectory.case.length:
            inputs[name] = trajectory.case.actions[name][timestep : timestep + 1]
        else:
            return None
    return inputs


def probe_differs(pair: Pair, probe: TaskProbe, inputs: Leaves) -> bool:
    """Whether both sides answer one input differently; a probe that refuses these inputs shows nothing."""
    try:
        return compare_probe(pair, probe.name, inputs) is not None
    except Raised:
        return False


def compare_probe(pair: Pair, name: str, inputs: Leaves) -> Difference | None:
    """The first difference between both sides' answers to stacked inputs of a probe."""
    return show_in_probe(pair, name, inputs)[0]


def show_in_probe(pair: Pair, name: str, inputs: Leaves) -> tuple[Difference | None, Grid | None]:
    """`compare_probe`, with the grid of the leaf that differs."""
    inputs = {
        path: np.asarray(array, dtype=pair.task.probes[name].inputs[path].dtype) for path, array in inputs.items()
    }
    expected = pair.reference.first.probe(name, inputs)
    pair.witness_probe(name, expected)
    actual = pair.candidate.probe(name, inputs)
    prefix = f"probe/{name}/"
    found = compare_leaves(expected, actual, pair.task.tolerances, prefix)
    for path, array in expected.items():
        compare_floats(prefix + path, array, actual.get(path), pair.off.add)
    if found is not None and pair.seen is None:
        differing = {path: array[found.step : found.step + 1] for path, array in inputs.items()}
        pair.seen = Sighting(found, probe=name, inputs=differing)
    return found, None if found is None else grid_of(expected, actual, found, pair.task.tolerances, prefix)
