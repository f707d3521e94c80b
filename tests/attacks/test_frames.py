"""Answers that are small to send and huge, or endless, to read: the harness reads them outside of every sandbox."""

from __future__ import annotations

import sys
from collections.abc import Callable

import msgpack
import pytest

from harness.errors import BadAnswer
from harness.protocol.channel import Channel
from harness.protocol.worker import ARRAY, MAX_VALUES, ProtocolError, decode, encode
from tests.protocol.conftest import run, sandbox

__all__ = ["run", "sandbox"]

Run = Callable[..., Channel]
SENDS = "import struct, sys; body = {}; sys.stdout.buffer.write(struct.pack('>I', len(body)) + body)"


def array(*content: object) -> bytes:
    return msgpack.packb(msgpack.ExtType(ARRAY, msgpack.packb(list(content)) or b"")) or b""


def test_a_frame_of_empty_lists_is_refused_before_any_of_them_is_made(run: Run) -> None:
    """The attack: a gigabyte of empty lists, of a byte each, which would be 74 GiB of lists in the harness."""
    count = MAX_VALUES + 1
    flood = run(sys.executable, "-I", "-c", SENDS.format(f"b'\\xdd' + struct.pack('>I', {count}) + b'\\x90' * {count}"))
    with pytest.raises(BadAnswer, match="exceeds max_array_len"):
        flood.ask("open", options={})
    assert not flood.alive


def test_lists_within_lists_are_counted_together() -> None:
    """The attack: no list is long, and together they are as many as one likes."""
    nested = encode([[[]] * 30] * 30)
    assert decode(nested, 930) == [[[]] * 30] * 30
    with pytest.raises(ProtocolError, match="more than 929 values"):
        decode(nested, 929)
    maps = encode([{"a": 1, "b": 2}] * 30)
    assert len(decode(maps, 90)) == 30
    with pytest.raises(ProtocolError, match="more than 89 values"):
        decode(maps, 89)


def test_an_array_of_endless_sizes_costs_no_time() -> None:
    """The attack: an array with a million axes, whose size takes hours to multiply: no deadline holds for reading."""
    with pytest.raises(ProtocolError, match="exceeds max_array_len"):
        decode(array("<f8", [1 << 63] * 5_000, b""))


@pytest.mark.parametrize(
    "sizes",
    [[[]], [[[0] * 60] * 60], ["<f8", [], b""], {"a": 1}, "", None],
    ids=["list", "lists", "array", "map", "text", "nil"],
)
def test_what_is_nested_in_the_sizes_of_an_array_is_refused(sizes: object) -> None:
    """The attack: a flood inside an array, where its entries are not counted."""
    with pytest.raises(ProtocolError):
        decode(array("<f8", sizes, b""))
