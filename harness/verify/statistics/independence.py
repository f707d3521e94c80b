"""Whether samples are independent: of earlier samples, of each other's elements, of other draws.

This is where a key that is used twice shows, or a counter that is not advanced, or a batch that repeats another.
All tests correlate ranks, and distances from the middle rank, which a dependence of magnitudes cannot hide from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.model import Array
from harness.task.contract import TaskDraw
from harness.verify.statistics import hypotheses
from harness.verify.statistics.comparisons import LawResult, chosen, element_name, orderable, worst_result
from harness.verify.statistics.exact_laws import is_possible, positions

LANE_ELEMENTS = 8
"""So many elements of a draw are compared from lane to lane."""


def independence_of_elements(names: Sequence[str], values: Array) -> list[LawResult]:
    """Whether elements `values [E, N]` that are drawn together are independent of each other; none for one element."""
    first, second = np.triu_indices(len(values), k=1)
    if not len(first):
        return []
    return [_pairs(names, _scores(values), first, second, 0, "elements drawn together")]


def independence_of_samples(names: Sequence[str], values: Array) -> list[LawResult]:
    """Whether samples `values [E, N]` are independent of earlier ones: at every lag up to N / 2, and across elements.

    The same element is compared at all lags, different elements in successive samples.
    """
    families = _scores(values)
    n = values.shape[-1]
    tests = [hypotheses.autocorrelation(scores) for family in families for scores in family]
    lags = np.array([int(np.argmin(test.p_value)) + 1 for test in tests])
    p_values = np.array([min(1.0, float(test.p_value.min()) * len(test.p_value)) for test in tests])

    def describe(k: int) -> tuple[str, str]:
        lag = int(lags[k])
        return f"rank correlation {tests[k].z[lag - 1] / np.sqrt(n - lag):+.4f} with the sample {lag} before", "0"

    results = [worst_result([*names, *names], "serial correlation at any lag", p_values, describe, n)]
    first, second = np.nonzero(~np.eye(len(values), dtype=bool))
    if len(first):
        results.append(_pairs(names, families, first, second, 1, "an element and another of the sample after it"))
    return results


def independence_of_draws(
    draws: Sequence[TaskDraw],
    samples: Mapping[str, Array],
    taken: Mapping[str, Array] | None = None,
    *,
    seed: int = 0,
) -> list[LawResult]:
    """Whether draws that are made together are independent of each other, whichever of them is made at all.

    Which draws a step makes hangs on those before. So values that were taken together need not look independent, as there
    are steps in which one comes first and steps in which the other does. But whichever comes later follows its law whatever
    the earlier one was. So the product of both places on the line, counted from the middle that the law has, is nothing on
    average in every step, and that is what is tested (a martingale).

    Args:
        draws: those with a law.
        samples: of each `[N, *shape]`; sample `i` of each is from the same call.
        taken: of each, which samples count, `[N]`; None: all.
        seed: chooses the 64 elements that are looked at, of a draw that has more, and places of equal values.
    """
    rng = np.random.default_rng(seed)
    names: list[str] = []
    columns: list[Array] = []
    owners: list[int] = []
    for owner, draw in enumerate(draws):
        assert draw.law is not None
        flat = samples[draw.name].reshape(len(samples[draw.name]), int(np.prod(draw.shape)))
        counts = np.ones(len(flat), bool) if taken is None else taken[draw.name]
        for index in chosen(flat.shape[1], rng):
            # A value that the law excludes has no place; another test tells of it.
            held = counts & is_possible(flat[:, index], draw.law)
            places = np.full(len(flat), np.nan)
            places[held] = positions(flat[held, index], draw.law, rng) - 0.5
            columns.append(places)
            names.append(element_name(draw.name, int(index), draw.shape))
            owners.append(owner)
    owner_of = np.array(owners)
    first, second = np.nonzero(owner_of[:, None] < owner_of[None, :])
    if not len(first) or not len(columns[0]):
        return []
    centred = np.stack(columns)
    sides, folded = (np.nan_to_num(scores) for scores in (centred, np.abs(centred) - 0.25))
    # Each with each: a draw may hang on how far another one lies from the middle, and not on which side.
    families = [(sides, sides), (folded, folded), (sides, folded), (folded, sides)]
    z, p_values = zip(*(_of_products(*family) for family in families), strict=True)
    p_values = np.concatenate([matrix[first, second] for matrix in p_values])
    together = (~np.isnan(centred)).astype(float) @ (~np.isnan(centred)).T
    counts = np.tile(together[first, second], len(families))

    def describe(k: int) -> tuple[str, str]:
        i, j = first[k % len(first)], second[k % len(first)]
        n = max(counts[k], 1.0)
        return f"correlation {z[k // len(first)][i, j] / np.sqrt(n):+.4f}", f"0, give or take {1 / np.sqrt(n):.4f}"

    return [
        worst_result(
            [f"{names[i]} with {names[j]}" for i, j in zip(first, second, strict=True)] * len(families),
            "independence of draws made together: z-test of products of places on the line",
            p_values,
            describe,
            int(counts[p_values.argmin()]),
        )
    ]


def _of_products(scores: Array, others: Array) -> tuple[Array, Array]:
    """How many standard deviations sums of products of scores, both `[E, N]`, lie from 0, and p-values of it, `[E, E]`."""
    spread = np.sqrt((scores**2) @ (others**2).T)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(spread > 0, scores @ others.T / spread, 0.0)
        reach = np.outer(np.abs(scores).max(axis=-1), np.abs(others).max(axis=-1))
        reaches = np.where(spread > 0, reach / spread, 0.0)
    return z, hypotheses.bernstein_p(z, reaches)


def independence_of_lanes(name: str, samples: Array, taken: Array, *, seed: int = 0) -> list[LawResult]:
    """Whether draws that were made side by side are independent: at every distance of two lanes, in the same timestep.

    Args:
        name: of the draw.
        samples: `[timesteps, lanes, *shape]`.
        taken: which of them count, `[timesteps, lanes]`; two at least.
        seed: chooses the 8 elements that are looked at, of a draw that has more.
    """
    timesteps, lanes = taken.shape
    flat = samples.reshape(timesteps, lanes, -1)
    elements = flat.shape[2]
    looked_at = np.sort(np.random.default_rng(seed).permutation(elements)[:LANE_ELEMENTS])
    values = orderable(flat[taken][:, looked_at].T)
    names = [element_name(name, int(index), samples.shape[2:]) for index in looked_at]
    p_values, distances, correlations = [], [], []
    pairs = hypotheses.pairs_at_distances(taken)
    for scores in (scores for family in _scores(values) for scores in family):
        side_by_side = np.zeros(taken.shape)
        side_by_side[taken] = scores
        test = hypotheses.correlation_at_distances(side_by_side, pairs)
        worst = int(np.argmin(test.p_value))
        p_values.append(min(1.0, float(test.p_value[worst]) * len(test.p_value)))
        distances.append(worst + 1)
        correlations.append(float(test.z[worst]) / np.sqrt(max(pairs[worst], 1.0)))
    return [
        worst_result(
            [*names, *names],
            "correlation of lanes at any distance",
            np.array(p_values),
            lambda k: (f"rank correlation {correlations[k]:+.4f} of lanes at distance {distances[k]}", "0"),
            int(np.count_nonzero(taken)),
        )
    ]


def independence_of_actions(
    name: str, samples: Array, actions: Mapping[str, Array], *, seed: int = 0
) -> list[LawResult]:
    """Whether draws `[N, *shape]` are independent of the actions at which they were made, each `[N, *shape]` by path.

    It holds only for actions that were chosen without regard to what is going on. At most 64 elements of each are looked at.
    """
    names, values, owner_of = _elements({name: samples, **actions}, seed)
    varying = values.min(axis=-1) < values.max(axis=-1)
    first, second = np.nonzero(((owner_of == 0) & varying)[:, None] & ((owner_of > 0) & varying)[None, :])
    if not len(first):
        return []
    return [_pairs(names, _scores(values), first, second, 0, "a draw and the action")]


def _elements(samples: Mapping[str, Array], seed: int) -> tuple[list[str], Array, Array]:
    """Elements of some arrays `[N, *shape]`: their names, their values `[E, N]`, and which array each is of."""
    rng = np.random.default_rng(seed)
    names: list[str] = []
    columns: list[Array] = []
    owners: list[int] = []
    for owner, (name, array) in enumerate(samples.items()):
        flat = array.reshape(len(array), -1)
        for index in chosen(flat.shape[1], rng):
            names.append(element_name(name, int(index), array.shape[1:]))
            columns.append(orderable(flat[:, index]))
            owners.append(owner)
    return names, np.stack(columns), np.array(owners)


def _scores(values: Array) -> tuple[Array, Array]:
    scores = hypotheses.rank_scores(values)
    return scores, hypotheses.folded(scores)


def _pairs(
    names: Sequence[str], families: Sequence[Array], first: Array, second: Array, lag: int, what: str
) -> LawResult:
    """The worst rank correlation of elements `first [K]` with elements `second [K]`, the latter `lag` samples later."""
    n = families[0].shape[-1] - lag
    z = [scores[:, :n] @ scores[:, lag:].T / np.sqrt(n) for scores in families]
    reaches = [np.abs(scores).max(axis=-1) for scores in families]
    p_values = [
        hypotheses.bernstein_p(matrix, np.outer(reach, reach) / np.sqrt(n))
        for matrix, reach in zip(z, reaches, strict=True)
    ]
    found = np.concatenate([matrix[first, second] for matrix in z]) / np.sqrt(n)
    pairs = [f"{names[i]} with {names[j]}" for i, j in zip(first, second, strict=True)]
    return worst_result(
        pairs * len(families),
        f"independence of {what}: z-test of rank correlation",
        np.concatenate([matrix[first, second] for matrix in p_values]),
        lambda k: (f"rank correlation {found[k]:+.4f}", f"0, give or take {1 / np.sqrt(n):.4f}"),
        n,
    )
