"""Freed memory is given back, also where glibc keeps it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
from pathlib import Path
from harness.memory import give_back

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 >> 10

pieces = [bytes([number % 256]) * 8192 for number in range(20_000)]
last = bytearray(8192)  # at the end of the heap, so that nothing before it is returned of itself
del pieces
kept = resident()
give_back()
print(kept, resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what was freed")
def test_what_was_freed_goes_back() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    kept, left = map(int, ran.stdout.split())
    assert kept > 150, "nothing was kept, so this test shows nothing"
    assert left < kept - 140
