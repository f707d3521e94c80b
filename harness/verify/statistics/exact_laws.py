"""The tests of samples against an exact law: support, values, resolution, repetition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from harness.model import Array
from harness.task.contract import Law
from harness.task.law_values import integer_bounds
from harness.verify.statistics import hypotheses
from harness.verify.statistics.comparisons import LawResult, worst_result

TABLE = 64
"""Number of integers up to which their law is always tested as a table, and not as a grid on a line."""
WIDE_TABLE = 1024
"""The same where there are enough samples for each integer."""
LATTICES = (24, 32)
"""Bits of randomness that make a float64 from a 32-bit generator; a double must have more."""
DOUBLE_BITS = 45
"""Bits of resolution that a float64 law must have over its width for the test of its low bits to mean something."""
WIDE = 1 << 20
"""Integers from so many have each of their lowest four bits as often as not, to within 1 in 2^16."""
REPEATS = 0.25
"""Expected share of repeated samples above which repetition proves nothing."""


def outside_support(names: Sequence[str], values: Array, law: Law) -> LawResult | None:
    """The first of the values `[E, N]` that the law excludes, or None.

    The open upper end of a uniform law is not judged here: coarse floats may round up to it, so it has its own test.
    """
    wrong = ~is_possible(values, law)
    if not wrong.any():
        return None
    if law.kind == "uniform":
        expected = f"{law.low} <= value < {law.high}"
    elif law.kind == "normal":
        expected = "a finite value"
    elif law.kind == "integers":
        first, last = integer_bounds(law, values.dtype)
        expected = f"an integer from {first} to {last}"
    else:
        possible = np.count_nonzero(np.array(law.probabilities) > 0)
        expected = f"one of the {possible} values with a probability above 0"
    element, sample = (int(i) for i in np.argwhere(wrong)[0])
    observed = f"{values[element, sample].item()!r}, sample {sample}; {wrong.sum()} such values"
    return LawResult(names[element], "support of the law", 0.0, observed, expected, values.shape[-1])


def is_possible(values: Array, law: Law) -> Array:
    """Which of some values the law allows; the open upper end of a uniform law counts as allowed."""
    if law.kind == "uniform":
        # The bounds in the draw's own precision: float32(-0.05) is below -0.05 and is meant all the same.
        return (values >= np.asarray(law.low, values.dtype)) & (values <= np.asarray(law.high, values.dtype))
    if law.kind == "normal":
        return np.isfinite(values)
    if law.kind == "integers":
        first, last = integer_bounds(law, values.dtype)
        return (values >= first) & (values <= last)
    return np.isin(values, np.flatnonzero(np.array(law.probabilities) > 0))


def follows_law(names: Sequence[str], values: Array, law: Law) -> list[LawResult]:
    """Each element of the values `[E, N]`, all inside the support, against the law: one result for each kind of test."""
    if law.kind in ("uniform", "normal"):
        return _continuous(names, values, law)
    if law.kind == "categorical":
        probabilities = np.array(law.probabilities) / sum(law.probabilities)
        return _table(names, values, [f"value {k}" for k in range(len(probabilities))], probabilities)
    first, span, offsets = _offsets(values, law)
    if span <= TABLE or (span <= WIDE_TABLE and span * hypotheses.MINIMUM_EXPECTED <= values.shape[-1]):
        return _table(names, offsets, [f"value {first + k}" for k in range(span)], np.full(span, 1.0 / span))
    return _grid(names, offsets, first, span)


def positions(values: Array, law: Law, rng: np.random.Generator) -> Array:
    """Where values `[E, N]`, all inside the support, lie in the law: float64, uniform on [0, 1) if they follow it.

    Each value of a discrete law, and each step of coarse floats, is a stretch of [0, 1), in which `rng` chooses a place.
    """
    somewhere = rng.random(values.shape)
    if law.kind in ("uniform", "normal"):
        steps = (somewhere - 0.5) * _resolution(law, values.dtype)
        return np.mod(_distribution_function(values.astype(np.float64), law) + steps, 1.0)
    if law.kind == "categorical":
        ends = np.concatenate([[0.0], np.cumsum(law.probabilities)]) / sum(law.probabilities)
        below, above = ends[values.astype(np.intp)], ends[values.astype(np.intp) + 1]
        return below + somewhere * (above - below)
    _, span, offsets = _offsets(values, law)
    return np.mod((offsets.astype(np.float64) + somewhere) / span, 1.0)


def low_positions(values: Array, law: Law, rng: np.random.Generator) -> Array | None:
    """The lowest four bits of integers `[E, N]` from a wide range as `positions`; None of other laws.

    The lowest bit comes first: most often it is the parity that counts.
    """
    if law.kind != "integers":
        return None
    _, span, offsets = _offsets(values, law)
    if span < WIDE:
        return None
    bits = [(offsets >> np.uint64(bit) & np.uint64(1)).astype(np.float64) for bit in range(4)]
    return (8 * bits[0] + 4 * bits[1] + 2 * bits[2] + bits[3] + rng.random(values.shape)) / 16.0


def repeated_samples(name: str, flat: Array, law: Law) -> list[LawResult]:
    """Equal samples among `flat [N, size]` of a vector draw: its elements may each repeat, all together hardly ever."""
    size = flat.shape[1]
    if size < 2:
        return []
    if law.kind == "categorical":
        probabilities = np.array(law.probabilities) / sum(law.probabilities)
        chance = float((probabilities**2).sum())
    elif law.kind == "integers":
        first, last = integer_bounds(law, flat.dtype)
        chance = 1.0 / (last - first + 1)
    else:
        chance = _resolution(law, flat.dtype)
    rows = np.sort(np.ascontiguousarray(flat).view(np.dtype((np.void, flat.dtype.itemsize * size)))[:, 0])
    return _repeated_values([name], rows[None], chance**size)


def _table(names: Sequence[str], cells: Array, labels: Sequence[str], probabilities: Array) -> list[LawResult]:
    """Cells `[E, N]`, 0 .. K - 1, against exact probabilities `[K]`: all counts together, and each alone.

    Alone, because a rare value that comes ten times too often drowns in a table.
    """
    n = cells.shape[-1]
    counts = np.stack([np.bincount(row.astype(np.intp), minlength=len(labels)) for row in cells])
    alone = hypotheses.binomial_p(counts, np.array(n), probabilities)
    oddest = np.argmin(alone, axis=-1)

    def describe(element: int) -> tuple[str, str]:
        k = int(oddest[element])
        return f"{labels[k]}: {counts[element, k]} times of {n}", f"about {n * probabilities[k]:.1f} times"

    together = np.array([hypotheses.g_test(row, probabilities).p_value for row in counts])
    single = np.minimum(1.0, alone.min(axis=-1) * len(labels))
    return [
        worst_result(names, "G-test of a table of counts", together, describe, n),
        worst_result(names, "binomial test of how often one value occurs", single, describe, n),
    ]


def _grid(names: Sequence[str], offsets: Array, first: int, span: int) -> list[LawResult]:
    """Integers from a wide range as offsets `[E, N]` from its start: on the line, and bit by bit."""
    n = offsets.shape[-1]
    ordered = np.sort(offsets, axis=-1)
    results = _on_the_line(names, ordered + np.float64(first), (ordered + 0.5) / span, 1.0 / span)
    bits = [
        np.count_nonzero((offsets >> np.uint64(bit)) & np.uint64(1), axis=-1) for bit in range((span - 1).bit_length())
    ]
    # Of 0 .. span - 1 each full period of 2^(bit + 1) has half its numbers with the bit set, at its end.
    set_in_span = [
        (span >> (bit + 1) << bit) + max(0, (span & ((2 << bit) - 1)) - (1 << bit)) for bit in range(len(bits))
    ]
    shares = np.array([number / span for number in set_in_span])
    counts = np.stack(bits, axis=-1)
    alone = hypotheses.binomial_p(counts, np.array(n), shares)
    oddest = np.argmin(alone, axis=-1)
    results.append(
        worst_result(
            names,
            "binomial test of each bit",
            np.minimum(1.0, alone.min(axis=-1) * len(bits)),
            lambda e: (
                f"bit {oddest[e]} of value - {first} set {counts[e, oddest[e]]} times of {n}",
                f"about {n * shares[oddest[e]]:.1f} times",
            ),
            n,
        )
    )
    residues = np.array([(span - k + 15) // 16 / span for k in range(16)])
    edges = [-(-k * span // 16) for k in range(17)]
    sixteenths = np.diff(np.array([edge / span for edge in edges]))
    high = np.searchsorted(np.array(edges[1:16], dtype=np.uint64), offsets, side="right")
    families = (
        ("lowest four bits", "value - {first} modulo 16 is {k}", offsets & np.uint64(15), residues),
        ("sixteenths of the range", "values in sixteenth {k}", high, sixteenths),
    )
    for what, label, cells, probabilities in families:
        table, _ = _table(names, cells, [label.format(first=first, k=k) for k in range(16)], probabilities)
        results.append(LawResult(table.name, f"G-test of the {what}", table.p_value, table.observed, table.expected, n))
    results += _repeated_values(names, ordered, 1.0 / span)
    return results


def _continuous(names: Sequence[str], values: Array, law: Law) -> list[LawResult]:
    """Floats `[E, N]` against a uniform or normal law."""
    ordered = np.sort(values, axis=-1)
    doubles = ordered.astype(np.float64)
    positions = _distribution_function(doubles, law)
    spacing, resolution = _spacing(law, values.dtype), _resolution(law, values.dtype)
    results = _on_the_line(names, doubles, positions, resolution)
    if law.kind == "uniform":
        results.append(_upper_end(names, ordered, law, spacing))
    if values.dtype == np.float64 and spacing <= 2.0**-DOUBLE_BITS:
        results += _double_resolution(names, doubles, positions)
    return results + _repeated_values(names, ordered, resolution)


def _on_the_line(names: Sequence[str], ordered: Array, positions: Array, resolution: float) -> list[LawResult]:
    """Ascending values `[E, N]` whose `positions` (the law's distribution function) should be uniform on [0, 1].

    `resolution` is the step of the grid on which the positions lie.
    """
    n = positions.shape[-1]
    ks = hypotheses.ks_one_sample(positions, resolution)

    def where(e: int) -> tuple[str, str]:
        k = int(ks.where[e])
        share = max(k / n, (k + 1) / n, key=lambda share: abs(share - positions[e, k]))
        return f"{share:.3%} of values up to {ordered[e, k]:.6g}", f"{positions[e, k]:.3%}"

    centred = positions - 0.5
    means, spreads = centred.mean(axis=-1), (centred * centred).mean(axis=-1)
    # On [-1/2, 1/2], a value has standard deviation sqrt(1/12), its square has mean 1/12 and deviation sqrt(1/180).
    location = hypotheses.bernstein_p(np.maximum(np.abs(means) - resolution, 0.0) * np.sqrt(12.0 * n), np.sqrt(3.0 / n))
    spread = hypotheses.bernstein_p(
        np.maximum(np.abs(spreads - 1.0 / 12.0) - resolution, 0.0) * np.sqrt(180.0 * n), np.sqrt(5.0 / n)
    )
    ends = np.stack([positions[:, 0], 1.0 - positions[:, -1]])
    # The nearest of n uniform values is farther than d from the end with chance (1 - d)^n.
    with np.errstate(divide="ignore"):
        too_far = np.exp(n * np.log1p(-np.maximum(ends - resolution, 0.0)))
        too_near = -np.expm1(n * np.log1p(-np.minimum(ends + resolution, 1.0)))
    extremes = np.minimum(1.0, 4.0 * np.minimum(too_far, too_near).min(axis=0))
    return [
        worst_result(names, "Kolmogorov-Smirnov test", ks.p_value, where, n),
        worst_result(
            names,
            "z-test of location",
            location,
            lambda e: (f"mean position in the law {0.5 + means[e]:.5f}", "0.5"),
            n,
        ),
        worst_result(
            names,
            "z-test of scale",
            spread,
            lambda e: (f"standard deviation of positions in the law {np.sqrt(spreads[e]):.5f}", "0.28868"),
            n,
        ),
        worst_result(
            names,
            "exact test of the extremes",
            extremes,
            lambda e: (
                f"values from {ordered[e, 0]:.6g} to {ordered[e, -1]:.6g}, "
                f"which leaves {ends[0, e]:.3g} and {ends[1, e]:.3g} of the law beyond them",
                f"about {1 / n:.3g} at each end",
            ),
            n,
        ),
    ]


def _upper_end(names: Sequence[str], ordered: Array, law: Law, spacing: float) -> LawResult:
    """The upper end itself is excluded, but coarse floats may round up to it: as often as rounding explains, no more."""
    n = ordered.shape[-1]
    at_end = np.count_nonzero(ordered == np.asarray(law.high, ordered.dtype), axis=-1)
    p_values = hypotheses.binomial_tail(at_end, n, spacing)
    return worst_result(
        names,
        "binomial test of the excluded upper end",
        p_values,
        lambda e: (f"{law.high} {at_end[e]} times of {n}", f"value < {law.high}; {n * spacing:.2g} times by rounding"),
        n,
    )


def _double_resolution(names: Sequence[str], values: Array, positions: Array) -> list[LawResult]:
    """Whether float64 values have a double's randomness, and not that of a 32-bit generator or of float32 arithmetic.

    A candidate that samples in float32 has 2^23 values where its reference has 2^52. No test of the values' size can
    see it, yet it is another law: values repeat, and some lie on bounds that a double practically never meets.
    """
    n = values.shape[-1]
    results = []
    for bits in LATTICES:
        remainders = np.sort(np.mod(positions * 2.0**bits, 1.0), axis=-1)
        ks = hypotheses.ks_one_sample(remainders, 2.0 ** (bits - DOUBLE_BITS))
        results.append(
            worst_result(
                names,
                f"lattice test: randomness below 2^-{bits} of the law's width",
                ks.p_value,
                lambda e, bits=bits, ks=ks: (
                    f"what is left of values on a lattice of 2^{bits} points is {ks.distance[e]:.3f} from uniform",
                    "about 0; 0.5 to 1 is what sampling in float32 or from 32 random bits gives",
                ),
                n,
            )
        )
    with np.errstate(over="ignore"):
        single = np.count_nonzero(values.astype(np.float32) == values, axis=-1)
    # Of the doubles k * 2^-53, about 30 in 2^30 fit a float32.
    results.append(
        worst_result(
            names,
            "binomial test of values that fit a float32",
            hypotheses.binomial_tail(single, n, 2.0**-24),
            lambda e: (f"{single[e]} of {n} values are float32 values", "about none: sample in float64"),
            n,
        )
    )
    return results


def _repeated_values(names: Sequence[str], ordered: Array, chance: float) -> list[LawResult]:
    """Equal values among ascending values `[E, N]`, of which two are equal with at most this chance."""
    n = ordered.shape[-1]
    if n * chance > REPEATS:
        return []
    pairs = np.array([_equal_pairs(row) for row in ordered])
    mean = 0.5 * n * (n - 1) * chance
    return [
        worst_result(
            names,
            "Poisson test of repeated values",
            hypotheses.poisson_tail(pairs, mean),
            lambda e: (f"{pairs[e]} pairs of equal values among {n}", f"about {mean:.3g} or fewer"),
            n,
        )
    ]


def _equal_pairs(ordered: Array) -> int:
    """The number of pairs of equal values in ascending order."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    lengths = np.diff(starts)
    return int((lengths * (lengths - 1) // 2).sum())


def _distribution_function(values: Array, law: Law) -> Array:
    """The chance of at most each of the float64 `values` under a uniform or normal law."""
    if law.kind == "uniform":
        return np.clip((values - law.low) / (law.high - law.low), 0.0, 1.0)
    return special.ndtr((values - law.mean) / law.std)


def _offsets(values: Array, law: Law) -> tuple[int, int, Array]:
    """The first integer of a law, how many it has, and values as offsets from the first: exact for any range of 64 bits."""
    first, last = integer_bounds(law, values.dtype)
    return first, last - first + 1, values.astype(np.uint64) - np.uint64(first % 2**64)  # wraps


def _spacing(law: Law, dtype: np.dtype) -> float:
    """The widest gap between neighbouring floats in a uniform or normal law, as a share of the law's width."""
    if law.kind == "uniform":
        width, extent = law.high - law.low, max(abs(law.low), abs(law.high))
    else:
        width, extent = 2.5 * law.std, abs(law.mean) + 6.0 * law.std  # as dense as a uniform law of this width
    return min(1.0, float(np.spacing(np.asarray(extent, dtype))) / width)


def _resolution(law: Law, dtype: np.dtype) -> float:
    """The most that one value's probability can be: a generator's step, blurred by the floats' own."""
    return min(1.0, float(np.finfo(dtype).eps) + _spacing(law, dtype))
