"""Level 1, whether chance depends on the batch around it: a key alone, in a small batch, and in a large one of an odd size.

Laws are tested in batches, where a sampler may know how many it samples, and for which place. Whoever steps one instance, or
a batch of another size, must get the very same draws from the same key: bit for bit, but for the last places of floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from harness.model import Array, Case
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.levels.batch import MOMENTS, demand_arrays, drawn_shape
from harness.verify.pair import Pair

LEVEL = 1
NAME = "sampler alone = in a batch"
LEAST, MOST = 1025, 8191
"""The odd size of the large batch lies between these."""
PLACES = 3
"""Stretches of the large batch whose keys are sampled again, alone and in a small batch: its begin, its end, one between."""
ALONE = 4
ROUNDING = 16
"""Floats may differ by so many units of the greatest: XLA rounds some loops, as of `jax.random.gamma`, otherwise alone."""
SMALL = (2, 9)
OWN_CASES, OWN_STEPS = (129, 511), 8
"""Episodes, and steps in each, of a candidate whose laws stand at the places of the draws."""


def checks(pair: Pair, usual: Mapping[str, int]) -> Iterator[CheckResult]:
    """The check, where anything is drawn.

    Args:
        usual: how many samples its laws are tested with, by moment: the size of batch that no other check should miss.
    """
    moments = [moment for moment in MOMENTS if any(draw.occurs_at(moment) for draw in pair.task.draws.values())]
    if moments:
        yield _own_episodes(pair) if pair.task.candidate.kind == "rust" else _samplers(pair, moments, usual)


def _samplers(pair: Pair, moments: list[str], usual: Mapping[str, int]) -> CheckResult:
    """The candidate's samplers, asked for the same keys in batches of several sizes."""
    examples = 0
    for moment in moments:
        rng = pair.random(f"{NAME}/{moment}")
        large = int(rng.integers(LEAST, MOST)) | 1
        small = int(rng.integers(*SMALL))
        starts = [0, large - max(small, ALONE), int(rng.integers(1, large - max(small, ALONE)))]
        asked: dict[str, Any] = {"at": moment, "seed": pair.derive(f"{NAME}/{moment}/keys") % (1 << 31)}
        if moment == "step":
            state, action = pair.starts.reached[int(rng.integers(len(pair.starts.reached)))]
            asked |= {"state": dict(state), "action": action}
        in_large = _sampled(pair, asked, moment, large, width=large)
        others = [("in a batch of a usual size", 0, _sampled(pair, asked, moment, usual[moment]))]
        for start in starts:
            others += [
                ("alone", start, _sampled(pair, asked, moment, ALONE, first=start, width=0)),
                (f"in a batch of {small}", start, _sampled(pair, asked, moment, small, first=start, width=small)),
            ]
        for how, start, samples in others:
            examples += len(next(iter(samples.values())))
            for name, other in samples.items():
                one = in_large[name][start : start + len(other)]
                found = _first_difference(one, other[: len(one)])
                if found is not None:
                    return _failed(
                        name, f"{_short(one[found])}, in a batch of {large}", f"{_short(other[found])}, {how}", examples,
                        f"for one key, at a {moment}, the sampler's answer depends on the batch: sample {start + found}",
                    )  # fmt: skip
    return CheckResult(NAME, Outcome.PASS, examples=examples)


def _sampled(pair: Pair, asked: Mapping[str, Any], moment: str, count: int, **how: int) -> dict[str, Array]:
    shapes = {draw.name: drawn_shape(draw) for draw in pair.task.draws.values() if draw.occurs_at(moment)}
    answer = {"samples": pair.candidate.ask("sample", **asked, count=count, **how)}
    return demand_arrays(answer, "samples", (count,), shapes, "the candidate, call `sample`")


def _own_episodes(pair: Pair) -> CheckResult:
    """Where nobody can ask for samples: short episodes with the chance of their seeds, one by one and together."""
    rng = pair.random(NAME)
    count = int(rng.integers(*OWN_CASES)) | 1
    steps = min(OWN_STEPS, pair.task.budgets.horizon)
    flat = pair.random_case_actions(NAME, count * steps)
    cases = [
        Case(seed, {path: array[number * steps : (number + 1) * steps] for path, array in flat.items()}, origin=NAME)
        for number, seed in enumerate(pair.seeds(f"{NAME}/seeds", count))
    ]
    places = sorted({0, count - 1, *rng.integers(0, count, PLACES * ALONE).tolist()})
    alone = pair.candidate.rollout([cases[place] for place in places], "single")
    examples = len(places)
    for mode, size in (("batched", count), ("scanned", count), ("batched", int(rng.integers(*SMALL)))):
        together = pair.candidate.rollout(cases[:size], mode)
        examples += len(together)
        for place, one in zip(places, alone, strict=True):
            if place < size and one.digest != together[place].digest:
                return _failed(
                    "*", "the same episode", "another one", examples,
                    f"from one seed, an episode with chance of its own is another one alone than in a batch of {size} "
                    f"({mode}), in place {place}",
                )  # fmt: skip
    return CheckResult(NAME, Outcome.PASS, examples=examples)


def _first_difference(one: Array, other: Array) -> int | None:
    """The first row in which two arrays differ, by more than rounding for floats; None where there is none."""
    if one.dtype != other.dtype:
        return 0
    if one.dtype.kind == "f":
        greatest = max(float(np.max(np.abs(side), initial=0.0, where=np.isfinite(side))) for side in (one, other))
        same = np.isclose(one, other, rtol=0.0, atol=ROUNDING * np.finfo(one.dtype).eps * greatest, equal_nan=True)
    else:
        same = one == other
    different = np.flatnonzero(~same.reshape(len(one), -1).all(axis=1))
    return int(different[0]) if len(different) else None


def _failed(draw: str, expected: str, actual: str, examples: int, cause: str) -> CheckResult:
    divergence = Divergence(None, 0, f"draw/{draw}", expected, actual, "batched", LEVEL, NAME, cause=cause)
    return CheckResult(NAME, Outcome.FAIL, examples=examples, divergences=(divergence,))


def _short(value: Array) -> str:
    return np.array2string(np.asarray(value), threshold=8, separator=", ")
