"""Level 3, rollout: whole episodes in lockstep, many at once, under every policy of the task.

While the reference's workers play the next episodes, the candidate follows the last ones and both are compared, so that the
level goes about as fast as the reference can step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from harness.environment import Environment
from harness.levels import autoreset
from harness.levels.laws import compare_outcomes, verdict
from harness.levels.localise import localise
from harness.levels.pair import Pair
from harness.model import Case, CheckResult, Divergence, Outcome, Trajectory

LEVEL = 3
CHUNK_SECONDS = 1.0
"""Batches of episodes grow until one takes about this long, so that progress shows and little is lost when one fails."""
MAX_CHUNK = 1024
OTHER_PROCESS_CASES = 8


@dataclass
class Tally:
    """What level 3 compared, beyond its checks' results."""

    episodes: int = 0
    steps: int = 0
    features: dict[str, int] = field(default_factory=dict)


def checks(pair: Pair, tally: Tally, another: Callable[[], Environment]) -> Iterator[CheckResult]:
    """All checks of level 3; `another` starts a second process of the same candidate."""
    tally.features.update({feature.name: 0 for feature in pair.suite.features})
    policies = pair.task.budgets.policies
    shares = np.diff(np.linspace(0, pair.task.budgets.episodes, len(policies) + 1).astype(int))
    kept: list[Case] = []
    if pair.paired:
        for policy, count in zip(policies, shares, strict=True):
            yield _episodes(pair, policy, int(count), tally, kept)
    else:
        yield _laws(pair, pair.task.budgets.episodes, tally)
    yield autoreset.check(pair)
    if pair.paired:
        yield _other_process(pair, kept, another)


def _episodes(pair: Pair, policy: str, count: int, tally: Tally, kept: list[Case]) -> CheckResult:
    name = f"episodes, {policy}"
    done = 0
    for expected in played_ahead(pair, policy, pair.seeds(f"episodes/{policy}", count)):
        differences = pair.differences(expected, pair.follow(expected))
        failing = [(found.step, number) for number, found in enumerate(differences) if found is not None]
        if failing:
            number = min(failing)[1]
            found = differences[number]
            assert found is not None
            divergence = localise(pair, expected[number], found, level=LEVEL, check=name)
            return CheckResult(name, Outcome.FAIL, examples=done + len(expected), divergences=(divergence,))
        if done == 0:
            kept.extend(pair.as_case(trajectory) for trajectory in expected[:OTHER_PROCESS_CASES])
        done += len(expected)
        tally.episodes += len(expected)
        tally.steps += sum(trajectory.steps for trajectory in expected)
        for feature in pair.suite.features:
            tally.features[feature.name] += sum(feature.count(trajectory) for trajectory in expected)
        pair.progress(f"level 3: {policy}", done, count)
    return CheckResult(name, Outcome.PASS, examples=done)


def played_ahead(pair: Pair, policy: str, seeds: Sequence[int]) -> Iterator[list[Trajectory]]:
    """The reference's episodes in batches; the next batch is played while the caller works on the last."""
    horizon, chunk, start = pair.task.budgets.horizon, 2 * len(pair.reference.environments), 0

    def play(part: Sequence[int]) -> tuple[list[Trajectory], float]:
        began = time.monotonic()
        return pair.reference.drive(policy, part, horizon), time.monotonic() - began

    with ThreadPoolExecutor(1, thread_name_prefix="lockstep-ahead") as ahead:
        waiting = ahead.submit(play, seeds[:chunk]) if seeds else None
        while waiting is not None:
            played, seconds = waiting.result()
            start += len(played)
            if seconds < CHUNK_SECONDS:
                chunk = min(MAX_CHUNK, 4 * chunk)
            part = seeds[start : start + chunk]
            waiting = ahead.submit(play, part) if part else None
            yield played


def _other_process(pair: Pair, cases: list[Case], another: Callable[[], Environment]) -> CheckResult:
    """A second process of the same candidate must answer the same cases with the same bytes."""
    name = "the same in another process"
    fresh = another()
    for case, one, other in zip(cases, pair.candidate.rollout(cases), fresh.rollout(cases), strict=True):
        if one.digest != other.digest:
            [found] = pair.differences([one], [other])
            divergence = Divergence(
                case, 0 if found is None else found.step, "trajectory" if found is None else found.path,
                "the same bytes" if found is None else found.expected,
                "other bytes" if found is None else found.actual, "determinism", LEVEL, name,
                cause="two processes of the same candidate answer the same case differently",
            )  # fmt: skip
            return CheckResult(name, Outcome.FAIL, examples=len(cases), divergences=(divergence,))
    return CheckResult(name, Outcome.PASS, examples=len(cases))


def _laws(pair: Pair, count: int, tally: Tally) -> CheckResult:
    """Where only laws are compared: episodes with the same actions on both sides, and their distributions."""
    name = "outcomes of episodes"
    cases = [
        [
            Case(seed, pair.random_case_actions(f"law/{number}", pair.task.budgets.horizon))
            for number, seed in enumerate(pair.seeds(f"law episodes/{side}", count))
        ]
        for side in range(2)
    ]
    expected, actual = pair.reference.rollout(cases[0]), pair.candidate.rollout(cases[1])
    tally.steps += sum(trajectory.steps for trajectory in expected)
    for feature in pair.suite.features:
        tally.features[feature.name] += sum(feature.count(trajectory) for trajectory in expected)
    passed, worst = verdict(compare_outcomes(expected, actual, pair.task.outputs, seed=pair.derive(name)))
    if passed:
        return CheckResult(name, Outcome.PASS, examples=2 * count, detail=f"smallest p {worst.p_value:.2g}")
    divergence = Divergence(
        None, 0, worst.name, worst.expected, worst.observed, "law", LEVEL, name,
        cause=f"{worst.statistic}, p = {worst.p_value:.2g} over {worst.n} episodes",
    )  # fmt: skip
    return CheckResult(name, Outcome.FAIL, examples=2 * count, divergences=(divergence,))
