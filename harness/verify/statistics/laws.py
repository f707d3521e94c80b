"""Whether a candidate's own sampler follows the law of a draw.

Where the task states an exact law, every test has a known null distribution (`exact_laws`), and the elements of a
vector draw must be independent. Where it states none, the reference's recorded draws stand in for it. In both cases
samples must be independent of those before them (`independence`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.model import Array
from harness.task.contract import TaskDraw
from harness.verify.statistics import hypotheses
from harness.verify.statistics.comparisons import (
    Columns,
    LawResult,
    chosen,
    compare_columns,
    compare_dependence,
    compare_distributions,
    element_name,
    orderable,
    verdict,
    worst_result,
)
from harness.verify.statistics.exact_laws import (
    follows_law,
    low_positions,
    outside_support,
    positions,
    repeated_samples,
)
from harness.verify.statistics.independence import (
    independence_of_actions,
    independence_of_draws,
    independence_of_elements,
    independence_of_lanes,
    independence_of_samples,
)
from harness.verify.statistics.joint import joint_independence, law_in_situations, neighbours
from harness.verify.statistics.outcomes import compare_outcomes

__all__ = [
    "LawResult",
    "compare_distributions",
    "compare_outcomes",
    "independence_of_actions",
    "independence_of_draws",
    "independence_of_lanes",
    "test_law",
    "verdict",
]

FEWEST_ALIKE = 256
"""Ranks in a group of so many correlate with each other by one in so many, which no test here sees."""


def test_law(
    samples: Array,
    draw: TaskDraw,
    reference_samples: Array | None = None,
    *,
    situations: Mapping[str, Array] | None = None,
    alike: Array | None = None,
    seed: int = 0,
) -> list[LawResult]:
    """Every test of the candidate's samples against the law of a draw.

    Args:
        samples: `[N, *draw.shape]`, each from a fresh key in the same situation, in the order in which they were drawn:
            order is how a reused key shows.
        draw: the draw, with its law if that is known exactly.
        reference_samples: `[M, *draw.shape]`, the reference's own draws; needed only where no exact law is stated.
        situations: numbers `[N]` by name that were known before each sample was drawn; they change nothing of an exact law.
        alike: groups `[N]` of samples for which a law that is not stated is the same; None: for all. Only samples of one
            large group are compared in their order.
        seed: chooses the 64 elements that are looked at, of a draw that has more.

    Returns:
        One result for each kind of test, for `verdict`. Values that the law excludes give p = 0, and nothing else then.

    Raises:
        ValueError: fewer than two samples, or neither a law nor samples of the reference.
    """
    if len(samples) < 2:
        raise ValueError(f"{draw.name}: {len(samples)} samples are too few to test a law")
    if samples.dtype.name != draw.dtype or samples.shape[1:] != draw.shape:
        found = f"{samples.dtype.name} {list(samples.shape[1:])}"
        wanted = f"{draw.dtype} {list(draw.shape)}"
        return [LawResult(draw.name, "dtype and shape", 0.0, found, wanted, len(samples))]
    flat = samples.reshape(len(samples), -1)
    rng = np.random.default_rng(seed)
    [own] = rng.spawn(1)
    looked_at = chosen(flat.shape[1], rng)
    names = [element_name(draw.name, int(index), draw.shape) for index in looked_at]
    values = np.ascontiguousarray(flat[:, looked_at].T)
    if draw.law is None:
        if reference_samples is None or not len(reference_samples):
            raise ValueError(f"{draw.name}: states no law, so its test needs draws of the reference")
        reference = reference_samples.reshape(len(reference_samples), -1)[:, looked_at].T
        return _like_reference(names, reference, values, alike, own)
    excluded = outside_support(names, values, draw.law)
    if excluded is not None:
        return [excluded]
    placed = positions(values, draw.law, own)
    return [
        *follows_law(names, values, draw.law),
        *repeated_samples(draw.name, flat, draw.law),
        *independence_of_elements(names, orderable(values)),
        *independence_of_samples(names, orderable(values)),
        *joint_independence(names, placed, own),
        *law_in_situations(names, placed, situations or {}, draw.name),
        *_low_bits_in_situations(names, values, draw, situations or {}, own),
    ]


def _low_bits_in_situations(
    names: Sequence[str], values: Array, draw: TaskDraw, situations: Mapping[str, Array], rng: np.random.Generator
) -> list[LawResult]:
    """What the place on the line does not show of integers from a wide range: a step may take its parity alone."""
    assert draw.law is not None
    low = low_positions(values, draw.law, rng)
    return [] if low is None else law_in_situations(names, low, situations, draw.name, "lowest four bits")


def _like_reference(
    names: Sequence[str], reference: Array, values: Array, alike: Array | None, rng: np.random.Generator
) -> list[LawResult]:
    """Elements `values [E, N]` against the reference's `[E, M]`, and successive samples against each other."""
    columns = Columns(reference, values, list(names))
    results = [compare_columns(columns)]
    if len(names) > 1:
        results.append(compare_dependence(columns))
        pooled = hypotheses.midranks(orderable(np.concatenate([reference, values], axis=-1)))
        expected, actual = np.split(pooled, [reference.shape[-1]], axis=-1)
        results.append(neighbours(names, expected, actual, "elements drawn together", rng))
    ordered = orderable(values) if alike is None else _within(orderable(values), alike)
    return results + _representation(names, reference, values) + independence_of_samples(names, ordered)


def _within(values: Array, groups: Array) -> Array:
    """Each of `values [E, N]` as its rank in its group, between -1/2 and 1/2; 0 in a small group, where ranks tell much of
    one another.
    """
    _, groups = np.unique(groups, return_inverse=True)
    ranks = np.zeros(values.shape)
    for group in np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1]):
        if len(group) >= FEWEST_ALIKE:
            ranks[:, group] = (hypotheses.midranks(values[:, group]) - 0.5) / len(group) - 0.5
    return ranks


def _representation(names: Sequence[str], reference: Array, values: Array) -> list[LawResult]:
    """What comparing sizes cannot see: low bits of integers, doubles that are float32 values, repeated values."""
    n, m = reference.shape[-1], values.shape[-1]
    results = []
    if values.dtype.kind in "iu":
        low = [[np.bincount((row & 15).astype(np.intp), minlength=16) for row in side] for side in (reference, values)]
        results.append(
            worst_result(
                names,
                "G-test of the lowest four bits",
                np.array([hypotheses.g_test_two_samples(a, b).p_value for a, b in zip(*low, strict=True)]),
                lambda e: (f"counts {low[1][e].tolist()}", f"in proportion {low[0][e].tolist()}"),
                m,
            )
        )
    if values.dtype == np.float64:
        with np.errstate(over="ignore"):
            single = [np.count_nonzero(side.astype(np.float32) == side, axis=-1) for side in (reference, values)]
        results.append(
            worst_result(
                names,
                "binomial test of values that fit a float32",
                hypotheses.binomial_p(single[1], single[0] + single[1], np.array(m / (n + m))),
                lambda e: (f"{single[1][e]} of {m}", f"{single[0][e]} of {n}"),
                m,
            )
        )
    repeated = [[_repeated(row) for row in side] for side in (reference, values)]
    common = [len(np.intersect1d(a, b)) for a, b in zip(*repeated, strict=True)]
    ours = np.array([len(b) - both for b, both in zip(repeated[1], common, strict=True)])
    theirs = np.array([len(a) - both for a, both in zip(repeated[0], common, strict=True)])
    # A value that repeats on one side only does so on the larger at most as many times more often as it has pairs.
    share = max(0.5, m * m / (n * n + m * m))
    results.append(
        worst_result(
            names,
            "sign test of repeated values",
            hypotheses.binomial_tail(ours, ours + theirs, share),
            lambda e: (f"{len(repeated[1][e])} values repeat among {m}", f"{len(repeated[0][e])} among {n}"),
            m,
        )
    )
    return results


def _repeated(values: Array) -> Array:
    """The values that occur more than once."""
    found, counts = np.unique(values, return_counts=True)
    return found[counts > 1]
