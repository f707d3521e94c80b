"""The wire's codec, in this process: what goes through it, and what it refuses."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import msgpack
import numpy as np
import pytest
from hypothesis import given

from harness.protocol.worker import WIRE_DTYPES, ProtocolError, decode, encode

ARRAYS = st.sampled_from(sorted(WIRE_DTYPES)).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_dims=4, max_side=4))
)


def extension(*content: Any, code: int = 1) -> bytes:
    return msgpack.packb(msgpack.ExtType(code, msgpack.packb(list(content), use_bin_type=True))) or b""


@given(ARRAYS)
def test_an_array_comes_back_bit_by_bit(array: np.ndarray) -> None:
    back = decode(encode({"leaf": array}))["leaf"]
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())


@given(ARRAYS.filter(lambda array: array.ndim > 1))
def test_an_array_that_is_not_contiguous_comes_back_with_its_values(array: np.ndarray) -> None:
    turned = array.T
    assert decode(encode(turned)).tobytes() == np.ascontiguousarray(turned).tobytes()


def test_an_array_of_the_other_byte_order_arrives_as_little_endian() -> None:
    back = decode(encode(np.array([1, 2], ">i4")))
    assert back.dtype.str == "<i4" and back.tolist() == [1, 2]


def test_a_numpy_scalar_arrives_as_an_array_without_dimensions() -> None:
    back = decode(encode(np.float32(0.1)))
    assert back.shape == () and back.dtype == np.float32 and back == np.float32(0.1)


def test_a_decoded_array_cannot_be_written_to() -> None:
    assert not decode(encode(np.zeros(3))).flags.writeable


@pytest.mark.parametrize(
    "value",
    [1 << 64, np.array([None]), np.array(["text"]), np.array([1j]), np.longdouble(1), object(), {1, 2}, "\ud800"],
    ids=["huge integer", "objects", "text", "complex", "long double", "object", "set", "half a character"],
)
def test_what_the_wire_does_not_carry_is_refused(value: Any) -> None:
    with pytest.raises(ProtocolError):
        encode({"value": value})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        encode([1]) + b"more",
        encode(np.zeros(3))[:-1],
        extension("<f4", [2], bytes(8), code=2),
        extension("<f4", [2]),
        extension("<f4", [2], bytes(7)),
        extension("<f4", [2], bytes(12)),
        extension("<f4", [-2], bytes(8)),
        extension("<f4", [2.0], bytes(8)),
        extension("<f4", 2, bytes(8)),
        extension("<f4", [2], "texttext"),
        extension("<f4", [0, 1 << 63], b""),
        extension("<f4", [1 << 40, 1 << 40], bytes(8)),
        extension("|O", [1], bytes(8)),
        extension(["<f4"], [1], bytes(4)),
        extension("|b1", [1], b"\2"),
        b"\x81\x01\x02",
        b"\xa1\xff",
        b"\x91" * 100_000,
    ],
)
def test_bytes_that_are_no_message_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(data)


@given(st.binary(max_size=200))
def test_any_bytes_either_decode_or_are_refused(data: bytes) -> None:
    try:
        decode(data)
    except ProtocolError:
        pass


@given(st.binary(max_size=60), st.sampled_from([-1, 0, 1, 2, 127]))
def test_any_extension_either_decodes_or_is_refused(data: bytes, code: int) -> None:
    try:
        decode(msgpack.packb(msgpack.ExtType(code, data)) if code >= 0 else b"\xc7\x0c\xff" + data[:12].ljust(12))
    except ProtocolError:
        pass
