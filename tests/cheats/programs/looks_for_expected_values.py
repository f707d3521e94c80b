"""Looks for expected values in its memory, stack, descriptors, environment and files; says what it found."""

import contextlib
import gc
import glob
import os
import sys
from pathlib import Path

from honest import *  # noqa: F403

words = ("expected", "trajectory", "tolerance", "divergence", "verdict")
found = []
frame = sys._getframe()
while frame is not None:
    found += [name for name in frame.f_locals if any(word in name.lower() for word in words)]
    frame = frame.f_back
found += [
    type(each).__name__
    for each in gc.get_objects()
    if type(each).__name__ in ("Trajectory", "Pair", "Verifier", "Task")
]
found += [name for name in os.environ if "LOCKSTEP" in name or any(word in name.lower() for word in words)]
for root in ("/tmp", "/root", "/home", "/var/tmp", "/dev/shm"):
    found += glob.glob(f"{root}/*/task.toml") + glob.glob(f"{root}/*/*/verdict.json")
for number in os.listdir("/proc"):
    with contextlib.suppress(OSError):
        line = Path(f"/proc/{number}/cmdline").read_bytes() if number.isdigit() and int(number) != os.getpid() else b""
        with open(f"/proc/{number}/mem", "rb") as memory:
            found += [f"memory of {line!r}"] if b"pytest" in line and memory else []
if found:
    raise RuntimeError(f"found: {found[:5]}")
