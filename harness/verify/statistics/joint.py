"""Whether numbers are independent in more than two dimensions, and of the situation in which they were drawn.

`u3 = frac(u0 + u1)` is uniform and independent of each of the others; only three together give it away. Two kinds of test
see such things. Sums modulo one: of independent uniform numbers each signed sum is uniform again. Neighbours: a point that
is not one of many independent ones lies closer to its own kind. A third kind divides draws by the situation in which they
were made.

All work on positions in the law (`exact_laws.positions`), uniform and independent under the hypothesis, so that both have
exact null distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product

import numpy as np

from harness.model import Array
from harness.verify.statistics import hypotheses
from harness.verify.statistics.comparisons import LawResult, worst_result

SIZES = (2, 3, 4)
"""How many elements are summed."""
SUBSETS = 48
"""So many subsets of each size are looked at; all where there are no more."""
SUMMED = 4_000
"""So many samples are summed at most."""
COMPARED = 4_000
"""So many samples of each side are compared by their neighbours at most."""
DIMENSIONS = 8
"""So many elements span the space of the neighbours: in more, all points are far from each other."""
NEIGHBOURS = 5
FEWEST = 10
"""So many samples at least there have to be in a situation."""
FEW_VALUES = 64
"""A number with at most so many values divides situations at each of them."""
QUARTERED = 8
"""A number with more values than this divides situations at its quartiles, too."""
WINDOW = 3
"""So many successive samples of one element are looked at together."""


def joint_independence(names: Sequence[str], positions: Array, rng: np.random.Generator) -> list[LawResult]:
    """Whether positions `[E, N]`, each uniform on [0, 1], are independent: of each other, and of the samples around them.

    Args:
        names: of the elements.
        rng: chooses the subsets that are looked at, and the honest points that the candidate's are compared with.
    """
    results = []
    if len(positions) > 1:
        results += _together(names, positions, "elements drawn together", rng)
    windows = positions.shape[1] // WINDOW
    element = int(rng.integers(len(positions)))
    if windows > 1:
        # Windows that do not overlap are independent of each other, as the tests ask for.
        successive = positions[element, : windows * WINDOW].reshape(windows, WINDOW).T
        labels = [f"{names[element]} of sample {number}" for number in ("n", "n + 1", "n + 2")]
        results += _together(labels, successive, "successive samples", rng)
    return results


def law_in_situations(
    names: Sequence[str], positions: Array, situations: Mapping[str, Array], what: str, by: str = "law"
) -> list[LawResult]:
    """Whether positions `[E, N]` are uniform whatever the situation in which each was drawn; `by` says of what they are.

    A draw that is fixed only where it matters is drowned by all others. So the positions are divided by each number `[N]`
    that describes a situation, at each of its values where these are few, else at its quartiles.
    """
    labels: list[str] = []
    p_values: list[float] = []
    sizes: list[int] = []
    for description, numbers in situations.items():
        for label, members in _divided(numbers):
            if np.count_nonzero(members) < FEWEST:
                continue
            tested = hypotheses.ks_one_sample(np.sort(positions[:, members], axis=-1))
            labels += [f"{name} where {description} {label}" for name in names]
            p_values += np.atleast_1d(tested.p_value).tolist()
            sizes += [int(np.count_nonzero(members))] * len(names)
    if not labels:
        return []

    def describe(k: int) -> tuple[str, str]:
        return f"{sizes[k]} values there that do not follow the law", "the same law in every situation"

    return [
        worst_result(
            labels, f"{by} of {what} by situation: Kolmogorov-Smirnov test", np.array(p_values), describe, max(sizes)
        )
    ]


def _divided(numbers: Array) -> Iterator[tuple[str, Array]]:
    """The parts of samples by a number `[N]` of each: `is 3`, or `from 0.2 to 0.7`; none where all are alike."""
    values = np.unique(numbers)
    if 1 < len(values) <= FEW_VALUES:
        for value in values:
            yield f"is {value:.6g}", numbers == value
    if len(values) > QUARTERED:
        edges = np.quantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0], method="nearest")
        for low, high in pairwise(edges):
            yield f"is from {low:.6g} to {high:.6g}", (numbers >= low) & (numbers <= high)


def neighbours(names: Sequence[str], expected: Array, actual: Array, what: str, rng: np.random.Generator) -> LawResult:
    """Whether points `expected [E, N]` and `actual [E, M]` have one law, in all dimensions at once.

    Half of the points are labelled; each of the others is told by the labels of its nearest ones. The others come in pairs,
    one from each side, and under one law either of a pair is as likely to look more like the candidate's: an exact sign test
    (a classifier two-sample test, Lopez-Paz & Oquab 2017, with nearest neighbours).
    """
    from scipy.spatial import KDTree  # takes longer to import than most tests of a law take

    dimensions = np.sort(rng.permutation(len(actual))[:DIMENSIONS])
    count = max(1, min(expected.shape[1], actual.shape[1], COMPARED) // 2)
    sides = [side[dimensions][:, rng.permutation(side.shape[1])[: 2 * count]].T for side in (expected, actual)]
    tree = KDTree(np.concatenate([side[:count] for side in sides]))
    near = min(NEIGHBOURS, 2 * count)
    likeness = []
    for side in sides:
        _, found = tree.query(side[count:], k=near)
        likeness.append(np.count_nonzero(np.reshape(found, (count, near)) >= count, axis=1))
    more, less = np.count_nonzero(likeness[1] > likeness[0]), np.count_nonzero(likeness[1] < likeness[0])
    p_value = float(hypotheses.binomial_p(np.array(more), np.array(more + less), np.array(0.5)))
    return LawResult(
        ", ".join(names[int(index)] for index in dimensions),
        f"nearest neighbours of {what}: sign test",
        p_value,
        f"in {more} of {more + less} pairs the candidate's point looks more like the candidate's others",
        "in about half of them",
        2 * count,
    )


def _together(names: Sequence[str], positions: Array, what: str, rng: np.random.Generator) -> list[LawResult]:
    honest = rng.random((len(positions), min(positions.shape[1], COMPARED)))
    return [
        *_sums(names, positions[:, :SUMMED], what, rng),
        neighbours(names, honest, positions, what, rng),
    ]


def _sums(names: Sequence[str], positions: Array, what: str, rng: np.random.Generator) -> Iterator[LawResult]:
    """Signed sums modulo one of two, three and four elements; the first sign is +, since a turned sum shows the same."""
    for size in SIZES:
        subsets = list(combinations(range(len(positions)), size))
        if not subsets:
            continue
        if len(subsets) > SUBSETS:
            subsets = [subsets[index] for index in sorted(rng.choice(len(subsets), SUBSETS, replace=False))]
        signs = [(1, *others) for others in product((1, -1), repeat=size - 1)]
        labels = []
        sums = []
        for subset, sign in product(subsets, signs):
            sums.append(np.mod(np.asarray(sign) @ positions[list(subset)], 1.0))
            terms = [f"{'+' if plus > 0 else '-'} {names[index]}" for index, plus in zip(subset, sign, strict=True)]
            labels.append(" ".join(terms).removeprefix("+ "))
        tested = hypotheses.ks_one_sample(np.sort(np.stack(sums), axis=-1))
        yield worst_result(
            labels,
            f"sums modulo one of {size} {what}: Kolmogorov-Smirnov test",
            tested.p_value,
            lambda k, tested=tested: (f"{tested.distance[k]:.4f} from uniform", "0, as for independent numbers"),
            positions.shape[1],
        )
