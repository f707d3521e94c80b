"""Tests of hypotheses about samples: plain functions of arrays, with p-values that hold far out in the tail.

A verification must practically never accuse an honest candidate, so it decides at p-values of 1e-6 and less. There the
usual approximations are wrong by orders of magnitude when counts are small or values are rare. Hence three rules here:
small counts are tested exactly (binomial, Poisson), cells of a table are pooled until the likelihood ratio is
trustworthy, and a sum of bounded terms gets Bernstein's bound in place of the normal tail. Down to 1e-9 no p-value is
too small by more than a factor of about 3, for which `verdict` leaves room; many are too large.

Functions take samples along the *last* axis and keep the axes before it, unless they say otherwise. Nothing imports
`scipy.stats`, which takes longer to import than a whole level should.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from harness.model import Array

MINIMUM_EXPECTED = 32.0
"""Expected count below which a cell of a table joins its neighbour. The textbooks' 5 is made for p-values of 0.01."""
EXACT_KS = 1000
"""Sample size up to which the one-sample KS test sums its exact formula, whose cost grows with the size."""


class KS(NamedTuple):
    """Kolmogorov-Smirnov: largest distance of two distribution functions, the index where it is, the p-value."""

    distance: Array
    where: Array
    p_value: Array


class Shift(NamedTuple):
    """A standardised difference or correlation and its two-sided p-value."""

    z: Array
    p_value: Array


class GTest(NamedTuple):
    """A likelihood-ratio test: the statistic (with Williams' correction), degrees of freedom, the p-value."""

    statistic: float
    freedom: int
    p_value: float


def holm(p_values: Array) -> Array:
    """P-values `[K]` adjusted so that the chance of any false alarm among them stays below the level.

    Holm's step-down method (Holm 1979, Scandinavian Journal of Statistics 6). The smallest adjusted value is
    Bonferroni's.
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values)
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def bernstein_p(z: Array, reach: Array | float) -> Array:
    """Two-sided p-value of a sum of independent bounded terms that lies `z` standard deviations from its mean.

    `reach` is the most that one term can add, in standard deviations of the sum. As it goes to 0 the exponent is
    that of the normal tail; when values are rare it is not, and the normal tail would accuse the innocent.
    Bernstein's inequality (Boucheron, Lugosi & Massart, Concentration Inequalities, theorem 2.10).
    """
    z = np.abs(z)
    with np.errstate(invalid="ignore"):  # infinity over infinity: certain, as one infinity alone is
        exponent = np.where(np.isinf(z), np.inf, 0.5 * z * z / (1.0 + np.asarray(reach) * z / 3.0))
    return np.minimum(1.0, 2.0 * np.exp(-exponent))


def binomial_p(successes: Array, trials: Array, share: Array) -> Array:
    """Exact two-sided binomial test: twice the smaller tail, at most 1. All arguments broadcast."""
    tails = _at_most(successes, trials, share), binomial_tail(successes, trials, share)
    return np.minimum(1.0, 2.0 * np.minimum(*tails))


def binomial_tail(successes: Array | int, trials: Array | int, share: Array | float) -> Array:
    """The exact chance of at least so many successes."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    return np.where(k <= 0, 1.0, special.betainc(np.maximum(k, 1.0), np.maximum(n - k, 0.0) + 1.0, share))


def _at_most(successes: Array, trials: Array, share: Array) -> Array:
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    return np.where(k >= n, 1.0, special.betaincc(k + 1.0, np.maximum(n - k, 1.0), share))


def binomial_upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """One-sided upper confidence bound on a share (Clopper & Pearson 1934, Biometrika 26)."""
    if successes >= trials:
        return 1.0
    return float(special.betaincinv(successes + 1, trials - successes, confidence))


def poisson_tail(count: Array | int, mean: Array | float) -> Array:
    """The exact chance that a Poisson variable is at least `count`."""
    count = np.asarray(count, dtype=np.float64)
    return np.where(count <= 0, 1.0, special.gammainc(np.maximum(count, 1.0), mean))


def ks_one_sample(ordered: Array, slack: float = 0.0) -> KS:
    """Whether values are uniform on [0, 1]: one-sample Kolmogorov-Smirnov test of `ordered [..., N]`, ascending.

    Map a sample through its distribution function first. `slack` is taken off the distance: the step of the grid on
    which the values lie, which separates them from the continuous law however honest they are.

    The p-value is twice the exact one-sided one (Birnbaum & Tingey 1951) for N up to 1000, and Kolmogorov's limit with
    Vrbik's correction of its argument (2018, Pioneer Journal of Theoretical and Applied Statistics 15) beyond.
    """
    n = ordered.shape[-1]
    steps = np.arange(n)
    gaps = np.maximum((steps + 1) / n - ordered, ordered - steps / n)
    where = np.argmax(gaps, axis=-1)
    distance = np.take_along_axis(gaps, where[..., None], axis=-1)[..., 0]
    tested = np.clip(distance - slack, 0.0, 1.0)
    if n <= EXACT_KS:
        p_value = np.minimum(1.0, 2.0 * special.smirnov(n, tested))
    else:
        p_value = special.kolmogorov(tested * np.sqrt(n) + 1.0 / (6.0 * np.sqrt(n)))
    return KS(distance, where, p_value)


def ks_two_samples(a: Array, b: Array) -> KS:
    """Whether `a [..., N]` and `b [..., M]` have one distribution: two-sample Kolmogorov-Smirnov test.

    The p-value is Kolmogorov's limit (Smirnov 1948), which is too large for small samples and for samples with ties.
    `where` counts in the pooled sample's ascending order.
    """
    n, m = a.shape[-1], b.shape[-1]
    pooled = np.concatenate([a, b], axis=-1)
    order = np.argsort(pooled, axis=-1)
    ordered = np.take_along_axis(pooled, order, axis=-1)
    gaps = np.abs(np.cumsum(np.where(order < n, 1.0 / n, -1.0 / m), axis=-1))
    gaps[..., :-1][ordered[..., 1:] == ordered[..., :-1]] = 0.0  # only after the last of equal values
    where = np.argmax(gaps, axis=-1)
    distance = np.take_along_axis(gaps, where[..., None], axis=-1)[..., 0]
    return KS(distance, where, special.kolmogorov(distance * np.sqrt(n * m / (n + m))))


def pool(expected: Array, minimum: float = MINIMUM_EXPECTED) -> Array:
    """Group numbers `[K]` (0, 1, 2 ...) that join neighbouring cells until each group expects at least `minimum`."""
    groups = np.zeros(len(expected), dtype=np.intp)
    group, total = 0, 0.0
    for cell, count in enumerate(expected):
        groups[cell] = group
        total += float(count)
        if total >= minimum:
            group, total = group + 1, 0.0
    return np.minimum(groups, max(group - 1, 0))  # what is left over at the end joins the last full group


def g_test(counts: Array, probabilities: Array) -> GTest:
    """Whether counts `[K]` come from a categorical law `[K]`: likelihood-ratio test with pooling of rare cells.

    G with Williams' correction against chi-square (Sokal & Rohlf, Biometry, section 17.1). G and not Pearson's
    statistic, because in the far tail Pearson's is too eager where the expected counts are small. Cells of
    probability 0 count as nothing: a value there is for the caller to refuse.
    """
    possible = probabilities > 0
    counts, probabilities = counts[possible], probabilities[possible]
    total = float(counts.sum())
    expected = total * probabilities / probabilities.sum()
    groups = pool(expected)
    observed, expected = np.bincount(groups, counts), np.bincount(groups, expected)
    freedom = len(expected) - 1
    if freedom < 1:
        return GTest(0.0, 0, 1.0)
    williams = 1.0 + (float((total / expected).sum()) - 1.0) / (6.0 * total * freedom)
    statistic = 2.0 * float(special.xlogy(observed, observed / expected).sum()) / williams
    return GTest(statistic, freedom, float(special.chdtrc(freedom, max(statistic, 0.0))))


def g_test_two_samples(a: Array, b: Array) -> GTest:
    """Whether counts `a [K]` and `b [K]` over the same values come from one law: G-test of a 2 x K table."""
    n, m = float(a.sum()), float(b.sum())
    groups = pool((a + b) * min(n, m) / (n + m))
    table = np.stack([np.bincount(groups, a), np.bincount(groups, b)])
    columns, total = table.sum(axis=0), n + m
    freedom = len(columns) - 1
    if freedom < 1:
        return GTest(0.0, 0, 1.0)
    expected = np.array([[n], [m]]) * columns / total
    rows_term, columns_term = total / n + total / m - 1.0, float((total / columns).sum()) - 1.0
    williams = 1.0 + rows_term * columns_term / (6.0 * total * freedom)
    statistic = 2.0 * float(special.xlogy(table, table / expected).sum()) / williams
    return GTest(statistic, freedom, float(special.chdtrc(freedom, max(statistic, 0.0))))


def midranks(values: Array) -> Array:
    """Ranks 1 .. N along the last axis; equal values share the mean of theirs."""
    n = values.shape[-1]
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    new = np.ones(values.shape, dtype=bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    last = np.ones(values.shape, dtype=bool)
    last[..., :-1] = new[..., 1:]
    positions = np.arange(n)
    first = np.maximum.accumulate(np.where(new, positions, 0), axis=-1)
    final = np.flip(np.minimum.accumulate(np.flip(np.where(last, positions, n - 1), axis=-1), axis=-1), axis=-1)
    ranks = np.empty(values.shape, dtype=np.float64)
    np.put_along_axis(ranks, order, 0.5 * (first + final) + 1.0, axis=-1)
    return ranks


def standardised(scores: Array) -> Array:
    """Scores along the last axis with mean 0 and mean square 1; zeros where they are all the same, but for rounding."""
    centred = scores - scores.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
    rounding = 1e-12 * np.abs(scores).max(axis=-1, keepdims=True, initial=0.0)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > rounding)


def rank_scores(values: Array) -> Array:
    """Standardised midranks: with these, correlation is Spearman's."""
    return standardised(midranks(values))


def folded(scores: Array) -> Array:
    """Standardised distances of scores from their centre: dependence of magnitudes hides from a rank correlation."""
    return standardised(np.abs(scores))


def waves(places: Array, count: int) -> Array:
    """Cosines `[count, ...]` of 1 .. `count` half waves over places in [0, 1]: of a uniform place each is 0 on average.

    They are orthogonal, so what depends on a place in any smooth way depends on one of the first of them.
    """
    return np.stack([np.cos(np.pi * number * places) for number in range(1, count + 1)])


def correlation(x: Array, y: Array) -> Shift:
    """Whether paired standardised scores `[..., N]` are independent."""
    n = x.shape[-1]
    z = (x * y).sum(axis=-1) / np.sqrt(n)
    return Shift(z, bernstein_p(z, np.abs(x).max(axis=-1) * np.abs(y).max(axis=-1) / np.sqrt(n)))


def correlation_at_lags(later: Array, earlier: Array) -> Shift:
    """Whether standardised scores `later [N]` in order are independent of `earlier [N]` ones: `z` and p-value `[N // 2]`.

    Entry `k` is the correlation at lag `k + 1`. All lags at once, because a sampler that reuses a key repeats itself
    after a whole batch as easily as after one value.
    """
    n = len(later)
    lags = np.arange(1, n // 2 + 1)
    terms = n - lags
    z = _products_at_distances(earlier[None], later[None])[lags - 1] / np.sqrt(terms)
    return Shift(z, bernstein_p(z, _reach(later, earlier) / np.sqrt(terms)))


def pairs_at_distances(taken: Array) -> Array:
    """How many pairs of values `taken [timesteps, lanes]` there are in one timestep at each distance, `[lanes - 1]`."""
    ones = taken.astype(np.float64)
    return np.round(_products_at_distances(ones, ones))


def correlation_at_distances(left: Array, right: Array, pairs: Array) -> Shift:
    """Whether standardised scores `left [timesteps, lanes]` are independent of `right` ones of lanes further on.

    `z` and p-value `[lanes - 1]`; entry `k` is the correlation of lanes at distance `k + 1` in one timestep. A score that
    was not taken is 0, and `pairs` says how many others there are (`pairs_at_distances`); where there are none, the p-value
    is 1.
    """
    terms = np.maximum(pairs, 1.0)
    z = np.where(pairs > 0, _products_at_distances(left, right), 0.0) / np.sqrt(terms)
    return Shift(z, bernstein_p(z, _reach(left, right) / np.sqrt(terms)))


def _reach(scores: Array, others: Array) -> float:
    """The most that a product of two scores comes to."""
    return float(np.abs(scores).max(initial=0.0) * np.abs(others).max(initial=0.0))


def _products_at_distances(left: Array, right: Array) -> Array:
    """The sum of products of a number in a row of `left [N, M]` and one of `right` 1 .. M - 1 places further on."""
    size = left.shape[1]
    length = 1 << (2 * size - 1).bit_length()
    rows = left.any(axis=1) & right.any(axis=1)
    spectrum, other = (np.fft.rfft(side[rows], length) for side in (left, right))
    return np.fft.irfft((spectrum.conj() * other).sum(axis=0), length)[1:size]


def shift(scores: Array, n: int) -> Shift:
    """Whether the first `n` of the scores `[..., N]` are as high as the others: z-test of a linear rank statistic.

    With midranks it is the Wilcoxon-Mann-Whitney test (for location), with squared distances from the middle rank
    Mood's test (for scale); any scores that do not know which sample a value is from will do. The variance is that of
    a random division of the pooled scores (Lehmann, Nonparametrics, appendix 4), so ties need no correction.
    """
    m = scores.shape[-1] - n
    centred = scores - scores.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred * centred).sum(axis=-1) / (n + m - 1) * (1.0 / n + 1.0 / m))
    difference = centred[..., :n].mean(axis=-1) - centred[..., n:].mean(axis=-1)
    scale = np.where(deviation > 0, deviation, 1.0)
    z = np.where(deviation > 0, difference / scale, 0.0)
    return Shift(z, bernstein_p(z, np.abs(centred).max(axis=-1) / min(n, m) / scale))
