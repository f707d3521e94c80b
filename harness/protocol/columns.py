"""Cases and episodes in columns: each leaf of many of them as one array, stacked end to end (docs/protocol.md, Columns).

Most cases are short, and one by one they cost more on the wire than their steps do in the environment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import BadAnswer
from harness.model import Array, Case, Leaf, Leaves
from harness.protocol.spec import check_arrays, tape_to_wire

COLUMNS = "columns"
"""The capability, and the argument that asks for it."""


def packed(cases: Sequence[Case]) -> dict[str, Any] | None:
    """Cases as a request carries them; None where their leaves do not fit together, as wrong ones may not."""
    actions = _stacked([case.actions for case in cases])
    started = [index for index, case in enumerate(cases) if case.start is not None]
    starts = _stacked(
        [{path: np.asarray(value)[None] for path, value in (cases[i].start or {}).items()} for i in started]
    )
    if actions is None or starts is None:
        return None
    return {
        "seeds": np.array([case.seed for case in cases], np.int64),
        "lengths": np.array([case.length for case in cases], np.int64),
        "actions": actions,
        "started": np.array(started, np.int64),
        "starts": starts,
        "draws": [[index, tape_to_wire(case.draws)] for index, case in enumerate(cases) if case.draws is not None],
    }


def unpacked(
    answer: Any, outputs: Mapping[str, Leaf], actions: Mapping[str, Leaf], where: str
) -> Iterator[dict[str, Any]]:
    """The episodes of an answer, each as it would come alone, with read-only views of the columns.

    Args:
        outputs: the leaves that each timestep has.
        actions: the action leaves where the worker chose them, otherwise empty.

    Raises:
        BadAnswer: the columns are not as declared, or do not fit together.
    """
    parts = answer.get("parts") if isinstance(answer, dict) else None
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise BadAnswer("an answer without parts", where=where, expected="columns, as they were asked for")
    for part in parts:
        timesteps = check_arrays(part.get("leaves"), outputs, where)
        lengths, draws = part.get("timesteps"), part.get("draws")
        if not _are_lengths(lengths, timesteps) or not isinstance(draws, list) or len(draws) != len(lengths):
            raise BadAnswer(
                "its episodes do not fit together",
                where=where,
                expected="a length and draws for each, and their timesteps",
            )
        if actions:
            check_arrays(part.get("actions"), actions, f"{where}, actions", timesteps - len(lengths))
        end = 0
        for number, (length, drawn) in enumerate(zip(lengths.tolist(), draws, strict=True)):
            begin, end = end, end + length
            episode = {"leaves": _cut(part["leaves"], begin, end), "draws": drawn}
            yield episode | ({"actions": _cut(part["actions"], begin - number, end - number - 1)} if actions else {})


def _stacked(each: Sequence[Leaves]) -> Leaves | None:
    """Leaves end to end; None where they have other paths, dtypes or shapes."""
    paths = each[0].keys() if each else ()
    if any(leaves.keys() != paths for leaves in each):
        return None
    columns = {path: [leaves[path] for leaves in each] for path in paths}
    if any(len({(array.dtype, array.shape[1:]) for array in arrays}) > 1 for arrays in columns.values()):
        return None
    return {path: np.concatenate(arrays) for path, arrays in columns.items()}


def _are_lengths(lengths: Any, timesteps: int) -> bool:
    """Whether these are lengths of episodes, each of one timestep at least, that are so long together."""
    if not isinstance(lengths, np.ndarray) or lengths.dtype != np.int64 or lengths.ndim != 1:
        return False
    return bool(((lengths >= 1) & (lengths <= timesteps)).all()) and sum(lengths.tolist()) == timesteps


def _cut(leaves: Leaves, begin: int, end: int) -> dict[str, Array]:
    return {path: array[begin:end] for path, array in leaves.items()}
