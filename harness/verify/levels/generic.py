"""Checks that every candidate must pass, whatever its task: nothing here needs a word from the task's author.

Determinism (the same question twice, and from another place in another batch), one meaning for all execution paths
(`single`, `batched`, `scanned`), `encode` as the inverse of `decode`, and samplers that follow the law of the draws and
know nothing of the batch around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from harness.compare import Difference
from harness.model import Array, Case, Trajectory
from harness.task.contract import TaskDraw
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.leaf_grids import grid_of
from harness.verify.levels import alone
from harness.verify.levels.batch import MOMENTS, demand_arrays, drawn_shape, first_of_each, reference_draws
from harness.verify.levels.own_draws import (
    OwnTimesteps,
    all_taken,
    driven_timesteps,
    in_the_same_situations,
    own_timesteps,
)
from harness.verify.pair import Pair, step_case
from harness.verify.refusals import answered
from harness.verify.resynchronised import Play
from harness.verify.start_states import Start
from harness.verify.statistics.laws import LawResult, independence_of_draws, test_law, verdict

LEVEL = 1
PATH_CASES = 4
PATH_STEPS = 24
STEP_STATES = 64
"""In so many states samples are drawn: a draw can depend on what holds in few of them."""
RARE_SHARE = 0.5
STATE_NUMBER = "the start state"


def checks(pair: Pair) -> Iterator[CheckResult]:
    """All generic checks of level 1."""
    cases = _few_cases(pair)
    yield _determinism(pair, cases)
    yield _paths(pair, cases)
    yield from _of_states_and_chance(pair, own_timesteps)
    yield from alone.checks(pair, {moment: _share(pair, moment) for moment in MOMENTS})


def checks_one_by_one(pair: Pair) -> Iterator[CheckResult]:
    """Those of them that concern a candidate that is a reference itself: it has one way of running, and no batches."""
    yield _determinism(pair, _few_cases(pair))
    yield from _of_states_and_chance(pair, driven_timesteps)


def _few_cases(pair: Pair) -> list[Case]:
    return [
        pair.as_case(trajectory)
        for policy in pair.task.budgets.policies
        for trajectory in pair.reference.drive(policy, pair.seeds(f"paths/{policy}", PATH_CASES), PATH_STEPS)
    ]


def _of_states_and_chance(pair: Pair, own_timesteps: OwnTimesteps) -> Iterator[CheckResult]:
    if pair.can_restore:
        yield _round_trip(pair)
    for moment in MOMENTS:
        yield from _laws(pair, moment, own_timesteps)


def _determinism(pair: Pair, cases: list[Case]) -> CheckResult:
    """The same cases twice must give the same bytes; in reverse order, the same values."""
    check = "determinism"
    first, again = pair.candidate.rollout(cases), pair.candidate.rollout(cases)
    for one, other in zip(first, again, strict=True):
        if one.digest != other.digest:
            found = next(iter(pair.differences([one], [other])), None)
            return _failed(
                pair, check, "determinism", one, other, found, "the same case answered differently the second time"
            )
    turned = _played_again(pair, first, lambda asked: pair.candidate.rollout(asked[::-1])[::-1])
    for one, other, found in zip(first, turned, pair.differences(first, turned), strict=True):
        if found is not None:
            return _failed(
                pair, check, "determinism", one, other, found, "the answer depends on the place in the batch"
            )
    return CheckResult(check, Outcome.PASS, examples=3 * len(cases))


def _paths(pair: Pair, cases: list[Case]) -> CheckResult:
    """One instance alone, a batch stepped by hand and a batch in one scan must agree."""
    check = "single = batched = scanned"
    single = pair.candidate.rollout(cases, "single")
    for mode in ("batched", "scanned"):
        others = _played_again(pair, single, partial(pair.candidate.rollout, mode=mode))
        for one, other, found in zip(single, others, pair.differences(single, others), strict=True):
            if found is not None:
                return _failed(
                    pair, check, mode, one, other, found, f"`{mode}` differs from stepping one instance alone"
                )
    return CheckResult(check, Outcome.PASS, examples=3 * len(cases))


def _played_again(pair: Pair, first: Sequence[Trajectory], play: Play) -> list[Trajectory]:
    """What the candidate answers to the same cases in another way: step by step where that way may round otherwise."""
    return pair.led(play, first) if pair.resynchronised else play([one.case for one in first])


def _round_trip(pair: Pair) -> CheckResult:
    """`encode(decode(state))` must give the state back, bit by bit."""
    check = "encode inverts decode"
    states = pair.starts.near("round trip", pair.task.budgets.examples)
    cases = [step_case(state, action, 0, "round trip").cut(0) for state, action in states]
    for case, actual in zip(cases, pair.candidate.rollout(cases), strict=True):
        assert case.start is not None
        wanted = Trajectory(case, {path: value[None] for path, value in case.start.items()})
        given = Trajectory(case, {path: array[:1] for path, array in actual.leaves.items() if path in case.start})
        [found] = pair.differences([wanted], [given], only=frozenset(case.start))
        if found is not None:
            return _failed(
                pair, check, "round trip", wanted, given, found, "a state does not survive decode and encode"
            )
    return CheckResult(check, Outcome.PASS, examples=len(cases))


def _laws(pair: Pair, moment: str, own_timesteps: OwnTimesteps) -> Iterator[CheckResult]:
    """The candidate's own sampler at a reset or a step, draw by draw and then the draws side by side."""
    draws = [draw for draw in pair.task.draws.values() if draw.occurs_at(moment)]
    if not draws:
        return
    own = own_timesteps(pair, moment) if pair.task.candidate.kind == "rust" else None
    states = _states(pair) if own is None and moment == "step" else []
    samples = _samples(pair, draws, moment, states) if own is None else all_taken(own, draws)
    for draw in draws:
        check = f"law of {draw.name} at {moment}"
        wanted = None
        if draw.law is None and own is not None and moment == "step":
            wanted, samples[draw.name] = in_the_same_situations(pair, draw, own)
        elif draw.law is None:
            wanted = reference_draws(pair, draw, moment, firsts=own is None)
        if draw.law is None and wanted is None:
            yield CheckResult(check, Outcome.SKIPPED, detail="no law is stated and the reference reports no such draws")
        elif len(samples[draw.name]) < 2:
            made = "never made this draw" if not len(samples[draw.name]) else "made this draw only once"
            yield CheckResult(check, Outcome.SKIPPED, detail=f"the candidate {made} in its own episodes")
        else:
            # As many from each state, in their order.
            of = np.repeat(np.arange(len(states)), len(samples[draw.name]) // max(1, len(states)))
            situations = {STATE_NUMBER: of} if len(states) > 1 else None
            seed, alike = pair.derive(check), None if situations is None else of
            if own is not None and moment == "step":
                alike = np.arange(len(samples[draw.name]))  # each was drawn in a situation of its own
            results = test_law(samples[draw.name], draw, wanted, situations=situations, alike=alike, seed=seed)
            yield _law_verdict(pair, check, draw.name, results, len(samples[draw.name]))
    stated = [draw for draw in draws if draw.law is not None]  # others may depend on each other, as in the reference
    if len(stated) > 1:
        check = f"independence of draws at {moment}"
        if own is None:
            # Draws of one call are compared by their first slots.
            firsts = {d.name: _first_slots(samples[d.name], d) for d in stated}
            results = independence_of_draws(stated, firsts, seed=pair.derive(check))
        else:
            results = independence_of_draws(stated, *first_of_each(own, stated), seed=pair.derive(check))
        if results:
            names, examples = ", ".join(draw.name for draw in stated), max(result.n for result in results)
            yield _law_verdict(pair, check, names, results, examples)
        else:
            yield CheckResult(check, Outcome.SKIPPED, detail="the candidate tells of no draws in its own episodes")


def _law_verdict(pair: Pair, check: str, name: str, results: list[LawResult], examples: int) -> CheckResult:
    passed, worst = verdict(results)
    if passed:
        return CheckResult(check, Outcome.PASS, examples=examples, detail=f"smallest p {worst.p_value:.2g}")
    divergence = Divergence(
        None, 0, f"draw/{name}", worst.expected, f"{worst.observed} ({worst.statistic})", "law", LEVEL, check,
        module=next((module.name for module in pair.task.modules if module.name == name), None),
        cause=f"{worst.name}: over {worst.n} draws of the candidate's own sampler this has p = {worst.p_value:.2g}",
    )  # fmt: skip
    return CheckResult(check, Outcome.FAIL, examples=examples, divergences=(divergence,))


def _states(pair: Pair) -> list[Start]:
    """States in which steps draw: reached ones, rare ones, and moved ones that the reference takes."""
    if not pair.can_restore:
        reached = pair.starts.reached
        return [reached[pick] for pick in pair.random("law states").integers(0, len(reached), STEP_STATES)]
    states = pair.starts.near("law states", STEP_STATES, rare=RARE_SHARE)
    seeds = pair.seeds("law states", len(states))
    cases = [step_case(state, action, seed, "law") for (state, action), seed in zip(states, seeds, strict=True)]
    taken = answered(pair.reference.rollout, cases)
    return [start for start, played in zip(states, taken, strict=True) if played is not None]


def _samples(pair: Pair, draws: Sequence[TaskDraw], moment: str, states: Sequence[Start]) -> dict[str, Array]:
    """Draws of the candidate's sampler by name, each `[count, *draw shape]`, slots of a capacity one after the other; of a
    draw whose law is not stated the first slots alone.

    At a step there are as many of each state, in the order of the states.
    """
    seed = pair.derive(f"law/{moment}") % (1 << 31)
    share = _share(pair, moment)
    if moment == "reset":
        asked: list[dict[str, Any]] = [{"at": "reset", "seed": seed, "count": share}]
    else:
        asked = [
            {"at": "step", "seed": seed + number, "count": share, "state": dict(state), "action": action}
            for number, (state, action) in enumerate(states)
        ]
    shapes = {draw.name: drawn_shape(draw) for draw in draws}
    answers = []
    for arguments in asked:
        answer = {"samples": pair.candidate.ask("sample", **arguments)}
        answers.append(demand_arrays(answer, "samples", (arguments["count"],), shapes, "the candidate, call `sample`"))
    slots = {
        draw.name: np.concatenate([np.asarray(answer[draw.name]) for answer in answers]).reshape(-1, *draw.shape)
        for draw in draws
    }
    # Whether a later slot is used, and what its law is then, the step decides; a law that is stated is that of all.
    return {
        draw.name: slots[draw.name] if draw.law is not None else _first_slots(slots[draw.name], draw) for draw in draws
    }


def _first_slots(samples: Array, draw: TaskDraw) -> Array:
    """Of samples whose slots lie one after the other the first slots."""
    return samples.reshape(-1, draw.capacity, *draw.shape)[:, 0]


def _share(pair: Pair, moment: str) -> int:
    """How many samples are asked for at once: of each of some states, where steps draw."""
    return pair.task.budgets.samples if moment == "reset" else max(1, pair.task.budgets.samples // STEP_STATES)


def _failed(
    pair: Pair, check: str, rule: str, one: Trajectory, other: Trajectory, found: Difference | None, cause: str
) -> CheckResult:
    case = one.case
    step = 0 if found is None else found.step
    divergence = Divergence(
        case.cut(max(step, 0)) if case.length else case,
        step,
        "trajectory" if found is None else found.path,
        "the same bytes" if found is None else found.expected,
        "other bytes" if found is None else found.actual + (f" ({found.gap})" if found.gap else ""),
        rule,
        LEVEL,
        check,
        index=() if found is None else found.index,
        cause=cause,
        grid=None if found is None else grid_of(one.leaves, other.leaves, found, pair.task.tolerances),
    )
    return CheckResult(check, Outcome.FAIL, examples=1, divergences=(divergence,))
