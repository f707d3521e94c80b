"""How a worker turns an adapter's values into arrays of exactly the declared dtype and shape."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from harness.protocol.worker import Leaf, ProtocolError, random_actions


def leaf(dtype: str, *shape: int, **bounds: Any) -> Leaf:
    return Leaf("leaf", {"dtype": dtype, "shape": list(shape), **bounds})


@given(st.sampled_from(["bool", "int8", "uint64", "float16", "float32", "float64"]), st.data())
def test_arrays_and_scalars_of_the_declared_dtype_are_stacked_bit_by_bit(dtype: str, data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=3))
    stacked = data.draw(hnp.arrays(dtype, (data.draw(st.integers(1, 5)), *shape)))
    result = leaf(dtype, *shape).stack(list(stacked))
    assert (result.dtype, result.shape, result.tobytes()) == (stacked.dtype, stacked.shape, stacked.tobytes())


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("float64", [0.1, 1, np.float64(0.3)]),
        ("float32", [0.0, np.float32(0.1), np.array(0.25, np.float32)]),
        ("int32", [-(1 << 31), np.int32(5), (1 << 31) - 1]),
        ("uint64", [0, (1 << 64) - 1]),
        ("uint8", [0, 255, np.uint8(7)]),
        ("bool", [True, np.False_]),
        ("int64", [1, np.dtype("longlong").type(2)]),
    ],
)
def test_python_numbers_take_the_declared_dtype(dtype: str, values: list[Any]) -> None:
    result = leaf(dtype).stack(values)
    assert result.dtype == dtype and result.tolist() == [np.array(value, dtype).item() for value in values]


def test_a_python_float_is_rounded_to_a_narrower_declared_float() -> None:
    assert leaf("float32").stack([0.1])[0] == np.float32(0.1)


def test_views_that_are_not_contiguous_are_stacked() -> None:
    board = np.arange(12, dtype=np.int16).reshape(3, 4).T
    assert leaf("int16", 4, 3).stack([board, board])[1].tolist() == board.tolist()


def test_what_comes_out_does_not_change_with_what_went_in() -> None:
    timestep = np.zeros(2, np.float32)
    stacked, alone = leaf("float32", 2).stack([timestep]), leaf("float32", 2).one(timestep)
    timestep[:] = 9
    assert stacked.tolist() == [[0, 0]] and alone.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("declared", "values", "complaint"),
    [
        (leaf("float32"), [np.float32(1), np.float64(1)], "dtype float64 in timestep 1"),
        (leaf("float64"), [1.0, np.float32(1)], "dtype float32 in timestep 1"),
        (leaf("float64", 2), [np.zeros(2), np.zeros(2, np.float32)], "dtype float32 in timestep 1"),
        (leaf("int64"), [0, 1.0], "dtype float64 in timestep 1"),
        (leaf("int64"), [True], "dtype bool in timestep 0"),
        (leaf("bool"), [False, 1], "dtype int64 in timestep 1"),
        (leaf("float64"), [None], "dtype object in timestep 0"),
        (leaf("float64"), ["1"], "dtype <U1 in timestep 0"),
        (leaf("float64"), [1j], "dtype complex128 in timestep 0"),
        (leaf("float32", 2), [[1.0, 2.0]], "dtype float64 in timestep 0"),
        (leaf("float32", 2), [np.zeros(2, ">f4")], "dtype >f4 in timestep 0"),
        (leaf("float32", 2), [np.zeros(2, np.float32), np.zeros(3, np.float32)], "shape [3] in timestep 1"),
        # Together these hold as many values as two timesteps of four.
        (leaf("float32", 4), [np.zeros(3, np.float32), np.zeros(5, np.float32)], "shape [3] in timestep 0"),
        (leaf("float32", 2), [np.zeros((1, 2), np.float32)], "shape [1, 2] in timestep 0"),
        (leaf("float32"), [np.zeros(1, np.float32)], "shape [1] in timestep 0"),
        (leaf("float32", 2), [[[1.0], [1.0, 2.0]]], "shape [] in timestep 0"),
        (leaf("uint8"), [0, 256], "a value that uint8 cannot hold"),
        (leaf("uint8"), [-1], "a value that uint8 cannot hold"),
        (leaf("int64"), [1 << 70], "a value that int64 cannot hold"),
        (leaf("float64"), [10**400], "a value that float64 cannot hold"),
    ],
)
def test_any_other_value_is_refused_with_its_timestep(declared: Leaf, values: list[Any], complaint: str) -> None:
    with pytest.raises(ProtocolError, match="leaf leaf has") as refused:
        declared.stack(values)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("declared", "array"),
    [
        (leaf("int64", low=0, high=2), np.array([0, 3])),
        (leaf("int64", low=0, high=2), np.array([-1])),
        (leaf("uint8", low=0, high=2), np.array([257])),
        (leaf("int64"), np.array([0.0])),
        (leaf("bool"), np.array([1])),
        (leaf("float32", low=-1.0, high=1.0), np.array([1.5], np.float32)),
        (leaf("float32", low=-1.0, high=1.0), np.array([np.nan], np.float32)),
        (leaf("float32"), np.array([0.0])),
        (leaf("float32", 2, low=[0, 0], high=[1, 2]), np.array([[1, 1], [2, 1]], np.float32)),
        (leaf("int64", 2), np.array([1])),
        (leaf("int64"), np.array([[1]])),
        (leaf("int64"), [1]),
    ],
)
def test_an_action_of_another_dtype_or_shape_or_outside_its_bounds_is_refused(declared: Leaf, array: Any) -> None:
    with pytest.raises(ProtocolError):
        declared.accept(array)


def test_a_whole_action_of_another_width_is_taken_if_it_keeps_its_value() -> None:
    assert leaf("uint8", low=0, high=2).accept(np.array([0, 2])).dtype == np.uint8


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.25, 1.0]))
def test_random_actions_stay_within_their_bounds(seed: int, sticky: float) -> None:
    rng = np.random.RandomState(seed)
    for declared in (
        leaf("int8", low=-128, high=127),
        leaf("float32", 2, low=[-0.1, 0.0], high=[0.1, 1e-8]),
        leaf("bool"),
    ):
        declared.accept(random_actions(declared, rng, 20, sticky))


def test_random_actions_take_every_value_and_sticky_ones_repeat() -> None:
    die = leaf("int64", low=1, high=6)
    assert set(random_actions(die, np.random.RandomState(0), 300, 0.0)) == set(range(1, 7))
    rolled = random_actions(die, np.random.RandomState(0), 4000, 0.75)
    assert 0.75 < np.mean(rolled[1:] == rolled[:-1]) < 0.85  # 0.75, and one in six of the rest by chance


@pytest.mark.parametrize("bounds", [{}, {"low": 0}, {"low": 0.0, "high": float("inf")}])
def test_an_action_without_finite_bounds_cannot_be_sampled(bounds: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError, match="finite low and high"):
        random_actions(leaf("float32", **bounds), np.random.RandomState(0), 3, 0.0)
