"""Level 1, property: each module alone.

For a module: its probes are asked on both sides, over a wide sweep, over generated inputs, and over all inputs where these
are few; single steps are taken from states near reachable ones, and the leaves that the module writes are compared; the
invariants that belong to it must hold, on the reference first. With the last module come the generic checks of
`harness.verify.levels.generic`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from harness.compare import Difference, compare_leaves
from harness.errors import Raised, Side
from harness.model import Array, Case, Leaves, Trajectory
from harness.task.contract import Module, TaskProbe
from harness.task.every_input import count_inputs, every_input
from harness.task.leaf_values import inputs_anywhere
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.levels import generic
from harness.verify.localise import compare_probe, localise, show_in_probe, shown_by_probe
from harness.verify.pair import Pair, step_case
from harness.verify.refusals import answered
from harness.verify.shrink import plainest
from harness.verify.strategies import Search, probe_inputs, simplest_failure, stacked_inputs

LEVEL = 1
ASKED = 64
"""Of a module that is verified alone so many differing steps are looked at one by one: whether a later module shows them."""
SWEEP = 10
"""The sweep asks each probe this many times as many inputs as Hypothesis does, all in one message."""


def checks(pair: Pair, module: str | None) -> Iterator[CheckResult]:
    """All checks of level 1, for one module or for all of them in dependency order."""
    yield from of_modules(pair, module)
    if module in (None, pair.task.modules[-1].name):
        yield from _invariants(pair, None)
        yield from generic.checks(pair)


def of_modules(pair: Pair, module: str | None) -> Iterator[CheckResult]:
    """What level 1 asks of modules: resets, probes, single steps, and their own invariants."""
    modules = pair.task.modules
    chosen = [m for m in modules if module in (None, m.name)]
    for number, current in enumerate(chosen):
        pair.progress(f"level 1: {current.name}", number, len(chosen))
        if pair.paired and module is not None and current is not modules[-1]:
            # One that is verified alone need not wait for what later ones make of a reset; the last answers for all of it.
            if current.leaves:
                yield _resets(pair, current, current.leaves)
        elif pair.paired and (module is not None or current is modules[0]):
            yield _resets(pair, current)
        for name in current.probes:
            yield from _probe(pair, current, pair.task.probes[name])
        # A module that has probes and claims no leaves is judged by its probes: what it contributes to a step shows in
        # the leaves of a later module.
        if pair.can_restore and pair.paired and (current.leaves or not current.probes):
            yield _steps(pair, current, () if module is None else modules[modules.index(current) + 1 :])
        yield from _invariants(pair, current.name)


def _probe(pair: Pair, module: Module, probe: TaskProbe) -> Iterator[CheckResult]:
    """A wide sweep, a search, and all inputs within the probe's bounds where they are few.

    The sweep and what the task's own generator makes may lie beyond the bounds; and a recorded verdict has both checks.
    """
    yield _sweep(pair, module, probe)
    yield _search(pair, module, probe)
    exhaustive = _every_input(pair, module, probe)
    if exhaustive is not None:
        yield exhaustive


def _every_input(pair: Pair, module: Module, probe: TaskProbe) -> CheckResult | None:
    """Each input within the bounds of a probe's leaves; None where these are too many, or the reference refuses some."""
    count = count_inputs(probe, pair.task.budgets.exhaustive)
    if count is None:
        return None
    check = f"probe {probe.name}, every input"
    try:
        for inputs in every_input(probe):
            difference = compare_probe(pair, probe.name, inputs)
            if difference is not None:
                failing = {name: array[difference.step : difference.step + 1] for name, array in inputs.items()}
                divergence = _probe_divergence(pair, module, probe, failing, check)
                return CheckResult(check, Outcome.FAIL, module.name, count, divergences=(divergence,))
    except Raised as refused:
        if refused.side is not Side.REFERENCE:
            raise
        return None
    return CheckResult(check, Outcome.PASS, module.name, count, f"all {count} possible inputs were asked")


def _sweep(pair: Pair, module: Module, probe: TaskProbe) -> CheckResult:
    """Many inputs at once, over the whole bounds and exactly on them."""
    check = f"probe {probe.name}, sweep"
    rng = pair.random(f"sweep/{probe.name}")
    count = SWEEP * _examples(pair, probe)
    inputs = inputs_anywhere(probe.inputs, rng, count)
    try:
        difference = compare_probe(pair, probe.name, inputs)
    except Raised as refused:
        if refused.side is not Side.REFERENCE:
            raise
        # The reference refuses some of these combinations; the search below, with the task's own generator, decides.
        return CheckResult(check, Outcome.SKIPPED, module.name, detail="the reference refuses some of these inputs")
    if difference is None:
        return CheckResult(check, Outcome.PASS, module.name, count)
    failing = {name: array[difference.step : difference.step + 1] for name, array in inputs.items()}
    divergence = _probe_divergence(pair, module, probe, failing, check)
    return CheckResult(check, Outcome.FAIL, module.name, count, divergences=(divergence,))


def _search(pair: Pair, module: Module, probe: TaskProbe) -> CheckResult:
    """Hypothesis looks for the simplest input on which both sides differ."""
    check = f"probe {probe.name}"
    own = probe.name in pair.suite.generators
    settings: Search = {
        "seed": pair.derive(f"search/{probe.name}"),
        "examples": _examples(pair, probe),
        "shrink": not pair.stop_at_failure,
    }

    def fails(inputs: Leaves) -> bool:
        return compare_probe(pair, probe.name, inputs) is not None

    if own:
        simplest, judged = pair.suite.search_inputs(probe, fails, **settings)
    else:
        plain = simplest_failure(probe_inputs(probe), lambda made: fails(stacked_inputs(probe, made)), **settings)
        simplest, judged = None if plain[0] is None else stacked_inputs(probe, plain[0]), plain[1]
    if simplest is None:
        return CheckResult(check, Outcome.PASS, module.name, judged)
    divergence = _probe_divergence(pair, module, probe, simplest, check)
    return CheckResult(check, Outcome.FAIL, module.name, judged, divergences=(divergence,))


def _examples(pair: Pair, probe: TaskProbe) -> int:
    return pair.task.budgets.examples if probe.examples is None else probe.examples


def _probe_divergence(pair: Pair, module: Module, probe: TaskProbe, inputs: Leaves, check: str) -> Divergence:
    """The divergence that one failing input shows, with plainer inputs where they fail too."""

    def fails(proposals: Any) -> list[bool]:
        stacked = {name: np.concatenate([proposal[name] for proposal in proposals]) for name in probe.inputs}
        try:
            expected, actual = (
                pair.reference.first.probe(probe.name, stacked),
                pair.candidate.probe(probe.name, stacked),
            )
        except Raised:
            return [False] * len(proposals)
        return [
            compare_leaves(_input(expected, i), _input(actual, i), pair.task.tolerances, f"probe/{probe.name}/")
            is not None
            for i in range(len(proposals))
        ]

    found = inputs
    inputs = found if pair.stop_at_failure else plainest(found, probe.inputs, fails)
    difference, grid = show_in_probe(pair, probe.name, inputs)
    if difference is None:
        # At the edge of a tolerance a batch may round to the other side: then what was found is not made plainer.
        inputs, (difference, grid) = found, show_in_probe(pair, probe.name, found)
    if difference is None:
        return Divergence(
            None, 0, f"probe/{probe.name}", "the same answer twice", "another answer the second time",
            "determinism", LEVEL, check, module=module.name, probe=probe.name, inputs=inputs,
            cause="the candidate answered these inputs differently when it was asked again",
        )  # fmt: skip
    return Divergence(
        case=None,
        step=0,
        path=difference.path,
        index=difference.index,
        expected=difference.expected,
        actual=difference.actual + (f" ({difference.gap})" if difference.gap else ""),
        rule=difference.rule,
        level=LEVEL,
        check=check,
        module=module.name,
        cause="the probe alone shows it",
        probe=probe.name,
        inputs=inputs,
        reproduced=True,
        grid=grid,
    )


def _input(leaves: Leaves, index: int) -> dict[str, Array]:
    return {path: array[index : index + 1] for path, array in leaves.items()}


def _resets(pair: Pair, module: Module, only: Collection[str] | None = None) -> CheckResult:
    """Resets from many seeds, all leaves or these: what an episode starts from comes before everything else."""
    check = "resets"
    cases = [Case(seed, pair.reference.first.no_actions()) for seed in pair.seeds("resets", pair.task.budgets.examples)]
    for expected, difference in pair.play(cases, only):
        if difference is not None:
            divergence = localise(pair, expected, difference, level=LEVEL, check=check, only=only)
            return CheckResult(check, Outcome.FAIL, module.name, len(cases), divergences=(divergence,))
    return CheckResult(check, Outcome.PASS, module.name, len(cases))


def _steps(pair: Pair, module: Module, later: Sequence[Module]) -> CheckResult:
    """One step from each of many states near reachable ones; the leaves that the module writes must agree.

    Args:
        later: modules whose turn comes: where the probe of one differs on a step's own inputs, the step is theirs.
    """
    check = "single steps"
    only = module.leaves or None
    stream, count = f"steps/{module.name}", pair.task.budgets.examples
    starts = pair.starts.near(stream, count)
    if pair.starts.rare:  # besides, so that what is common is looked at as often
        starts += pair.starts.near(f"{stream}/rare", count // 2, rare=1.0)
    cases = [
        step_case(state, action, seed, "level 1")
        for (state, action), seed in zip(starts, pair.seeds(stream, len(starts)), strict=True)
    ]
    has_invariants = any(owner == module.name for _, owner in pair.suite.invariants)
    played, refused = playable(pair, cases, only, with_episodes=has_invariants)
    if not played:
        return CheckResult(check, Outcome.SKIPPED, module.name, detail="the reference refuses every generated state")
    differing = [(expected, found) for expected, found in played if found is not None]
    theirs: Counter[str] = Counter()
    for expected, difference in differing[:ASKED]:
        owner = shown_by_probe(pair, later, expected, difference.step)
        if owner is None:
            divergence = localise(pair, expected, difference, level=LEVEL, check=check, only=only)
            return CheckResult(check, Outcome.FAIL, module.name, len(played), divergences=(divergence,))
        theirs[owner.name] += 1
    details = [f"{refused} generated states were refused by the reference"] if refused else []
    for name, count in theirs.items():
        shown = f"{count} of the first {ASKED}" if len(differing) > ASKED else str(count)
        details.append(f"{shown} steps that differ are shown by a probe of {name}, a later module, and belong to it")
    outcome = Outcome.PASS if len(differing) < len(played) else Outcome.SKIPPED
    return CheckResult(check, outcome, module.name, len(played) - len(differing), "; ".join(details))


def playable(
    pair: Pair,
    cases: list[Case],
    only: Collection[str] | None = None,
    *,
    with_episodes: bool = False,
    further: int = 0,
) -> tuple[list[tuple[Trajectory, Difference | None]], int]:
    """Play cases as `Pair.play` does; of one that the reference refuses, as an action is illegal, the first half, and so on.

    Returns:
        What was played, and how many cases have no beginning that it accepts.
    """
    play = partial(pair.play, only=only, with_episodes=with_episodes, further=further)
    played: list[tuple[Trajectory, Difference | None]] = []
    waiting = cases
    while waiting:
        answers = answered(play, waiting)
        played += [answer for answer in answers if answer is not None]
        refused = [case for case, answer in zip(waiting, answers, strict=True) if answer is None]
        waiting = [case.cut(case.length // 2) for case in refused if case.length > 1]
    return played, len(cases) - len(played)


def _invariants(pair: Pair, module: str | None) -> Iterator[CheckResult]:
    for number, (_, owner) in enumerate(pair.suite.invariants):
        if owner == module:
            yield holds(pair, number)


def holds(pair: Pair, number: int) -> CheckResult:
    """An invariant on episodes of the reference first, then on the candidate's answers to the same cases.

    Args:
        number: which one of the suite's invariants.
    """
    name, module = pair.suite.invariants[number]
    check, count = f"invariant: {name}", len(pair.few_episodes)
    said = pair.judged_reference[number]
    for trajectory, timestep in zip(pair.few_episodes, said.first, strict=False):
        if timestep >= 0:
            where = f"seed {trajectory.case.seed}, timestep {timestep}"
            detail = f"it does not hold on the reference itself ({where}): mend properties.py"
            return CheckResult(check, Outcome.ERROR, module, count, detail)
    if said.raised:
        detail = f"it raised {said.raised} on an episode of the reference: mend properties.py"
        return CheckResult(check, Outcome.ERROR, module, count, detail)
    if not pair.paired:
        return CheckResult(check, Outcome.PASS, module, count, "on the reference")
    said = pair.judged_candidate[number]
    for trajectory, timestep in zip(pair.followed_episodes, said.first, strict=False):
        if timestep >= 0:
            divergence = Divergence(
                trajectory.case.cut(timestep), timestep, f"invariant/{name}", "holds", "does not hold",
                f"invariant:{name}", LEVEL, check, module=module,
                cause="the reference keeps this invariant in the same case",
            )  # fmt: skip
            return CheckResult(check, Outcome.FAIL, module, count, divergences=(divergence,))
    if said.raised:
        detail = f"it raised {said.raised} on an episode of the candidate: mend properties.py"
        return CheckResult(check, Outcome.ERROR, module, count, detail)
    return CheckResult(check, Outcome.PASS, module, count)
