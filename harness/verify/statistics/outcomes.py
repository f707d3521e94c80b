"""Whether the episodes of two environments follow one law: what is left to compare where draws are not shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count

import numpy as np

from harness.errors import TaskError
from harness.model import REWARD, Array, Trajectory, is_reward
from harness.task.contract import LAW_EPISODES
from harness.verify.statistics.comparisons import (
    Columns,
    LawResult,
    chosen,
    compare_columns,
    compare_dependence,
    element_name,
    orderable,
)


def compare_outcomes(
    reference: Sequence[Trajectory], candidate: Sequence[Trajectory], leaves: Iterable[str], *, seed: int = 0
) -> list[LawResult]:
    """Whether the episodes of two environments follow one law, as far as these tests can see.

    Compared are how long episodes last and how they end, returns, and at rows 0, 1, 2, 5, 10, 20, 50 ... each leaf's
    values, their change since the row before, and how all leaves' elements depend on each other, as long as 20 episodes
    of each side reach the row. At most 64 elements of a leaf are looked at; `seed` chooses them.

    Args:
        reference, candidate: independent episodes under one policy, with the same horizon.
        leaves: the paths to compare; each is in every trajectory, and so are rewards, terminated and truncated.

    Raises:
        TaskError: a side has fewer than 20 episodes.
    """
    sides = (reference, candidate)
    if min(len(side) for side in sides) < LAW_EPISODES:
        raise TaskError(
            f"{len(reference)} episodes of the reference and {len(candidate)} of the candidate tell too little of a law",
            where="task.toml: budgets.episodes",
            next_step=f"raise it so that each side plays at least {LAW_EPISODES} episodes in each comparison",
        )
    paid = filter(is_reward, reference[0].leaves)
    paths, rng = list(leaves), np.random.default_rng(seed)

    def columns_of(name: str, value: Callable[[Trajectory], Array], among: Sequence[Sequence[Trajectory]]) -> Columns:
        expected, actual = (np.stack([value(t) for t in side]) for side in among)
        return _varying(name, expected, actual, rng)

    wholes = [
        columns_of("episode length", lambda t: np.array(t.steps), sides),
        columns_of("end of the episode (1 terminated, 2 truncated, 3 both)", _ending, sides),
        *(columns_of(path.replace(REWARD, "return"), partial(_return, path), sides) for path in paid),
    ]
    results = [compare_columns(columns) for columns in wholes]
    for timestep in _timesteps():
        going = [[t for t in side if t.timesteps > timestep] for side in sides]
        if min(len(side) for side in going) < LAW_EPISODES:
            break
        values = [columns_of(f"row {timestep}: {path}", partial(_value_at, path, timestep), going) for path in paths]
        results += [compare_columns(columns) for columns in values]
        together = _some(values, rng)
        if len(together.names) > 1:
            results.append(compare_dependence(together))
        if timestep:
            for path in paths:
                change = columns_of(f"row {timestep}: change of {path}", partial(_change_at, path, timestep), going)
                results.append(compare_columns(change))
    return results


def _timesteps() -> Iterator[int]:
    yield 0
    for power in count():
        yield from (digit * 10**power for digit in (1, 2, 5))


def _return(path: str, trajectory: Trajectory) -> Array:
    return trajectory.leaves[path].sum(axis=0, dtype=np.float64)


def _ending(trajectory: Trajectory) -> Array:
    return trajectory.leaves["terminated"][-1] + 2 * trajectory.leaves["truncated"][-1].astype(np.int64)


def _value_at(path: str, timestep: int, trajectory: Trajectory) -> Array:
    return trajectory.leaves[path][timestep]


def _change_at(path: str, timestep: int, trajectory: Trajectory) -> Array:
    before, after = trajectory.leaves[path][timestep - 1 : timestep + 1].astype(np.float64)
    with np.errstate(invalid="ignore"):  # infinity less infinity is NaN, which is a value like any other here
        return after - before


def _varying(name: str, reference: Array, candidate: Array, rng: np.random.Generator) -> Columns:
    """Samples `[N, *shape]` as columns: at most 64 of the elements that vary, or the first one if none does."""
    shape = reference.shape[1:]
    a, b = reference.reshape(len(reference), -1), candidate.reshape(len(candidate), -1)
    varying = np.flatnonzero((a != a[:1]).any(axis=0) | (b != a[:1]).any(axis=0))
    if not len(varying):
        varying = np.arange(min(1, a.shape[1]))
    looked_at = varying[chosen(len(varying), rng)]
    return Columns(a[:, looked_at].T, b[:, looked_at].T, [element_name(name, int(i), shape) for i in looked_at])


def _some(several: Sequence[Columns], rng: np.random.Generator) -> Columns:
    """At most 64 of the columns of all."""
    names = [name for columns in several for name in columns.names]
    looked_at = chosen(len(names), rng)
    a = np.concatenate([orderable(columns.reference) for columns in several])[looked_at]
    b = np.concatenate([orderable(columns.candidate) for columns in several])[looked_at]
    return Columns(a, b, [names[i] for i in looked_at])
