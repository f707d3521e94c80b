"""When two answers are the same: the one definition of equality that every level uses.

Exact means bitwise: `-0.0` is not `0.0`, and nothing but a NaN equals a NaN (whatever its payload). A float leaf
with a tolerance may be off by `atol + rtol * |expected|`, or stand `ulp` floats of its dtype away, whichever is more; an
infinity still equals only itself. Integers and booleans are always exact, whatever a tolerance says. Dtypes and shapes must
match: nothing is broadcast, cast or wrapped.

Only arrays decide. Whoever made them ran in another process, so that no `__eq__` of its own takes part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.model import Array, Draw, Leaf, Leaves, Trajectory
from harness.task.contract import Tolerance

EXACT = Tolerance()
ABSENT = "absent"
ULPS_SHOWN = 1 << 20
"""Up to here a distance in units of the last place says something about rounding."""


Off = Callable[[str, NDArray[np.bool_], Array, Array], None]
"""Told of each float leaf that is compared, by its path: which elements of the stacked leaf differ in their bits, and these
on both sides, expected and actual."""
OffHere = Callable[[NDArray[np.bool_], Array, Array], None]
"""The same of one leaf."""


@dataclass(frozen=True)
class Difference:
    """The first difference between two answers.

    Attributes:
        step: timestep of the trajectory (0 is the reset), or the index of a probe's input.
        path: leaf path, or `draw/<name>`.
        index: position inside the leaf; empty for a scalar and where the leaf differs as a whole.
        expected, actual: what is there, as text that shows what differs.
        rule: `missing`, `unexpected`, `dtype`, `shape`, `length`, `value` or `draws`.
        gap: how far a value is off, in words; empty where that means nothing.
    """

    step: int
    path: str
    index: tuple[int, ...]
    expected: str
    actual: str
    rule: str
    gap: str = ""


def compare(
    expected: Trajectory,
    actual: Trajectory,
    task_leaves: Mapping[str, Leaf],
    tolerances: Mapping[str, Tolerance],
) -> Difference | None:
    """The first difference between two trajectories of one case, or None.

    First means: the earliest timestep; inside a timestep the draws, because what was drawn explains the rest; then the
        leaves in
    the order of `task_leaves`. A leaf that either side reports beyond these must be on both sides too. Where the
    expected trajectory reports no draws (None), they are not compared.

    Args:
        task_leaves: the task's leaves; action leaves among them are no part of a trajectory and are passed over.
        tolerances: by leaf path; a leaf that is not named is exact.
    """
    paths = _paths(expected.leaves, actual.leaves, task_leaves)
    in_leaves = _first(expected.leaves, actual.leaves, paths, tolerances, "")
    in_draws = _compare_draws(expected, actual)
    if in_draws is not None and (in_leaves is None or in_draws.step <= in_leaves.step):
        return in_draws
    return in_leaves


def compare_many(
    expected: Sequence[Trajectory],
    actual: Sequence[Trajectory],
    task_leaves: Mapping[str, Leaf],
    tolerances: Mapping[str, Tolerance],
    off: Off | None = None,
) -> list[Difference | None]:
    """`compare` for each pair of trajectories, at the cost of one comparison where all are equal.

    Args:
        off: told of floats, but for those of pairs that differ in their form, their lengths or their draws.

    Raises:
        ValueError: there are not as many trajectories on both sides.
    """
    if len(expected) != len(actual):
        raise ValueError(f"{len(expected)} expected trajectories, {len(actual)} actual ones")
    suspects: set[int] = set()
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
        layout = _layout(one)
        if layout != _layout(other) or one.timesteps != other.timesteps or _compare_draws(one, other) is not None:
            suspects.add(number)
        else:
            groups.setdefault(layout, []).append(number)
    for numbers in groups.values():
        ends = np.cumsum([expected[number].timesteps for number in numbers])
        for path in _paths(expected[numbers[0]].leaves, actual[numbers[0]].leaves, task_leaves):
            if path not in expected[numbers[0]].leaves:
                suspects.update(numbers)
                continue
            timesteps = differing_timesteps(
                np.concatenate([expected[number].leaves[path] for number in numbers]),
                np.concatenate([actual[number].leaves[path] for number in numbers]),
                tolerances.get(path, EXACT),
                None if off is None else partial(off, path),
            )
            for position in np.unique(np.searchsorted(ends, np.flatnonzero(timesteps), side="right")):
                suspects.add(numbers[position])
    return [
        compare(one, other, task_leaves, tolerances) if number in suspects else None
        for number, (one, other) in enumerate(zip(expected, actual, strict=True))
    ]


def compare_leaves(
    expected: Leaves, actual: Leaves, tolerances: Mapping[str, Tolerance], prefix: str = ""
) -> Difference | None:
    """The first difference between two sets of stacked leaves, by timestep, then in the order of `expected`.

    Args:
        expected, actual: arrays of shape `[timesteps, *leaf shape]`.
        tolerances: by `prefix` + path, as are the paths of the answer.
    """
    return _first(expected, actual, _paths(expected, actual, {}), tolerances, prefix)


def differing_timesteps(
    expected: Array, actual: Array, tolerance: Tolerance = EXACT, off: OffHere | None = None
) -> NDArray[np.bool_]:
    """Which timesteps differ anywhere, as booleans of shape `[timesteps]`.

    Args:
        off: told of floats, as `Off`.

    Raises:
        ValueError: dtypes or shapes differ, or are not those of leaves.
    """
    if _strange(expected) or expected.dtype != actual.dtype or expected.shape != actual.shape:
        forms = [f"{array.dtype} {list(array.shape)}" for array in (expected, actual)]
        raise ValueError(f"timesteps of {forms[0]} and {forms[1]} cannot be compared")
    differing = _differing(np.asarray(expected), np.asarray(actual), tolerance, off)
    return np.any(differing, axis=tuple(range(1, differing.ndim)))


def compare_floats(path: str, expected: Array, actual: Array | None, off: Off) -> None:
    """Tell `off` of one leaf, where it holds floats and has the same dtype and shape on both sides."""
    if (
        expected.dtype.kind == "f"
        and actual is not None
        and (expected.dtype, expected.shape) == (actual.dtype, actual.shape)
    ):
        _differing(np.asarray(expected), np.asarray(actual), EXACT, partial(off, path))


def ulps_apart(expected: Array, actual: Array) -> NDArray[np.uint64]:
    """How many floats of their dtype each pair is apart, element by element: 1 for neighbours, 0 for both zeros.

    Args:
        expected, actual: floats of one dtype and shape. What stands beside a NaN or an infinity means nothing.
    """
    one, other = (_ordinals(array) for array in (expected, actual))
    # The difference of two 64-bit ordinals may need 65 bits: unsigned numbers wrap around to the right distance.
    return np.where(one > other, one, other).astype(np.uint64) - np.where(one > other, other, one).astype(np.uint64)


def _ordinals(array: Array) -> NDArray[np.int64]:
    """The place of each float among all of its dtype, so that neighbours differ by one; both zeros have 0."""
    bits = np.asarray(array, array.dtype.newbyteorder("=")).view(f"i{array.dtype.itemsize}").astype(np.int64)
    magnitude = bits & ((1 << (8 * array.dtype.itemsize - 1)) - 1)
    return np.where(bits < 0, -magnitude, magnitude)


def differing_elements(expected: Array, actual: Array, tolerance: Tolerance = EXACT) -> NDArray[np.bool_] | None:
    """Which elements of two arrays differ, as booleans of their shape; None where their dtypes or shapes do already."""
    if expected.dtype.kind not in "biuf" or expected.dtype != actual.dtype or expected.shape != actual.shape:
        return None
    return _differing(np.ascontiguousarray(expected), np.ascontiguousarray(actual), tolerance)


def value_text(value: Any) -> str:
    """A scalar as the shortest text that no other value of its dtype has: `-0.0`, `nan`, `0.1`, `True`."""
    return str(np.asarray(value)[()])


def _paths(expected: Leaves, actual: Leaves, task_leaves: Mapping[str, Leaf]) -> list[str]:
    declared = [path for path in task_leaves if path != "action" and not path.startswith("action/")]
    return list(dict.fromkeys([*declared, *expected, *sorted(actual)]))


def _layout(trajectory: Trajectory) -> tuple[Any, ...]:
    """Everything about a trajectory's leaves but their values, hashable."""
    timesteps = trajectory.timesteps
    return tuple(
        (path, *_form(array), _strange(array) or len(array) != timesteps)
        for path, array in sorted(trajectory.leaves.items())
    )


def _form(array: Array) -> tuple[str, tuple[int, ...]]:
    return array.dtype.str, array.shape[1:]


def _strange(array: Array) -> bool:
    """Whether this cannot be a stacked leaf: no timesteps, or not numbers."""
    return array.ndim == 0 or array.dtype.kind not in "biuf"


def _first(
    expected: Leaves, actual: Leaves, paths: Iterable[str], tolerances: Mapping[str, Tolerance], prefix: str
) -> Difference | None:
    first: Difference | None = None
    for path in paths:
        limit = None if first is None else first.step
        found = _compare_leaf(prefix + path, expected.get(path), actual.get(path), tolerances, limit)
        if found is not None and (first is None or found.step < first.step):
            first = found
            if first.step == 0:
                break
    return first


def _compare_leaf(
    path: str,
    expected: Array | None,
    actual: Array | None,
    tolerances: Mapping[str, Tolerance],
    limit: int | None,
) -> Difference | None:
    """The first difference inside one leaf; only timesteps before `limit` matter."""
    if actual is None:
        return Difference(0, path, (), "present" if expected is None else _described(expected), ABSENT, "missing")
    if expected is None:
        return Difference(0, path, (), ABSENT, _described(actual), "unexpected")
    if expected.dtype != actual.dtype or expected.dtype.kind not in "biuf":
        return Difference(0, path, (), _named(expected), _named(actual), "dtype")
    if expected.shape[1:] != actual.shape[1:] or expected.ndim != actual.ndim or expected.ndim == 0:
        return Difference(0, path, (), str(list(expected.shape[1:])), str(list(actual.shape[1:])), "shape")
    timesteps = min(len(expected), len(actual))
    shared = timesteps if limit is None else min(timesteps, limit)
    one, other = np.asarray(expected[:shared]), np.asarray(actual[:shared])
    differing = _differing(one, other, tolerances.get(path, EXACT))
    if differing.any():
        step, *index = (int(i) for i in np.unravel_index(int(differing.argmax()), differing.shape))
        here, there = one[(step, *index)], other[(step, *index)]
        return Difference(step, path, tuple(index), value_text(here), value_text(there), "value", _gap(here, there))
    if len(expected) != len(actual):
        return Difference(timesteps, path, (), f"{len(expected)} timesteps", f"{len(actual)} timesteps", "length")
    return None


def _differing(expected: Array, actual: Array, tolerance: Tolerance, off: OffHere | None = None) -> NDArray[np.bool_]:
    """Element by element, for arrays of one dtype and shape."""
    if expected.dtype.kind != "f":
        return np.asarray(expected != actual)
    bits = f"{expected.dtype.byteorder}u{expected.dtype.itemsize}"
    differing = np.asarray(expected.view(bits) != actual.view(bits))
    if not differing.any():
        if off is not None:
            off(differing, expected.reshape(-1)[:0], actual.reshape(-1)[:0])
        return differing
    if off is not None:
        off(differing, expected[differing], actual[differing])
    # What differs in its bits is rare: only that is looked at again, in float64, where no narrower float can overflow.
    with np.errstate(invalid="ignore"):  # of a signalling NaN numpy says that it is invalid
        wanted, given = expected[differing].astype(np.float64), actual[differing].astype(np.float64)
    same = np.isnan(wanted) & np.isnan(given)
    if not tolerance.exact:
        with np.errstate(over="ignore", invalid="ignore"):
            distance = np.abs(given - wanted)
            near = distance <= tolerance.atol + tolerance.rtol * np.abs(wanted)
        if tolerance.ulp:
            near |= ulps_apart(expected[differing], actual[differing]) <= tolerance.ulp
        same |= near & np.isfinite(distance)
    differing[differing] = ~same
    return differing


def _gap(expected: Any, actual: Any) -> str:
    if expected.dtype.kind == "b":
        return ""
    if expected.dtype.kind in "iu":
        return f"off by {int(actual) - int(expected):+d}"
    if not (np.isfinite(expected) and np.isfinite(actual)):
        return ""
    if expected == actual:
        return "the sign of zero"
    ulps = int(ulps_apart(expected, actual))
    apart = f", {ulps} ulp" if ulps <= ULPS_SHOWN else ""
    return f"off by {float(actual) - float(expected):+.3g}{apart}"


def _described(array: Array) -> str:
    return f"{array.dtype.name} {list(array.shape[1:])}"


def _named(array: Array) -> str:
    """A dtype's name, with its byte order where that is not the usual one."""
    return array.dtype.name if array.dtype.isnative else array.dtype.str


def _compare_draws(expected: Trajectory, actual: Trajectory) -> Difference | None:
    """The first timestep in which other draws were consumed; in each timestep as many of each name, and bitwise the same."""
    if expected.draws is None:
        return None
    given = actual.draws if actual.draws is not None else ((),) * len(expected.draws)
    both = zip(expected.draws, given, strict=False)
    for step, wanted, taken in [(step, *timestep) for step, timestep in enumerate(both) if timestep != ((), ())]:
        if (found := _compare_timestep_draws(step, wanted, taken)) is not None:
            return found
    return None


def _compare_timestep_draws(step: int, expected: tuple[Draw, ...], actual: tuple[Draw, ...]) -> Difference | None:
    for name in dict.fromkeys(draw.name for draw in (*expected, *actual)):
        wanted = [np.asarray(draw.value) for draw in expected if draw.name == name]
        taken = [np.asarray(draw.value) for draw in actual if draw.name == name]
        path = f"draw/{name}"
        if len(wanted) != len(taken):
            return Difference(step, path, (), f"{len(wanted)} consumed", f"{len(taken)} consumed", "draws")
        for position, (one, other) in enumerate(zip(wanted, taken, strict=True)):
            if one.dtype != other.dtype or one.shape != other.shape:
                forms = [f"{_named(value)} {list(value.shape)}" for value in (one, other)]
                return Difference(step, path, (position,), forms[0], forms[1], "draws")
            if one.tobytes() != other.tobytes():
                values = [np.array2string(value, threshold=16, separator=", ") for value in (one, other)]
                return Difference(step, path, (position,), values[0], values[1], "draws")
    return None
