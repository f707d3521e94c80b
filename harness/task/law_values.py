"""Values of draws within their laws."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from harness.task.contract import Law, TaskDraw

FAR = 1e-12
"""Of a law without ends this quantile and its counterpart are the ends."""
STANDARD = NormalDist()


def ends(draw: TaskDraw) -> tuple[Any, Any]:
    """The lowest and the highest value of a draw's law, in the draw's dtype."""
    law, dtype = draw.law, np.dtype(draw.dtype)
    assert law is not None
    if law.kind == "uniform":
        low, high = dtype.type(law.low), dtype.type(law.high)
        return low, np.nextafter(high, low)
    if law.kind == "integers":
        first, last = integer_bounds(law, dtype)
        return dtype.type(first), dtype.type(last)
    if law.kind == "categorical":
        possible = np.flatnonzero(np.array(law.probabilities) > 0)
        return dtype.type(possible[0]), dtype.type(possible[-1])
    return at_quantile(draw, FAR), at_quantile(draw, 1 - FAR)


def at_quantile(draw: TaskDraw, quantile: float) -> Any:
    """The value of a draw's law at a quantile between 0 and 1, in the draw's dtype."""
    law, dtype = draw.law, np.dtype(draw.dtype)
    assert law is not None
    if law.kind == "normal":
        return dtype.type(law.mean + law.std * STANDARD.inv_cdf(quantile))
    low, high = ends(draw)
    if law.kind == "categorical":
        shares = np.cumsum(law.probabilities) / sum(law.probabilities)
        return dtype.type(np.searchsorted(shares, quantile, side="right").clip(low, high))
    if law.kind == "integers":
        return dtype.type(int(low) + min(int(quantile * (int(high) - int(low) + 1)), int(high) - int(low)))
    return np.clip(dtype.type(law.low + quantile * (law.high - law.low)), low, high)


def integer_bounds(law: Law, dtype: np.dtype) -> tuple[int, int]:
    """First and last integer of a law; what a float cannot say exactly of a 64-bit range, the dtype does."""
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype)
    return max(int(law.low), int(info.min)), min(int(law.high), int(info.max))
