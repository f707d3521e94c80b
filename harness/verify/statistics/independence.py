"""Whether samples are independent: of earlier samples, of each other's elements, of other draws.

This is where a key that is used twice shows, or a counter that is not advanced, or a batch that repeats another.

A number may hang on another one without being large where the other is large: `|2 a - 1|` and `frac(2 a)` are uniform, and
no correlation of ranks sees them. So numbers drawn together are compared by waves of several lengths, each with each. Where
all lags or all distances are looked at, two kinds of score are, each with each: ranks, and distances from the middle rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from harness.model import Array
from harness.task.contract import TaskDraw
from harness.verify.statistics import hypotheses
from harness.verify.statistics.comparisons import LawResult, chosen, element_name, orderable, worst_result
from harness.verify.statistics.exact_laws import is_possible, positions

LANE_ELEMENTS = 8
"""So many elements of a draw are compared from lane to lane."""
WAVES = 6
"""So many half waves at most lie over the line of places: what repeats three times on it is still seen."""
MOST_COLUMNS = 256
"""So many elements of draws that are made together are held against each other at most."""
WAVED = 1 << 21
"""So many numbers are compared by waves at most: the waves over them are held at once."""
SCORE_PAIRS = 4
"""Ranks and distances from the middle rank, each with each."""


def independence_of_elements(names: Sequence[str], values: Array) -> list[LawResult]:
    """Whether elements `values [E, N]` that are drawn together are independent of each other; none for one element."""
    first, second = np.triu_indices(len(values), k=1)
    if not len(first):
        return []
    return [_pairs(names, values, first, second, 0, "elements drawn together")]


def independence_of_samples(names: Sequence[str], values: Array) -> list[LawResult]:
    """Whether samples `values [E, N]` are independent of earlier ones: at every lag up to N / 2, and across elements.

    The same element is compared at all lags, different elements in successive samples.
    """
    n = values.shape[-1]
    tests = [hypotheses.correlation_at_lags(later, earlier) for later, earlier in _each_with_each(_scores(values))]
    lags = np.array([int(np.argmin(test.p_value)) + 1 for test in tests])
    p_values = np.array([min(1.0, float(test.p_value.min()) * len(test.p_value)) for test in tests])

    def describe(k: int) -> tuple[str, str]:
        lag = int(lags[k])
        return f"rank correlation {tests[k].z[lag - 1] / np.sqrt(n - lag):+.4f} with the sample {lag} before", "0"

    results = [worst_result([*names] * SCORE_PAIRS, "serial correlation at any lag", p_values, describe, n)]
    first, second = np.nonzero(~np.eye(len(values), dtype=bool))
    if len(first):
        results.append(_pairs(names, values, first, second, 1, "an element and another of the sample after it"))
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
    the earlier one was. So the product of two waves over both places on the line, each of which is nothing on average under
    the law, is nothing on average in every step, and that is what is tested (a martingale).

    Args:
        draws: those with a law.
        samples: of each `[N, *shape]`; sample `i` of each is from the same call.
        taken: of each, which samples count, `[N]`; None: all.
        seed: chooses the 64 elements that are looked at, of a draw that has more, the 256 of all draws, and places of
            equal values.
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
            places[held] = positions(flat[held, index], draw.law, rng)
            columns.append(places)
            names.append(element_name(draw.name, int(index), draw.shape))
            owners.append(owner)
    kept = np.sort(rng.permutation(len(columns))[:MOST_COLUMNS])
    columns, names = [columns[index] for index in kept], [names[index] for index in kept]
    owner_of = np.array(owners)[kept]
    first, second = np.nonzero(owner_of[:, None] < owner_of[None, :])
    if not len(first) or not len(columns[0]):
        return []
    placed = np.stack(columns)[:, : WAVED // len(columns)]
    z, p_values = _worst_of_pairs(*_of_products(np.nan_to_num(hypotheses.waves(placed, WAVES))), first, second)
    together = (~np.isnan(placed)).astype(float) @ (~np.isnan(placed)).T
    counts = together[first, second]

    def describe(k: int) -> tuple[str, str]:
        n = max(counts[k], 1.0)
        return f"correlation {z[k] / np.sqrt(n):+.4f}", f"0, give or take {1 / np.sqrt(n):.4f}"

    return [
        worst_result(
            _pair_names(names, first, second),
            "independence of draws made together: z-test of products of waves over the law",
            p_values,
            describe,
            int(counts[np.argmin(p_values)]),
        )
    ]


def _of_products(scores: Array) -> tuple[Array, Array]:
    """How many standard deviations sums of products of scores `[K, E, N]` lie from 0, and p-values: `[K, E, K, E]` both."""
    flat = scores.reshape(-1, scores.shape[-1])
    reach = np.abs(flat).max(axis=-1)
    spread = np.sqrt((flat**2) @ (flat**2).T)
    z, reaches = (
        np.divide(matrix, spread, out=np.zeros_like(spread), where=spread > 0)
        for matrix in (flat @ flat.T, np.outer(reach, reach))
    )
    shape = 2 * scores.shape[:2]
    return z.reshape(shape), hypotheses.bernstein_p(z, reaches).reshape(shape)


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
    for left, right in _each_with_each(_scores(values)):
        side_by_side = np.zeros((2, *taken.shape))
        side_by_side[:, taken] = left, right
        test = hypotheses.correlation_at_distances(side_by_side[0], side_by_side[1], pairs)
        worst = int(np.argmin(test.p_value))
        p_values.append(min(1.0, float(test.p_value[worst]) * len(test.p_value)))
        distances.append(worst + 1)
        correlations.append(float(test.z[worst]) / np.sqrt(max(pairs[worst], 1.0)))
    return [
        worst_result(
            [*names] * SCORE_PAIRS,
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
    return [_pairs(names, values, first, second, 0, "a draw and the action")]


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
    """Of values `[E, N]` ranks and distances from the middle rank, `[E, N]` both."""
    scores = hypotheses.rank_scores(values)
    return scores, hypotheses.folded(scores)


def _each_with_each(families: tuple[Array, Array]) -> Iterator[tuple[Array, Array]]:
    """Scores `[N]` of an element with scores of the same element: all elements for each of the four pairs of families."""
    for one, other in product(families, repeat=2):
        yield from zip(one, other, strict=True)


def _pairs(names: Sequence[str], values: Array, first: Array, second: Array, lag: int, what: str) -> LawResult:
    """The worst correlation of elements `first [P]` of `values [E, N]` with elements `second [P]`, `lag` samples later."""
    values = values[:, : WAVED // len(values)]
    n = values.shape[-1] - lag
    scores = hypotheses.standardised(hypotheses.waves((hypotheses.midranks(values) - 0.5) / values.shape[-1], WAVES))
    flat = scores.reshape(-1, values.shape[-1])
    reach = np.abs(flat).max(axis=-1)
    z = flat[:, :n] @ flat[:, lag:].T / np.sqrt(n)
    p_values = hypotheses.bernstein_p(z, np.outer(reach, reach) / np.sqrt(n))
    shape = 2 * scores.shape[:2]
    found, worst = _worst_of_pairs(z.reshape(shape), p_values.reshape(shape), first, second)
    return worst_result(
        _pair_names(names, first, second),
        f"independence of {what}: z-test of the correlation of waves over the ranks",
        worst,
        lambda k: (f"correlation {found[k] / np.sqrt(n):+.4f}", f"0, give or take {1 / np.sqrt(n):.4f}"),
        n,
    )


def _worst_of_pairs(z: Array, p_values: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Of tests `[K, E, K, E]` the worst of each pair of elements `first [P]` and `second [P]`, corrected for its K * K."""
    tried = z.shape[0] ** 2
    of_pairs = p_values[:, first, :, second].reshape(len(first), tried)
    worst = of_pairs.argmin(axis=1)
    rows = np.arange(len(first))
    return z[:, first, :, second].reshape(len(first), tried)[rows, worst], np.minimum(
        1.0, of_pairs[rows, worst] * tried
    )


def _pair_names(names: Sequence[str], first: Array, second: Array) -> list[str]:
    return [f"{names[i]} with {names[j]}" for i, j in zip(first, second, strict=True)]
