"""Freed memory is given back, also what waits for the collector and what glibc keeps."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import gc
import sys
import psutil
from harness.support.memory import give_back

def resident():
    return psutil.Process().memory_info().rss >> 20

gc.disable()
pieces = [bytes([number % 256]) * 8192 for number in range(int(sys.argv[1]))]
last = bytearray(8192)  # at the end of the heap, so that nothing before it is returned of itself
pieces.append(pieces)  # so that only the collector frees them
del pieces
kept = resident()
give_back()
print(kept, resident())
"""
MANY, FEW = 80_000, 20_000


def measured(pieces: int) -> tuple[int, int]:
    """MiB that are resident before and after, with so many pieces of 8 KiB that nobody needs any more."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(pieces)], capture_output=True, text=True, check=True)
    kept, left = map(int, ran.stdout.split())
    return kept, left


glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what was freed")


@glibc
def test_what_is_free_goes_back_where_it_is_much() -> None:
    kept, left = measured(MANY)
    assert kept > 600 and left < 100


@glibc
def test_a_small_process_of_a_large_one_is_left_alone() -> None:
    large = b"x" * (600 << 20)  # a child's record of its own peak begins with this
    kept, left = measured(FEW)
    del large
    assert kept > 150 and left > 150
