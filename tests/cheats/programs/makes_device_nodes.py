"""Makes the device of the machine's memory and reads from it; says so where it could."""

import contextlib
import os
import stat

from honest import *  # noqa: F403

with contextlib.suppress(OSError):
    os.mknod("/tmp/memory", 0o600 | stat.S_IFCHR, os.makedev(1, 1))
    with open("/tmp/memory", "rb") as file:
        file.read(1)
    raise RuntimeError("found: /dev/mem")
