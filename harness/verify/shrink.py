"""Making a counterexample small: fewer actions, plainer values. What is tried is tried in batches, to save round trips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.model import Array, Case, Leaf, Leaves

Judge = Callable[[Sequence[Case]], Sequence[bool]]
"""Which of several cases still fail."""

MAX_BATCH = 16


def shortest(case: Case, fails: Judge) -> Case:
    """A case with as few of the actions as a deletion of chunks can find (Zeller's ddmin, in batches).

    `case` itself must fail, and so does the answer.
    """
    chunk = max(1, case.length // 2)
    while case.length > 0:
        shorter = next(_failing(_without_chunks(case, chunk), fails), None)
        if shorter is not None:
            case = shorter
            chunk = min(chunk, max(1, case.length // 2))
        elif chunk == 1:
            break
        else:
            chunk //= 2
    return case


def plainest(values: Leaves, specs: Mapping[str, Leaf], fails: Callable[[Sequence[Leaves]], Sequence[bool]]) -> Leaves:
    """The same leaves with plainer values (zero, whole, few decimals), as long as they still fail.

    Only leaves whose spec states bounds are touched, and only within them: elsewhere nobody said what is possible.
    """
    current = dict(values)
    for path in values:
        spec = specs.get(path)
        if spec is None or (spec.low is None and np.dtype(spec.dtype).kind != "b"):
            continue
        proposals = [{**current, path: plainer} for plainer in _plainer(current[path], spec)]
        verdicts = fails(proposals) if proposals else []
        current = next((p for p, failed in zip(proposals, verdicts, strict=True) if failed), current)
    return current


def _failing(cases: Iterator[Case], fails: Judge) -> Iterator[Case]:
    batch: list[Case] = []
    for case in cases:
        batch.append(case)
        if len(batch) == MAX_BATCH:
            yield from (case for case, failed in zip(batch, fails(batch), strict=True) if failed)
            batch = []
    if batch:
        yield from (case for case, failed in zip(batch, fails(batch), strict=True) if failed)


def _without_chunks(case: Case, chunk: int) -> Iterator[Case]:
    for start in range(0, case.length, chunk):
        keep = np.r_[0:start, min(start + chunk, case.length) : case.length].astype(int)
        yield replace(case, actions={path: array[keep] for path, array in case.actions.items()}, draws=None)


def _plainer(value: Array, spec: Leaf) -> list[Array]:
    proposals: list[Any] = [np.zeros_like(value)]
    if value.dtype.kind == "f":
        proposals += [np.round(value, decimals) for decimals in (0, 1, 2, 4)]
    elif value.dtype.kind in "iu":
        proposals += [np.minimum(value, 1), np.minimum(value, 10)]
    fitting = []
    for proposal in (np.asarray(proposal, dtype=value.dtype) for proposal in proposals):
        inside = spec.low is None or np.all((proposal >= np.asarray(spec.low)) & (proposal <= np.asarray(spec.high)))
        if inside and not np.array_equal(proposal, value):
            fitting.append(proposal)
    return fitting
