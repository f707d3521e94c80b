"""Writes an answer of its own making to every descriptor, with an id that it guessed."""

import contextlib
import os
import struct

import msgpack
from honest import *  # noqa: F403

frame = msgpack.packb({"id": "0123456789abcdef", "ok": {"protocol": 1}})
for number in range(3, 64):
    with contextlib.suppress(OSError):
        os.write(number, struct.pack(">I", len(frame)) + frame)
