"""Probes with so few possible inputs that all of them are asked.

A sample says little of the values that it left out; where there are few, nothing is left out and the verdict says so. Inputs
are numbered: the digits of an index, each in the base of how many values one element has, are the elements' offsets from
their lowest value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from harness.model import Array, Leaf
from harness.task.contract import TaskProbe

MESSAGE_BYTES = 1 << 24
"""So many bytes of inputs go into one message at most."""


@dataclass(frozen=True)
class _Digits:
    """The elements of one leaf: the lowest value of each, `low [E]`, and how many values each has, `counts [E]`."""

    leaf: Leaf
    low: Array
    counts: tuple[int, ...]


def count_inputs(probe: TaskProbe, most: int) -> int | None:
    """How many inputs a probe has; None if they are more than `most`, or not countable (floats, leaves without bounds)."""
    total = 1
    for leaf in probe.inputs.values():
        digits = _digits(leaf)
        if digits is None:
            return None
        for count in digits.counts:
            total *= count
            if total > most:
                return None
    return total


def every_input(probe: TaskProbe) -> Iterator[Mapping[str, Array]]:
    """All inputs of a probe for which `count_inputs` gave a number, in order, stacked to messages."""
    digits = {name: _digits(leaf) for name, leaf in probe.inputs.items()}
    one = sum(np.dtype(leaf.dtype).itemsize * math.prod(leaf.shape) for leaf in probe.inputs.values())
    total = math.prod(count for each in digits.values() if each is not None for count in each.counts)
    size = max(1, MESSAGE_BYTES // max(one, 1))
    for first in range(0, total, size):
        left = np.arange(first, min(first + size, total))
        stacked = {}
        for name, each in digits.items():
            assert each is not None
            elements = np.empty((len(left), len(each.counts)), np.int64)
            for position, count in enumerate(each.counts):
                left, elements[:, position] = np.divmod(left, count)
            values = each.low + elements.astype(each.low.dtype)
            stacked[name] = values.astype(each.leaf.dtype).reshape(-1, *each.leaf.shape)
        yield stacked


def _digits(leaf: Leaf) -> _Digits | None:
    """How the values of a leaf are counted; None where they cannot be."""
    kind, size = np.dtype(leaf.dtype).kind, math.prod(leaf.shape)
    if kind == "b":
        return _Digits(leaf, np.zeros(size, np.int64), (2,) * size)
    if kind not in "iu" or leaf.low is None or leaf.high is None:
        return None
    # An unsigned leaf of 64 bits has bounds beyond int64.
    wide = np.uint64 if kind == "u" else np.int64
    low, high = (np.broadcast_to(np.asarray(bound, wide), leaf.shape).ravel() for bound in (leaf.low, leaf.high))
    return _Digits(leaf, low, tuple(int(top) - int(bottom) + 1 for bottom, top in zip(low, high, strict=True)))
