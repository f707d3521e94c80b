"""Counts how far floats are off, while they are compared: histograms that need little memory, however much is compared.

A bucket is an eighth of an octave, of absolute distances and of distances in units in the last place alike. Counts add up,
so that portions and their order make no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from harness.compare import ulps_apart
from harness.deviations import SHARES, Deviation, Spread
from harness.model import Array
from harness.task.contract import Tolerance

_BUCKET = 52 - 3
"""A float64's bits without these are its exponent and three more: eight buckets to an octave."""


class DeviationCount:
    """How far the floats of a level are off, as it grows; `add` is a `harness.compare.Off`.

    Args:
        tolerances: the task's, by path, in absolute terms.
    """

    def __init__(self, tolerances: Mapping[str, Tolerance]) -> None:
        self._tolerances = tolerances
        self._leaves: dict[str, _Leaf] = {}

    def add(self, path: str, differing: NDArray[np.bool_], expected: Array, actual: Array) -> None:
        """Count the timesteps of one leaf.

        Args:
            differing: which elements differ in their bits, `[timesteps, *leaf shape]`.
            expected, actual: these elements on both sides, in order.
        """
        if not len(differing):
            return
        leaf = self._leaves.setdefault(path, _Leaf(self._tolerances.get(path, Tolerance())))
        leaf.timesteps += len(differing)
        if not len(expected):
            leaf.equal += len(differing)
            return
        rows = np.nonzero(differing)[0]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        leaf.equal += len(differing) - len(starts)
        with np.errstate(invalid="ignore", over="ignore"):  # what is no number is no distance away
            apart = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        known = np.isfinite(apart)
        apart = np.where(known, apart, 0.0)
        ulps = np.where(known, ulps_apart(expected, actual).astype(np.float64), 0.0)
        leaf.absolute.add(np.maximum.reduceat(apart, starts))
        leaf.ulps.add(np.maximum.reduceat(ulps, starts))
        leaf.use(apart[known], ulps[known], np.abs(expected[known].astype(np.float64)))

    def table(self) -> dict[str, Deviation]:
        """What was counted, by leaf path."""
        return {path: leaf.deviation() for path, leaf in sorted(self._leaves.items())}


class _Leaf:
    def __init__(self, tolerance: Tolerance) -> None:
        self.timesteps = self.equal = 0
        self.absolute, self.ulps = _Histogram(), _Histogram()
        self._tolerance = tolerance
        self._share = 0.0

    def use(self, apart: Array, ulps: Array, sizes: Array) -> None:
        """Take down what part of the tolerance elements use: by what forgives them most."""
        if self._tolerance.exact or not len(apart):
            return
        shares = np.full(apart.shape, np.inf)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self._tolerance.atol or self._tolerance.rtol:
                shares = apart / (self._tolerance.atol + self._tolerance.rtol * sizes)
            if self._tolerance.ulp:
                shares = np.fmin(shares, ulps / self._tolerance.ulp)
        shares = shares[np.isfinite(shares)]
        self._share = max(self._share, float(shares.max(initial=0.0)))

    def deviation(self) -> Deviation:
        share = None if self._tolerance.exact else self._share
        if self.equal == self.timesteps:
            return Deviation(self.timesteps, self.equal, share=share)
        absolute, ulps = (each.spread(self.equal, self.timesteps) for each in (self.absolute, self.ulps))
        return Deviation(self.timesteps, self.equal, absolute, ulps, share)


class _Histogram:
    """Distances of at least 0, by bucket."""

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()
        self._largest = 0.0

    def add(self, distances: Array) -> None:
        self._largest = max(self._largest, float(distances.max()))
        places = np.where(distances == 0, -1, distances.view(np.int64) >> _BUCKET)  # the end of -1 is zero itself
        buckets, counts = np.unique(places, return_counts=True)
        self._buckets.update(dict(zip(buckets.tolist(), counts.tolist(), strict=True)))

    def spread(self, zeros: int, total: int) -> Spread:
        """Quantiles of what was added and so many zeros, `total` together."""
        return Spread(*(self._at(share * total - zeros) for share in SHARES))

    def _at(self, wanted: float) -> float:
        """The end of the bucket with which so many are counted; never more than the largest."""
        if wanted <= 0:
            return 0.0
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                return min(float(np.int64((bucket + 1) << _BUCKET).view(np.float64)), self._largest)
        return self._largest
