"""Takes memory and writes to all of it."""

from honest import *  # noqa: F403

hoard = bytearray(8 << 30)
for place in range(0, len(hoard), 4096):
    hoard[place] = 1
