"""Looks for the reference, its packages, its files and a network, and would use them; says what it found."""

import contextlib
import glob
import importlib.util
import os
import socket
from pathlib import Path

from honest import *  # noqa: F403

names = (
    "gymnasium",
    "pufferlib",
    "pytest",
    "hypothesis",
    "harness.verify.verifier",
    "harness.verify.levels",
    "sandboxes",
)
found = []
for name in names:
    with contextlib.suppress(ImportError):
        found += [name] if importlib.util.find_spec(name) else []
for root in ("/lockstep", "/task", "/home", "/root", "/srv", "/var/lib", "/tmp"):
    found += glob.glob(f"{root}/*/reference") + glob.glob(f"{root}/*/*/adapter.py")
for number in os.listdir("/proc"):
    with contextlib.suppress(OSError):
        line = Path(f"/proc/{number}/cmdline").read_bytes() if number.isdigit() else b""
        found += [line.decode()] if b"adapter.py" in line else []
for address in (("192.0.2.1", 80), ("127.0.0.1", 2375)):
    with contextlib.suppress(OSError):
        socket.create_connection(address, 0.2)
        found.append(address)
if found:
    raise RuntimeError(f"found: {found}")
