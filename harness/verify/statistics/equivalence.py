"""Whether two mean returns are equal up to a margin: the statistics of level 4, as pure functions of arrays.

Training seeds are what varies, and there are few of them, so one number for each seed is compared and nothing finer. "No
significant difference" is never a pass: the whole confidence interval of the difference must lie within the margin (two
one-sided tests). Seeds come in looks; the chance of error is spent over the looks, so that stopping early costs nothing.

The t interval alone is not safe here. Returns are skewed, and a few seeds of a skewed law rarely show its tail: a policy
that fails once in ten trainings looks perfect in six. So each sample gets two seeds that nobody saw, one on each side of its
mean, farther off than what was seen (`UNSEEN_MARGINS`, `UNSEEN_REACH`). docs/decisions/0011-equivalence.md has the reasons,
and `python -m benchmarks transfer_errors` the error rates. Samples lie along the *last* axis; the axes before it are kept.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from harness.model import Array

ALPHA = 0.025
"""Chance spent on each side over all looks. What is left up to 5% is for laws more skewed than the interval corrects for."""
POWER = 0.8
"""The chance of a decision that `seeds_to_decide` plans for."""
UNSEEN_MARGINS = 3.0
"""The unseen seeds lie at least so many margins from the mean."""
UNSEEN_REACH = 1.75
"""And at least so many times as far from it as the farthest seed that was seen."""
MOST_SEEDS = 10_000
RESAMPLES = 2000
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)
_FARTHEST = 12.0


class Decision(enum.StrEnum):
    """What an interval says of a margin."""

    EQUIVALENT = "equivalent"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


class Interval(NamedTuple):
    """A difference of means `[...]` and its confidence interval, `difference - half_width` to `difference + half_width`.

    `error` is the standard error, unseen seeds included.
    """

    difference: Array
    half_width: Array
    error: Array

    @property
    def low(self) -> Array:
        """Lower end."""
        return self.difference - self.half_width

    @property
    def high(self) -> Array:
        """Upper end."""
        return self.difference + self.half_width


class Range(NamedTuple):
    """The ends of an interval that was found by resampling."""

    low: float
    high: float


def levels(looks: Sequence[int], alpha: float = ALPHA) -> tuple[float, ...]:
    """The one-sided level of each look, such that all looks together err with the chance `alpha`.

    Lan and DeMets (1983, Biometrika 70) with the spending function of O'Brien and Fleming's kind: little is spent early, so
    that the last look has nearly all of `alpha`. The chance of crossing at a look is that of a Brownian motion, observed at
    `looks / looks[-1]`; it is found by integrating the density of those that have not crossed before.

    Args:
        looks: how many seeds there are at each look, ascending.
    """
    times = np.asarray(looks, dtype=np.float64) / looks[-1]
    spent = 2.0 * special.ndtr(special.ndtri(alpha / 2.0) / np.sqrt(times))
    steps = np.diff(times, prepend=0.0)
    positions, masses = np.zeros(1), np.ones(1)
    found = []
    for time, step, spend in zip(times, steps, np.diff(spent, prepend=0.0), strict=True):
        bound = _crossed_with(spend, positions, masses, math.sqrt(step))
        found.append(float(special.ndtr(-bound / math.sqrt(time))))
        nodes = -_FARTHEST + (_NODES + 1.0) * (bound + _FARTHEST) / 2.0
        density = np.exp(-0.5 * (nodes[:, None] - positions) ** 2 / step) @ masses / math.sqrt(2.0 * math.pi * step)
        positions, masses = nodes, _WEIGHTS * (bound + _FARTHEST) / 2.0 * density
    return tuple(found)


def _crossed_with(chance: float, positions: Array, masses: Array, deviation: float) -> float:
    """The bound above which a motion that is at `positions` with `masses` is found with this chance, one step later."""
    low, high = -_FARTHEST, 2.0 * _FARTHEST
    for _ in range(100):
        middle = (low + high) / 2.0
        if masses @ special.ndtr((positions - middle) / deviation) > chance:
            low = middle
        else:
            high = middle
    return low


def of_pairs(differences: Array, margin: float, level: float) -> Interval:
    """The interval of the mean of `differences [..., N]`, one for each pair: a policy played in both backends, or a seed
    trained in both.

    Args:
        level: the chance of error on each side, from `levels`.
    """
    mean = differences.mean(axis=-1)
    error = np.sqrt(_squared_error(differences, UNSEEN_MARGINS * margin))
    return Interval(mean, _quantile(differences.shape[-1], level) * error, error)


def _squared_error(sample: Array, at_least: float) -> Array:
    """Squared standard error of the mean of a sample, with one unseen seed on each side of it."""
    n = sample.shape[-1]
    deviations = sample - sample.mean(axis=-1, keepdims=True)
    unseen = np.maximum(at_least, UNSEEN_REACH * np.abs(deviations).max(axis=-1))
    return ((deviations**2).sum(axis=-1) + 2.0 * unseen**2) / ((n + 1) * n)


def _quantile(n: int, level: float) -> float:
    return float(-special.stdtrit(n - 1, level))


def decide(interval: Interval, margin: float) -> Decision:
    """What one interval says: it lies within the margin, wholly beyond it, or neither."""
    if interval.low > -margin and interval.high < margin:
        return Decision.EQUIVALENT
    if interval.low > margin or interval.high < -margin:
        return Decision.DIFFERENT
    return Decision.UNDECIDED


def seeds_to_decide(interval: Interval, n: int, margin: float, power: float = POWER) -> int | None:
    """How many seeds would decide with the chance `power`, if difference and spread stay as they were seen with `n`.

    None where the difference lies so near to the margin that not even 10,000 would.
    """
    room = abs(margin - abs(float(interval.difference)))
    spread = float(interval.error) * math.sqrt(n)
    chance = float(special.ndtri(power))

    def decides(count: int) -> bool:
        return (_quantile(count, ALPHA) + chance) * spread / math.sqrt(count) < room

    if not decides(MOST_SEEDS):
        return None
    low, high = n, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def noise_floor(returns: Array, seeds: int, margin: float) -> float:
    """The half-width with which a backend with these returns `[N]` would be distinguished from itself, with so many pairs of
    seeds whose trainings go ways of their own.

    A margin below it can be shown only where trainings from one seed stay together in both backends.
    """
    squared = 2.0 * float(_squared_error(returns, UNSEEN_MARGINS * margin / math.sqrt(2.0))) * len(returns) / seeds
    return _quantile(seeds, ALPHA) * math.sqrt(squared)


def effect_size(first: Array, second: Array) -> float | None:
    """Hedges' g: the difference of means in pooled standard deviations, corrected for small samples.

    None where neither side varies but the means differ; 0 where they are equal.
    """
    n, m = len(first), len(second)
    apart = float(first.mean() - second.mean())
    variance = (first.var() * n + second.var() * m) / (n + m - 2)
    if variance == 0.0:
        return 0.0 if apart == 0.0 else None
    return apart / math.sqrt(variance) * (1.0 - 3.0 / (4.0 * (n + m) - 9.0))


def probability_of_improvement(first: Array, second: Array) -> float:
    """The chance that a seed of `first` does better than one of `second`; ties count half."""
    above = first[:, None] > second
    return float(above.mean() + 0.5 * (first[:, None] == second).mean())


def middle_mean(values: Array) -> Array:
    """Mean of the middle half of `[..., N]` (interquartile mean): robust against the few seeds that fail."""
    ordered = np.sort(values, axis=-1)
    cut = values.shape[-1] // 4
    return ordered[..., cut : values.shape[-1] - cut].mean(axis=-1)


def bootstrap_of_pairs(differences: Array, rng: np.random.Generator, *, middle: bool = False) -> Range:
    """95% percentile interval of the mean (or interquartile mean) of `differences [N]`, by bootstrap.

    Reported beside the deciding interval; it decides nothing, because it is too narrow for a few skewed seeds.
    """
    drawn = differences[rng.integers(0, len(differences), (RESAMPLES, len(differences)))]
    low, high = np.quantile(middle_mean(drawn) if middle else drawn.mean(axis=-1), (0.025, 0.975))
    return Range(float(low), float(high))
