"""Cases that come in columns, and episodes that are answered in them (docs/protocol.md, Columns).

A candidate plays cases one by one or in batches of its own; on the wire thousands of small arrays would take longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.protocol.worker import PART_BYTES

Case = dict[str, Any]
Answer = dict[str, Any]


def cases_of(columns: Mapping[str, Any]) -> list[Case]:
    """The cases of a request in columns, each as it would come alone."""
    ends = np.cumsum(columns["lengths"]).tolist()
    draws = dict(columns["draws"])
    cases = []
    for index, (seed, begin, end) in enumerate(zip(columns["seeds"].tolist(), [0, *ends], ends, strict=False)):
        case = {"seed": seed, "actions": {path: array[begin:end] for path, array in columns["actions"].items()}}
        cases.append(case | ({"draws": draws[index]} if index in draws else {}))
    for row, index in enumerate(columns["started"].tolist()):
        cases[index]["start"] = {path: array[row] for path, array in columns["starts"].items()}
    return cases


def in_columns(answers: Sequence[Answer]) -> Answer:
    """Episodes that were to be answered one by one, stacked end to end."""
    return {"parts": [_stacked(part) for part in _parts(answers)]}


def _parts(answers: Sequence[Answer]) -> Iterator[list[Answer]]:
    """Episodes of about `PART_BYTES` together: whoever keeps one of them keeps them all."""
    part: list[Answer] = []
    left = PART_BYTES
    for answer in answers:
        part.append(answer)
        left -= sum(array.nbytes for array in answer["leaves"].values())
        if left < 0:
            yield part
            part, left = [], PART_BYTES
    if part:
        yield part


def _stacked(answers: Sequence[Answer]) -> Answer:
    leaves = {path: [answer["leaves"][path] for answer in answers] for path in answers[0]["leaves"]}
    return {
        "timesteps": np.array([len(array) for array in next(iter(leaves.values()))], np.int64),
        "leaves": {path: np.concatenate(arrays) for path, arrays in leaves.items()},
        "draws": [answer["draws"] for answer in answers],
    }
