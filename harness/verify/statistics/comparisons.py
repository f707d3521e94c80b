"""Whether two sets of samples follow one law, and what a test of a law says.

A comparison gives a `LawResult`: a p-value with the words to explain it. Nothing here decides; `verdict` does, over all
results of a level at once, so that many comparisons do not add up to a false accusation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from harness.model import Array
from harness.verify.statistics import hypotheses

ALPHA = 1e-6
"""Chance at which a whole family of results may condemn an honest candidate."""
ELEMENTS = 64
"""How many elements of an array are looked at one by one; the level's seed chooses them where there are more."""
FEW_VALUES = 256
"""Number of distinct values up to which a sample is also tested as a table of counts."""
REPEATED = 8
"""How often a value must occur in both samples together for its own count to be compared."""


@dataclass(frozen=True)
class LawResult:
    """One test of a distribution.

    Attributes:
        name: what was tested: a draw or a leaf, with the element that fits worst (`start[2]`).
        statistic: which test, in words.
        p_value: the chance of a result as extreme if the laws are the same; already corrected for everything that this
            one result stands for (elements, values, lags). 0 for what the law excludes.
        observed, expected: what the candidate showed, and what the law or the reference says.
        n: how many samples of the candidate it rests on.
    """

    name: str
    statistic: str
    p_value: float
    observed: str
    expected: str
    n: int

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_value <= 1.0:
            raise ValueError(f"{self.name}: {self.statistic}: {self.p_value} is not a p-value: a bug of this test")


class Columns(NamedTuple):
    """Samples of several numbers from both sides, `[E, N]` and `[E, M]`, with a name for each number."""

    reference: Array
    candidate: Array
    names: list[str]


def verdict(results: Sequence[LawResult], alpha: float = ALPHA) -> tuple[bool, LawResult]:
    """Whether results together are compatible with honesty, and the one that fits worst.

    Holm's correction over all results: if every law is the same, the chance of False is at most `alpha`.

    Raises:
        ValueError: there are no results; nothing tested is not a pass.
    """
    if not results:
        raise ValueError("there are no results to judge: test at least one draw or leaf")
    adjusted = hypotheses.holm(np.array([result.p_value for result in results]))
    worst = min(results, key=lambda result: result.p_value)
    return bool(adjusted.min() > alpha), worst


def worst_result(
    names: Sequence[str],
    statistic: str,
    p_values: Array,
    describe: Callable[[int], tuple[str, str]],
    n: int,
) -> LawResult:
    """One result for a family of tests `p_values [K]`, one for each name: the worst, corrected for having K tries.

    `describe(k)` says what was observed and what was expected in test `k`.
    """
    worst = int(np.argmin(p_values))
    p_value = min(1.0, float(p_values[worst]) * len(p_values))
    return LawResult(names[worst], statistic, p_value, *describe(worst), n)


def chosen(elements: int, rng: np.random.Generator) -> Array:
    """The indices of the elements to look at: all, or a random 64 in ascending order."""
    if elements <= ELEMENTS:
        return np.arange(elements)
    return np.sort(rng.choice(elements, ELEMENTS, replace=False))


def element_name(name: str, index: int, shape: tuple[int, ...]) -> str:
    """The address of an element of an array: `board[3,4]`."""
    return name + (f"[{','.join(str(i) for i in np.unravel_index(index, shape))}]" if shape else "")


def compare_distributions(reference: Array, candidate: Array, name: str = "") -> LawResult:
    """Whether `reference [N]` and `candidate [M]`, each of independent values, have one distribution.

    The most significant of five tests, corrected for being five: Kolmogorov-Smirnov for any difference, Wilcoxon for
    location, Mood for scale, a table of counts where there are few values, and the count of each value that repeats.
    NaN counts as one more value.

    Raises:
        ValueError: one of the two is empty.
    """
    return compare_columns(Columns(reference[None], candidate[None], [name]))


def compare_columns(columns: Columns) -> LawResult:
    """`compare_distributions` for several numbers at once: the worst of them, corrected for their number.

    Raises:
        ValueError: there is nothing on one side.
    """
    a, b = orderable(columns.reference), orderable(columns.candidate)
    n, m = a.shape[-1], b.shape[-1]
    if not n or not m:
        raise ValueError(f"{columns.names[0]}: {n} values of the reference and {m} of the candidate: needs both")
    pooled = np.concatenate([a, b], axis=-1)
    scores = hypotheses.rank_scores(pooled)
    distances = hypotheses.ks_two_samples(a, b)
    counts = [_count_tests(values, n) for values in pooled]
    tests = {
        "Kolmogorov-Smirnov test": distances.p_value,
        "Wilcoxon rank test of location": hypotheses.shift(scores, n).p_value,
        "Mood rank test of scale": hypotheses.shift(scores * scores, n).p_value,
        "G-test of a table of counts": np.array([table for table, _, _ in counts]),
        "binomial test of how often one value occurs": np.array([single for _, single, _ in counts]),
    }
    p_values = np.stack(list(tests.values()))
    test, element = (int(i) for i in np.unravel_index(np.argmin(p_values), p_values.shape))
    sides = (a[element], b[element])
    if test == 0:
        point = float(np.sort(pooled[element])[distances.where[element]])
        expected, observed = (f"{np.mean(side <= point):.2%} of values <= {_value(point)}" for side in sides)
    elif test in (1, 2):
        expected, observed = (_quartiles(side) for side in sides)
    else:
        value = counts[element][2]
        expected, observed = (f"value {_value(value)}: {np.sum(side == value)} times of {len(side)}" for side in sides)
    p_value = min(1.0, float(p_values[test, element]) * p_values.size)
    return LawResult(columns.names[element], list(tests)[test], p_value, observed, expected, m)


def compare_dependence(columns: Columns) -> LawResult:
    """Whether two or more numbers that occur together depend on each other alike on both sides, pair by pair.

    Compares the mean product of ranks, of distances from the middle rank, and of one with the other, of every two numbers.
    """
    n, m = columns.reference.shape[-1], columns.candidate.shape[-1]
    pooled = np.concatenate([orderable(columns.reference), orderable(columns.candidate)], axis=-1)
    ranks = hypotheses.rank_scores(pooled)
    families = {"value": ranks, "distance from the middle": hypotheses.folded(ranks)}
    kinds = list(product(families, repeat=2))
    first, second = np.triu_indices(len(ranks), k=1)
    p_values = [_product_shift(families[one], families[other], n)[first, second] for one, other in kinds]
    names = [f"{columns.names[i]} with {columns.names[j]}" for i, j in zip(first, second, strict=True)]

    def describe(k: int) -> tuple[str, str]:
        kind, pair = divmod(k, len(first))
        one, other = kinds[kind]
        x, y = families[one][first[pair]], families[other][second[pair]]
        expected, observed = (
            f"correlation of {one} with {other} {np.mean(x[part] * y[part]):+.4f}"
            for part in (slice(n), slice(n, None))
        )
        return observed, expected

    return worst_result(
        names * len(kinds),
        "dependence between numbers: z-test of rank correlations",
        np.concatenate(p_values),
        describe,
        m,
    )


def orderable(values: Array) -> Array:
    """Values as float64, all of them comparable: NaN becomes infinity, and infinity the greatest finite float."""
    values = values.astype(np.float64)
    greatest = np.finfo(np.float64).max
    return np.where(np.isnan(values), np.inf, np.clip(values, -greatest, greatest))


def _value(value: float) -> str:
    return "nan" if value == np.inf else "inf" if value == np.finfo(np.float64).max else f"{value:.6g}"


def _quartiles(values: Array) -> str:
    return "quartiles " + ", ".join(_value(q) for q in np.quantile(values, (0.25, 0.5, 0.75), method="nearest"))


def _count_tests(pooled: Array, n: int) -> tuple[float, float, float]:
    """P-values for the table of counts and for the most telling single value, and that value.

    The first `n` of `pooled` are the reference's. Which values are tested depends only on the pooled sample, so
    that it tells nothing of the sides. Given how often a value occurs in all, the candidate's share is binomial (in
    truth hypergeometric, which varies less).
    """
    values, inverse, totals = np.unique(pooled, return_inverse=True, return_counts=True)
    counts = np.bincount(inverse[n:], minlength=len(values))
    few = 2 <= len(values) <= FEW_VALUES
    table = hypotheses.g_test_two_samples(totals - counts, counts).p_value if few else 1.0
    often = np.argsort(-totals, kind="stable")[:ELEMENTS]
    often = often[totals[often] >= REPEATED]
    if not len(often):
        return table, 1.0, float(values[0])
    share = 1.0 - n / len(pooled)
    p_values = hypotheses.binomial_p(counts[often], totals[often], np.array(share))
    worst = int(np.argmin(p_values))
    return table, min(1.0, float(p_values[worst]) * len(often)), float(values[often[worst]])


def _product_shift(x: Array, y: Array, n: int) -> Array:
    """P-values `[E, E]` that mean products of scores `x` and `y [E, N + M]` differ between the first `n` and the others."""
    m = x.shape[-1] - n
    pooled = x @ y.T / (n + m)
    variance = (x * x) @ (y * y).T / (n + m) - pooled * pooled
    deviation = np.sqrt(np.maximum(variance, 0.0) * (1.0 / n + 1.0 / m))
    scale = np.where(deviation > 1e-9, deviation, np.inf)  # two constants, or one number twice on both sides
    z = (x[:, n:] @ y[:, n:].T / m - x[:, :n] @ y[:, :n].T / n) / scale
    most = np.outer(np.abs(x).max(axis=-1), np.abs(y).max(axis=-1))
    return hypotheses.bernstein_p(z, (most + np.abs(pooled)) / min(n, m) / scale)
