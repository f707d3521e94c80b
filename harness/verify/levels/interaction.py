"""Level 2, interaction: short sequences across modules, compared leaf by leaf after each step.

Sequences begin at a reset, at a state that episodes reach, or where the task's `interactions.py` says. Hypothesis makes
them one after the other and shrinks what fails to the shortest; many more are then played at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import hypothesis.strategies as st

from harness.model import Case
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify import strategies
from harness.verify.levels import boundaries, draw_limits
from harness.verify.levels.by_itself import strayed
from harness.verify.levels.property import playable
from harness.verify.localise import localise
from harness.verify.pair import Pair
from harness.verify.statistics.laws import compare_outcomes, verdict

LEVEL = 2
SWEEP = 8
"""The sweep plays this many times as many sequences as Hypothesis does, in batches."""
NAMED_SWEEP, NAMED_STEPS = 2, 1
"""Of each kind that the task names so many times as many more; of all kinds so many times the steps of the sweep at most."""
MOST_BYTES = 1 << 30
"""The sweep's batches are smaller where timesteps are so large that both sides' answers could be more than this."""
RARE_SHARE = 0.5
"""So many of the states from which sequences begin are rare ones."""
LAW_REPEATS = 200


def checks(pair: Pair) -> Iterator[CheckResult]:
    """All checks of level 2."""
    if not pair.paired:
        yield _laws(pair)
        return
    for number, name in enumerate(pair.suite.sequences):
        pair.progress(f"level 2: {name}", number, len(pair.suite.sequences) + 2)
        found = _search(pair, name, partial(pair.suite.search_cases, name))
        yield _many_more(pair, name, found) if found.outcome is Outcome.PASS else found
    pair.progress("level 2: sequences", len(pair.suite.sequences), len(pair.suite.sequences) + 2)
    yield _sweep(pair)
    yield _search(pair, "sequences", partial(strategies.simplest_failure, _anywhere(pair)))
    if boundaries.possible(pair):
        yield boundaries.check(pair)
    if draw_limits.possible(pair):
        yield draw_limits.check(pair)


def _anywhere(pair: Pair) -> st.SearchStrategy[Case]:
    """Sequences of any actions from a reset, or from a state near reachable ones."""
    length = pair.task.budgets.sequence_length
    starts: list[Any] = [None]
    if pair.can_restore:
        near = pair.starts.near("sequences", pair.task.budgets.sequences, rare=RARE_SHARE)
        starts += [state for state, _ in near]
    return st.builds(
        lambda seed, start, actions: Case(seed, actions, start, origin="level 2"),
        st.integers(0, (1 << 31) - 1),
        st.sampled_from(starts),
        strategies.actions(pair.task, length),
    )


def _search(pair: Pair, name: str, search: Callable[..., tuple[Case | None, int]]) -> CheckResult:
    """What a search over cases finds; it is called with the judgement, and with the settings of one search."""

    def fails(case: Case) -> bool:
        played, _ = playable(pair, [case])
        return any(difference is not None for _, difference in played)

    simplest, judged = search(
        fails,
        seed=pair.derive(f"level 2/{name}"),
        examples=pair.task.budgets.sequences,
        shrink=not pair.stop_at_failure,
    )
    if simplest is None:
        return CheckResult(name, Outcome.PASS, examples=judged)
    [(expected, difference)], _ = playable(pair, [simplest])
    if difference is None:
        divergence = Divergence(
            simplest, 0, "trajectory", "the same answer twice", "another answer the second time", "determinism", LEVEL,
            name, cause="the candidate answered this sequence differently when it was played again",
        )  # fmt: skip
    else:
        divergence = localise(pair, expected, difference, level=LEVEL, check=name)
    return CheckResult(name, Outcome.FAIL, examples=judged, divergences=(divergence,))


def _many_more(pair: Pair, name: str, found: CheckResult) -> CheckResult:
    """More sequences of one kind, in batches: what shows in one of a hundred is then met by more than luck."""
    budgets = pair.task.budgets
    examples, cases, steps = NAMED_SWEEP * budgets.sequences, list[Case](), 0
    most = NAMED_STEPS * SWEEP * budgets.sequences * budgets.sequence_length // len(pair.suite.sequences)

    def keep(case: Case) -> bool:
        nonlocal steps
        steps += case.length
        if steps <= most:
            cases.append(case)
        return False

    pair.suite.search_cases(name, keep, seed=pair.derive(f"level 2/{name}, sweep"), examples=examples, shrink=False)
    swept = _judged(pair, name, cases, max((case.length for case in cases), default=0))
    return replace(swept, examples=found.examples + swept.examples)


def _sweep(pair: Pair) -> CheckResult:
    """Many random sequences at once: breadth that one search after the other would not have."""
    name = "sequences, sweep"
    count, length = SWEEP * pair.task.budgets.sequences, pair.task.budgets.sequence_length
    starts = (
        [state for state, _ in pair.starts.near("sweep", count, rare=RARE_SHARE)]
        if pair.can_restore
        else [None] * count
    )
    further = length if pair.finds_legal_actions else 0
    cases = [
        Case(
            seed,
            pair.random_case_actions(f"sweep/{number}", length - further),
            start if number % 4 else None,
            origin="level 2",
        )
        for number, (seed, start) in enumerate(zip(pair.seeds("sweep", count), starts, strict=True))
    ]
    return _judged(pair, name, cases, length, further=further)


def _judged(pair: Pair, name: str, cases: list[Case], length: int, *, further: int = 0) -> CheckResult:
    """What comes of cases that are played in batches."""
    together = max(1, MOST_BYTES // (2 * (length + 1) * pair.task.timestep_bytes))
    judged, refused = 0, 0
    for start in range(0, len(cases), together):
        played, unplayed = playable(pair, cases[start : start + together], further=further)
        judged, refused = judged + len(played), refused + unplayed
        failing = [(difference.step, n) for n, (_, difference) in enumerate(played) if difference is not None]
        if failing:
            expected, difference = played[min(failing)[1]]
            assert difference is not None
            divergence = localise(pair, expected, difference, level=LEVEL, check=name)
            return CheckResult(name, Outcome.FAIL, examples=judged, divergences=(divergence,))
        if pair.resynchronised and (stray := strayed(pair, [one for one, _ in played], LEVEL, name)) is not None:
            return CheckResult(name, Outcome.FAIL, examples=judged, divergences=(stray,))
    detail = f"{refused} sequences were refused by the reference" if refused else ""
    return CheckResult(name, Outcome.PASS, examples=judged, detail=detail)


def _laws(pair: Pair) -> CheckResult:
    """Where only laws are compared: one sequence of actions many times on both sides, and what comes of it."""
    name = "outcomes of sequences"
    actions = pair.random_case_actions("law sequence", pair.task.budgets.sequence_length)
    sides = [
        side.rollout([Case(seed, actions) for seed in pair.seeds(f"law sequence/{number}", LAW_REPEATS)])
        for number, side in enumerate((pair.reference, pair.candidate))
    ]
    passed, worst = verdict(compare_outcomes(sides[0], sides[1], pair.task.outputs, seed=pair.derive(name)))
    if passed:
        return CheckResult(name, Outcome.PASS, examples=2 * LAW_REPEATS, detail=f"smallest p {worst.p_value:.2g}")
    divergence = Divergence(
        Case(pair.seed, actions), 0, worst.name, worst.expected, worst.observed, "law", LEVEL, name,
        cause=f"{worst.statistic}, p = {worst.p_value:.2g} over {worst.n} episodes",
    )  # fmt: skip
    return CheckResult(name, Outcome.FAIL, examples=2 * LAW_REPEATS, divergences=(divergence,))
