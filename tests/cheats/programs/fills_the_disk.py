"""Writes files until it can write no more; else it is honest."""

import contextlib

from honest import *  # noqa: F403

with contextlib.suppress(OSError), open("/tmp/full", "wb") as file:
    for _ in range(3 << 10):
        file.write(bytes(1 << 20))
