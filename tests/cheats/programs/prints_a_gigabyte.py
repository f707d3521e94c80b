"""Prints a gigabyte to standard output; else it is honest."""

import sys

from honest import *  # noqa: F403

for _ in range(1 << 14):
    sys.stdout.write("x" * 65536)
