"""What chance of a verification is made of."""

from __future__ import annotations

import itertools

import numpy as np

from harness.verify.streams import Streams

COUNT = 20_000
"""So many episodes show a candidate's own draws. Among so many numbers of 31 bits two are the same in one run of eleven."""


def repeats(streams: Streams) -> bool:
    """Whether the stream's plain numbers have a repeated one."""
    return len(np.unique(streams.random("episodes").integers(0, 1 << 31, COUNT))) < COUNT


def test_no_two_seeds_of_a_stream_are_the_same() -> None:
    """A repeated seed gives repeated draws, for which a right sampler would be called wrong."""
    streams = next(each for each in map(Streams, itertools.count()) if repeats(each))
    seeds = streams.seeds("episodes", COUNT)
    assert len(seeds) == len(set(seeds)) == COUNT
    assert min(seeds) >= 0 and max(seeds) < 1 << 31


def test_fewer_seeds_are_the_first_of_more() -> None:
    """How many are asked for changes none of them."""
    assert Streams(7).seeds("episodes", 10) == Streams(7).seeds("episodes", 100)[:10]
    assert Streams(7).seeds("episodes", 10) != Streams(8).seeds("episodes", 10)
    assert Streams(7).seeds("episodes", 0) == []
