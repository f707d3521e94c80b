"""Writes a gigabyte to standard error; else it is honest."""

import os

from honest import *  # noqa: F403

for _ in range(1 << 14):
    os.write(2, b"y" * 65536)
