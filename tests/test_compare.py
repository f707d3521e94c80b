"""What counts as the same, and what the first difference is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from harness.compare import (
    Difference,
    compare,
    compare_leaves,
    compare_many,
    differing_timesteps,
    ulps_apart,
    value_text,
)
from harness.model import Array, Case, Draw, Leaf, Trajectory
from harness.task.contract import Tolerance

NEAR = Tolerance(atol=1e-6, rtol=1e-3)
LEAVES = {
    "observation": Leaf("observation", "float32", (2,)),
    "action": Leaf("action", "int64"),
    "reward": Leaf("reward", "float64"),
    "terminated": Leaf("terminated", "bool"),
    "state/level": Leaf("state/level", "uint8"),
}
DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64"]


def trajectory(timesteps: int = 5, draws: Any = None, **changed: Any) -> Trajectory:
    leaves: dict[str, Array] = {
        "observation": np.arange(2 * timesteps, dtype=np.float32).reshape(timesteps, 2),
        "reward": np.linspace(0, 1, timesteps),
        "terminated": np.zeros(timesteps, np.bool_),
        "state/level": np.arange(timesteps, dtype=np.uint8),
    }
    leaves.update({path.replace("__", "/"): array for path, array in changed.items()})
    return Trajectory(Case(0, {"action": np.zeros(timesteps - 1, np.int64)}), leaves, draws)


def without(path: str) -> Trajectory:
    whole = trajectory()
    return replace(whole, leaves={name: array for name, array in whole.leaves.items() if name != path})


def first(expected: Trajectory, actual: Trajectory, **tolerances: Tolerance) -> Difference | None:
    """The first difference, which must not depend on how many trajectories are compared at once."""
    found = compare(expected, actual, LEAVES, tolerances)
    others = [trajectory(timesteps) for timesteps in (1, 3)]
    in_batch = compare_many([others[0], expected, others[1]], [others[0], actual, others[1]], LEAVES, tolerances)
    assert in_batch == [None, found, None]
    return found


def one(expected: Any, actual: Any, tolerance: Tolerance | None = None) -> Difference | None:
    """The difference of single values."""
    tolerances: Mapping[str, Tolerance] = {} if tolerance is None else {"leaf": tolerance}
    return compare_leaves({"leaf": np.asarray([expected])}, {"leaf": np.asarray([actual])}, tolerances)


def test_equal_trajectories_have_no_difference() -> None:
    assert first(trajectory(), trajectory()) is None


@given(st.sampled_from(DTYPES), st.data())
def test_an_array_differs_from_itself_in_nothing(dtype: str, data: st.DataObject) -> None:
    array = data.draw(hnp.arrays(dtype, hnp.array_shapes(max_dims=3, max_side=4)))
    assert compare_leaves({"leaf": array}, {"leaf": array.copy()}, {}) is None
    assert compare_leaves({"leaf": array}, {"leaf": array.copy()}, {"leaf": NEAR}) is None


@pytest.mark.parametrize("tolerances", [{}, {"leaf": NEAR}], ids=["exact", "tolerant"])
def test_a_signalling_nan_is_compared_without_a_warning(tolerances: dict[str, Tolerance]) -> None:
    infinite = np.array([np.inf], np.float32)
    signalling = (infinite.view("u4") ^ 1).view("f4")
    found = compare_leaves({"leaf": infinite}, {"leaf": signalling}, tolerances)
    assert found is not None and found.step == 0
    assert compare_leaves({"leaf": signalling}, {"leaf": signalling.copy()}, tolerances) is None


@given(st.sampled_from(DTYPES), st.booleans(), st.data())
def test_a_changed_bit_is_found_where_it_is(dtype: str, tolerant: bool, data: st.DataObject) -> None:
    array = data.draw(hnp.arrays(dtype, hnp.array_shapes(max_dims=3, max_side=4)))
    changed = array.copy()
    index = tuple(data.draw(st.integers(0, side - 1)) for side in array.shape)
    if dtype == "bool":
        changed[index] = not changed[index]
    else:
        bits = changed.view(f"u{array.itemsize}")
        bits[index] ^= 1 << data.draw(st.integers(0, 8 * array.itemsize - 1))
    if np.isnan(array[index]) and np.isnan(changed[index]):
        return
    found = compare_leaves({"leaf": array}, {"leaf": changed}, {"leaf": NEAR} if tolerant else {})
    if tolerant and found is None:
        assert np.dtype(dtype).kind == "f"
        assert np.isclose(float(changed[index]), float(array[index]), rtol=NEAR.rtol, atol=NEAR.atol)
        return
    assert found == Difference(
        index[0],
        "leaf",
        index[1:],
        value_text(array[index]),
        value_text(changed[index]),
        "value",
        found.gap if found else "",
    )
    assert found.expected != found.actual


@given(st.floats(allow_subnormal=False), st.floats(allow_subnormal=False))
def test_a_tolerance_is_that_of_its_formula(expected: float, actual: float) -> None:
    if np.isfinite(expected) and np.isfinite(actual):
        near = abs(actual - expected) <= NEAR.atol + NEAR.rtol * abs(expected)
    else:
        near = expected == actual or (np.isnan(expected) and np.isnan(actual))
    assert (one(expected, actual, NEAR) is None) == near


@given(st.sampled_from(["float16", "float32", "float64"]), st.data())
def test_units_in_the_last_place_are_floats_of_the_dtype(dtype: str, data: st.DataObject) -> None:
    start = data.draw(hnp.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False))
    steps, towards = data.draw(st.integers(0, 12)), np.dtype(dtype).type(data.draw(st.sampled_from([np.inf, -np.inf])))
    away, taken = start, 0
    with np.errstate(over="ignore", under="ignore"):
        while taken < steps and np.isfinite(further := np.nextafter(away, towards)):
            away, taken = further, taken + 1
    if start == 0 and taken and np.signbit(start) != np.signbit(away):
        start = -start  # between the two zeros there is no float
    assert int(ulps_apart(start, away)) == int(ulps_apart(away, start)) == taken
    assert one(start, away, Tolerance(ulp=12)) is None
    if taken:
        assert one(start, away, Tolerance(ulp=taken - 1)) is not None
        assert one(start, away, Tolerance(ulp=taken)) is None


def test_an_ulp_and_a_distance_forgive_whichever_is_more() -> None:
    both = Tolerance(atol=1e-9, ulp=2)
    assert one(1e6, np.nextafter(1e6, 2e6), both) is None, "one ulp of a large number is more than the distance"
    assert one(0.0, 1e-10, both) is None, "beside zero no ulp is as large as the distance"
    assert one(0.0, 1e-8, both) is not None
    assert str(both) == "1e-09, or 2 ulp"
    assert [str(Tolerance()), str(Tolerance(rtol=0.5))] == ["nothing", "0 + 0.5 |expected|"]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (np.nan, 0.0),
        (0.0, np.nan),
        (np.inf, -np.inf),
        (np.inf, 1.7e308),
        (1.7e308, np.inf),
        (np.float16(np.inf), np.float16(65504)),
    ],
)
@pytest.mark.parametrize("tolerance", [None, NEAR, Tolerance(atol=1e308, rtol=1e308), Tolerance(ulp=1 << 62)])
def test_nan_and_infinities_are_no_wildcards(expected: float, actual: float, tolerance: Tolerance | None) -> None:
    assert one(expected, actual, tolerance) is not None


@pytest.mark.parametrize("huge", [1.7e308, np.float32(3e38), np.float16(60000)])
def test_a_distance_that_overflows_is_not_within_a_tolerance(huge: float) -> None:
    assert one(huge, -huge, NEAR) is not None


def test_nan_equals_nan_whatever_its_payload() -> None:
    payload = np.array([0x7FC00001, 0xFFC00000], np.uint32).view(np.float32)
    assert one(payload[0], payload[1]) is None and one(payload[0], payload[1], NEAR) is None


@pytest.mark.parametrize(
    ("expected", "actual", "texts"),
    [
        (0.0, -0.0, ("0.0", "-0.0", "the sign of zero")),
        (1.0, np.nan, ("1.0", "nan", "")),
        (
            np.float32(0.1),
            np.nextafter(np.float32(0.1), np.float32(1)),
            ("0.1", "0.10000001", "off by +7.45e-09, 1 ulp"),
        ),
        (0.1, np.nextafter(0.1, 0.0), ("0.1", "0.09999999999999999", "off by -1.39e-17, 1 ulp")),
        (np.float64(5e-324), np.float64(-5e-324), ("5e-324", "-5e-324", "off by -9.88e-324, 2 ulp")),
        (1.0, 3.5, ("1.0", "3.5", "off by +2.5")),
        (np.uint8(200), np.uint8(10), ("200", "10", "off by -190")),
        (np.uint64(0), np.uint64(2**64 - 1), ("0", "18446744073709551615", "off by +18446744073709551615")),
        (np.int64(-(2**63)), np.int64(2**63 - 1), (str(-(2**63)), str(2**63 - 1), f"off by +{2**64 - 1}")),
        (True, False, ("True", "False", "")),
    ],
)
def test_the_texts_show_what_differs(expected: Any, actual: Any, texts: tuple[str, str, str]) -> None:
    found = one(expected, actual)
    assert found is not None and (found.expected, found.actual, found.gap) == texts


@given(st.sampled_from(["float16", "float32", "float64"]), st.data())
def test_two_floats_of_different_bits_never_have_the_same_text(dtype: str, data: st.DataObject) -> None:
    floats = hnp.from_dtype(np.dtype(dtype), allow_nan=False)
    values = np.array([data.draw(floats), data.draw(floats)], dtype)
    assert (value_text(values[0]) == value_text(values[1])) == (values[0].tobytes() == values[1].tobytes())


def test_a_tolerance_makes_the_two_zeros_equal_and_leaves_integers_exact() -> None:
    assert one(0.0, -0.0, NEAR) is None
    assert one(np.int64(1000), np.int64(1001), Tolerance(atol=10.0)) is not None
    assert one(True, False, Tolerance(atol=10.0)) is not None


@pytest.mark.parametrize(
    ("actual", "difference"),
    [
        (trajectory(observation=np.zeros((5, 2))), Difference(0, "observation", (), "float32", "float64", "dtype")),
        (
            trajectory(observation=np.zeros((5, 2), ">f4")),
            Difference(0, "observation", (), "float32", ">f4", "dtype"),
        ),
        (
            trajectory(observation=np.zeros((5, 2), object)),
            Difference(0, "observation", (), "float32", "object", "dtype"),
        ),
        (trajectory(observation=np.zeros((5, 3), np.float32)), Difference(0, "observation", (), "[2]", "[3]", "shape")),
        (trajectory(reward=np.zeros((5, 1))), Difference(0, "reward", (), "[]", "[1]", "shape")),
        (without("reward"), Difference(0, "reward", (), "float64 []", "absent", "missing")),
        (trajectory(state__more=np.zeros(5)), Difference(0, "state/more", (), "absent", "float64 []", "unexpected")),
        (trajectory(3), Difference(1, "reward", (), "0.25", "0.5", "value", "off by +0.25")),
    ],
)
def test_form_comes_before_content(actual: Trajectory, difference: Difference) -> None:
    assert first(trajectory(), actual) == difference


def test_nothing_is_broadcast() -> None:
    wide, narrow = {"leaf": np.zeros((3, 4))}, {"leaf": np.zeros((3, 1))}
    assert [d.rule for d in (compare_leaves(wide, narrow, {}), compare_leaves(narrow, wide, {})) if d] == ["shape"] * 2


def test_a_leaf_that_neither_side_has_is_missing_all_the_same() -> None:
    found = first(without("reward"), without("reward"))
    assert found is not None and (found.path, found.rule) == ("reward", "missing")


def test_the_earliest_timestep_wins_and_in_it_the_first_declared_leaf() -> None:
    late = trajectory()
    late.leaves["observation"][3, 1] = 99
    late.leaves["state/level"][2] = 99
    assert first(trajectory(), late) == Difference(2, "state/level", (), "2", "99", "value", "off by +97")
    late.leaves["terminated"][2] = True
    assert first(trajectory(), late) == Difference(2, "terminated", (), "False", "True", "value")


def test_a_trajectory_that_ends_earlier_differs_in_its_length() -> None:
    whole, short = trajectory(reward=np.zeros(5)), trajectory(3, reward=np.zeros(3))
    assert first(whole, short) == Difference(3, "observation", (), "5 timesteps", "3 timesteps", "length")
    assert first(short, whole) == Difference(3, "observation", (), "3 timesteps", "5 timesteps", "length")


def test_a_difference_before_a_shorter_end_comes_first() -> None:
    short = trajectory(3, reward=np.zeros(3), terminated=np.array([False, False, True]))
    assert first(trajectory(reward=np.zeros(5)), short) == Difference(2, "terminated", (), "False", "True", "value")


def tape(*timesteps: tuple[tuple[str, Any], ...]) -> tuple:
    return tuple(tuple(Draw(name, np.asarray(value)) for name, value in timestep) for timestep in timesteps)


DRAWN = tape((("coin", 1), ("die", 6)), (), (("die", 2), ("die", 3)), (), ())


@pytest.mark.parametrize(
    ("given", "difference"),
    [
        (DRAWN, None),
        (tape((("die", 6), ("coin", 1)), (), (("die", 2), ("die", 3)), (), ()), None),
        (
            tape((("coin", 1), ("die", 6)), (), (("die", 2),), (), ()),
            Difference(2, "draw/die", (), "2 consumed", "1 consumed", "draws"),
        ),
        (
            tape((("coin", 1), ("die", 6)), (("coin", 0),), (("die", 2), ("die", 3)), (), ()),
            Difference(1, "draw/coin", (), "0 consumed", "1 consumed", "draws"),
        ),
        (
            tape((("coin", 1), ("die", 6)), (), (("die", 3), ("die", 2)), (), ()),
            Difference(2, "draw/die", (0,), "2", "3", "draws"),
        ),
        (
            tape((("coin", True), ("die", 6)), (), (("die", 2), ("die", 3)), (), ()),
            Difference(0, "draw/coin", (0,), "int64 []", "bool []", "draws"),
        ),
        (None, Difference(0, "draw/coin", (), "1 consumed", "0 consumed", "draws")),
    ],
    ids=["equal", "names in another order", "too few", "too many", "values in another order", "dtype", "not reported"],
)
def test_draws_are_compared_by_timestep_and_name(given: Any, difference: Difference | None) -> None:
    assert first(trajectory(draws=DRAWN), trajectory(draws=given)) == difference


def test_within_a_timestep_the_draws_come_before_the_leaves_that_they_explain() -> None:
    other = trajectory(draws=DRAWN)
    other.leaves["observation"][2] = np.nan
    expected = trajectory(draws=tape((("coin", 1), ("die", 6)), (), (), (), ()))
    assert first(expected, other) == Difference(2, "draw/die", (), "0 consumed", "2 consumed", "draws")
    other.leaves["observation"][1] = np.nan
    found = first(expected, other)
    assert found is not None and found.path == "observation" and found.step == 1


def test_an_environment_that_reports_no_draws_is_not_compared_in_them() -> None:
    assert first(trajectory(), trajectory(draws=DRAWN)) is None


def test_the_draws_of_floats_are_compared_bitwise() -> None:
    timesteps = ((), (), (), ())
    expected, actual = (trajectory(draws=(*tape((("noise", value),)), *timesteps)) for value in (0.0, -0.0))
    assert first(expected, actual) == Difference(0, "draw/noise", (0,), "0.", "-0.", "draws")


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(-1, 11), st.booleans()), max_size=8))
def test_many_are_compared_as_each_is_alone(kinds: list[tuple[int, int, bool]]) -> None:
    expected, actual = [], []
    for timesteps, spoiled, in_draws in kinds:
        expected.append(trajectory(timesteps, draws=((),) * timesteps))
        other = trajectory(timesteps, draws=((),) * timesteps)
        if in_draws and spoiled >= 0:
            other = replace(other, draws=(*other.draws[1:], (Draw("coin", np.array(1)),)) if other.draws else None)
        elif 0 <= spoiled < 2 * timesteps:
            other.leaves["observation"][spoiled // 2, spoiled % 2] = -1
        actual.append(other)
    alone = [compare(one, other, LEAVES, {}) for one, other in zip(expected, actual, strict=True)]
    assert compare_many(expected, actual, LEAVES, {}) == alone


def test_as_many_must_be_given_on_both_sides() -> None:
    with pytest.raises(ValueError, match="1 expected trajectories, 0 actual ones"):
        compare_many([trajectory()], [], LEAVES, {})


def test_stacked_leaves_are_compared_under_a_prefix_of_tolerances() -> None:
    expected, actual = {"x": np.array([1.0, 2.0])}, {"x": np.array([1.0, 2.001])}
    assert compare_leaves(expected, actual, {"probe/move/x": NEAR}, "probe/move/") is None
    assert compare_leaves(expected, actual, {"x": NEAR}, "probe/move/") == Difference(
        1, "probe/move/x", (), "2.0", "2.001", "value", "off by +0.001"
    )
    assert compare_leaves(expected, {}, {}, "p/") == Difference(0, "p/x", (), "float64 []", "absent", "missing")


def test_differing_timesteps_names_every_timestep_that_differs() -> None:
    expected = np.zeros((4, 2, 2), np.float32)
    actual = expected.copy()
    actual[1, 0, 1], actual[3] = -0.0, 1e-7
    assert differing_timesteps(expected, actual).tolist() == [False, True, False, True]
    assert differing_timesteps(expected, actual, NEAR).tolist() == [False] * 4
    assert differing_timesteps(np.zeros(0), np.zeros(0)).tolist() == []
    assert differing_timesteps(np.zeros((3, 0)), np.zeros((3, 0))).tolist() == [False] * 3


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (np.zeros(3), np.zeros(4)),
        (np.zeros(3), np.zeros(3, np.float32)),
        (np.zeros((3, 2)), np.zeros((3, 3))),
        (np.zeros(()), np.zeros(())),
        (np.zeros(3, object), np.zeros(3, object)),
    ],
)
def test_timesteps_of_different_form_are_refused(expected: Array, actual: Array) -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        differing_timesteps(expected, actual)


def test_an_array_that_claims_to_equal_everything_does_not() -> None:
    class Agreeable(np.ndarray):
        def __eq__(self, other: object) -> Any:
            return np.ones(self.shape, np.bool_)

        def __ne__(self, other: object) -> Any:
            return np.zeros(self.shape, np.bool_)

        __hash__ = None  # type: ignore[assignment]

    wrong = np.ones(5, np.uint8).view(Agreeable)
    found = compare(trajectory(), trajectory(state__level=wrong), LEAVES, {})
    assert found is not None and found.path == "state/level"
